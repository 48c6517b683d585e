use std::fs;
use std::io;

use super::{Mapping, Synthesizer, build_id, host, maps};

/// `PROT_READ` and `PROT_EXEC`.
const READ: u32 = 1;
const EXECUTE: u32 = 4;

impl Synthesizer {
    /// Appends the records of all processes, and returns their number. Those that exit meanwhile are
    /// left out.
    ///
    /// # Errors
    ///
    /// `/proc` cannot be listed.
    pub fn processes(&mut self) -> io::Result<usize> {
        let mut found = 0;
        for entry in fs::read_dir(self.host.path("/proc"))? {
            let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            found += usize::from(self.process(pid));
        }
        Ok(found)
    }

    /// Appends the records of one process: `FORK`, `NAMESPACES` and `COMM` of each thread, `MMAP2` of each mapping.
    /// Returns `false`, without a record, if there is no such process.
    pub fn process(&mut self, pid: u32) -> bool {
        let start = self.records.len();
        let is_there = self.try_process(pid).is_some();
        if !is_there {
            self.records.truncate(start);
        }
        is_there
    }

    fn try_process(&mut self, pid: u32) -> Option<()> {
        let parent = self.parent(pid)?;
        self.records.fork(pid, parent, pid, parent);
        self.namespaces(pid, pid);
        self.records.comm(pid, pid, &self.name(pid, pid)?);
        self.mappings(pid);
        for tid in self.host.numbered(&format!("/proc/{pid}/task"), "") {
            // A thread that exited meanwhile has no name.
            if let Some(name) = self.name(pid, tid).filter(|_| tid != pid) {
                self.records.fork(pid, pid, tid, pid);
                self.namespaces(pid, tid);
                self.records.comm(pid, tid, &name);
            }
        }
        Some(())
    }

    fn parent(&self, pid: u32) -> Option<u32> {
        let status = self.host.read(format!("/proc/{pid}/status")).ok()?;
        let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"PPid:"))?;
        std::str::from_utf8(line).ok()?.trim().parse().ok()
    }

    fn name(&self, pid: u32, tid: u32) -> Option<Vec<u8>> {
        let name = self.host.read(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
        Some(name.strip_suffix(b"\n").unwrap_or(&name).to_vec())
    }

    /// Appends the mappings, of which kernel threads and processes of other users have none.
    fn mappings(&mut self, pid: u32) {
        let text = self.host.read(format!("/proc/{pid}/maps")).unwrap_or_default();
        for mapping in text.split(|byte| *byte == b'\n').filter_map(maps::parse) {
            let is_code = mapping.prot & EXECUTE != 0;
            if is_code || (self.with_data && mapping.prot & READ != 0) {
                let build_id = self.build_id(pid, &mapping);
                let build_id = build_id.as_deref().filter(|_| self.has_build_ids);
                self.records.mmap2(&Mapping { pid, tid: pid, build_id, ..mapping });
            }
        }
    }

    /// Returns the build id of a mapped file, read once for each file, as the process sees it.
    fn build_id(&mut self, pid: u32, mapping: &Mapping<'_>) -> Option<Vec<u8>> {
        if !mapping.path.starts_with(b"/") || mapping.inode == 0 {
            return None;
        }
        let (major, minor) = mapping.device;
        let id = self.files.entry((major, minor, mapping.inode)).or_insert_with(|| {
            let root = self.host.path(format!("/proc/{pid}/root"));
            build_id::of_file(&root.join(host::path_of(mapping.path.get(1..).unwrap_or_default())))
        });
        if let Some(id) = id {
            self.build_ids.entry(mapping.path.to_vec()).or_insert_with(|| (id.clone(), false));
        }
        id.clone()
    }
}
