//! Records of processes that run already.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use perf_session::ring::Errno;
use perf_session::ring::abi::{CpuMode, NamespaceLink};
use perf_session::{FileError, Mapping};
use perf_symbols::{BuildId, ElfError, ObjectFile};

use super::Synthesizer;

/// `PROT_READ`.
const READ: u32 = 1;

/// Names of the files of the namespaces, by
/// [`NamespaceIndex`](perf_session::ring::abi::NamespaceIndex).
const NAMESPACES: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

impl Synthesizer {
    /// Appends the records of all processes, and returns their number. Processes that exit
    /// meanwhile are left out. [`unread`](Self::unread) has the files that cannot be read.
    ///
    /// # Errors
    ///
    /// [`FileError`] if `/proc` cannot be read.
    pub fn processes(&mut self) -> Result<usize, FileError> {
        let mut found = 0;
        for pid in self.system.processes()? {
            found += usize::from(self.process(pid));
        }
        Ok(found)
    }

    /// Appends the records of one process: `FORK`, `NAMESPACES` and `COMM` of each thread, `MMAP2`
    /// of each mapping. Returns `false`, without a record, if the process does not exist.
    pub fn process(&mut self, pid: u32) -> bool {
        let start = self.records.len();
        let is_there = self.try_process(pid).is_some();
        if !is_there {
            self.records.truncate(start);
        }
        is_there
    }

    fn try_process(&mut self, pid: u32) -> Option<()> {
        let status = self.system.task(pid).status();
        let parent = self.known(status)?.parent()?;
        self.records.fork(pid, parent, pid, parent);
        self.namespaces(pid, pid);
        let name = self.name(pid, pid)?;
        self.records.comm(pid, pid, &name);
        self.mappings(pid);
        let threads = self.system.task(pid).threads();
        for tid in self.known(threads).unwrap_or_default() {
            // A thread that exited meanwhile has no name.
            if let Some(name) = self.name(pid, tid).filter(|_| tid != pid) {
                self.records.fork(pid, pid, tid, pid);
                self.namespaces(pid, tid);
                self.records.comm(pid, tid, &name);
            }
        }
        Some(())
    }

    fn name(&mut self, pid: u32, tid: u32) -> Option<Vec<u8>> {
        let name = self.system.task(pid).thread(tid).comm();
        self.known(name)
    }

    /// Returns what was read of a task; `None` if the task has exited, for a file that this user
    /// must not read, and for one that cannot be read, which is counted.
    fn known<T>(&mut self, read: Result<T, FileError>) -> Option<T> {
        let error = match read {
            Ok(found) => return Some(found),
            Err(error) => error,
        };
        let has_exited = error.is_not_found() || error.raw_os_error() == Some(Errno::ESRCH.raw_os_error());
        if !has_exited && !error.is_permission_denied() {
            match &mut self.unread {
                Some((files, _)) => *files += 1,
                None => self.unread = Some((1, error)),
            }
        }
        None
    }

    /// Returns the number of files of existing tasks that this user may read and that could not be
    /// read, for example for want of descriptors, and the first error; `None` if all were read.
    #[must_use]
    pub fn unread(&self) -> Option<(usize, &FileError)> {
        self.unread.as_ref().map(|(files, error)| (*files, error))
    }

    /// Appends the namespaces of a thread, if the attr requests them. As in the perf tool, a
    /// namespace that the kernel lacks, or whose file this user must not read, is 0.
    fn namespaces(&mut self, pid: u32, tid: u32) {
        if !self.with_namespaces {
            return;
        }
        let task = self.system.task(pid).thread(tid);
        let links = NAMESPACES.map(|name| {
            // The major number of the namespace file system is 0, so the kernel's encoding of the
            // device and the system call's encoding agree.
            task.namespace(name).map_or_else(
                |_| NamespaceLink::default(),
                |file| NamespaceLink { dev: file.dev(), inode: file.ino() },
            )
        });
        self.records.namespaces(pid, tid, &links);
    }

    /// Appends the mappings. Kernel threads have no mappings, and this user may not see the
    /// mappings of another user's process.
    fn mappings(&mut self, pid: u32) {
        let mappings = self.system.task(pid).mappings();
        for mapping in self.known(mappings).unwrap_or_default() {
            if mapping.is_executable() || (self.with_data && mapping.protection & READ != 0) {
                let build_id = self.build_id(pid, &mapping).filter(|_| self.has_build_ids);
                self.records.mmap2(pid, &mapping, build_id.as_ref().map(BuildId::as_bytes));
            }
        }
    }

    /// Returns the build id of a mapped file as the process sees it. Each file is read once.
    fn build_id(&mut self, pid: u32, mapping: &Mapping) -> Option<BuildId> {
        let path = mapping.path.strip_prefix("/").ok().filter(|_| mapping.inode != 0)?;
        let (major, minor) = mapping.device;
        let file = (major, minor, mapping.inode);
        let id = if let Some(id) = self.files.get(&file) {
            *id
        } else {
            // Resolved through the root of the process, because a container may have another file
            // at the same path.
            let id = self.read_build_id(self.system.task(pid).path("root").join(path));
            self.files.insert(file, id);
            id
        };
        if let Some(id) = id {
            let path = mapping.path.as_os_str().as_bytes();
            self.build_ids.entry(path.to_vec()).or_insert((id, CpuMode::USER));
        }
        id
    }

    /// Returns the build id of a file; `None` if it has none or is not an ELF file, and if it
    /// cannot be read, which is counted.
    fn read_build_id(&mut self, path: PathBuf) -> Option<BuildId> {
        match ObjectFile::open(&path) {
            Ok(file) => file.build_id(),
            Err(ElfError::Io { errno: Some(errno), .. }) => {
                let error = io::Error::from_raw_os_error(errno);
                self.known(Err(FileError::io(path, error)))
            }
            Err(_) => None,
        }
    }
}
