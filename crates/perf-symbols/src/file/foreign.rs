//! Opens files that other users may have written: programs, debug files, and the lists of runtimes.
//!
//! Such a path can lead to a pipe, where open(2) blocks until there is a writer; to a device, where
//! opening has effects; or to a file that the kernel generates when it is read, such as the pipe of
//! tracefs. All of these are refused.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::system::own_descriptor;

/// The treatment of a symbolic link in the last component of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastLink {
    Follow,
    /// For names that any user can create, such as in `/tmp`.
    #[cfg_attr(not(feature = "names"), allow(dead_code, reason = "only the files of runtimes have such"))]
    Refuse,
}

/// Opens a regular file.
pub(crate) fn open(path: &Path, last: LastLink) -> io::Result<(File, Metadata)> {
    let open = |flags| rustix::fs::open(path, flags | last.flags(), Mode::empty());
    open_place(open(PLACE)?, || Ok(open(WITHOUT_WAITING)?))
}

/// Opens a regular file at a path in the root of a process, such as `/proc/1/root`. As for the
/// process itself, symbolic links cannot leave that root.
pub(crate) fn open_in_root(root: &Path, path: &Path, last: LastLink) -> io::Result<(File, Metadata)> {
    let root = rustix::fs::open(root, PLACE | OFlags::DIRECTORY, Mode::empty())?;
    let open = |flags| {
        let flags = flags | last.flags();
        match rustix::fs::openat2(&root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT) {
            // Linux before 5.6, or a seccomp filter that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(&root, path, flags, Mode::empty()),
            other => other,
        }
    };
    open_place(open(PLACE)?, || Ok(open(WITHOUT_WAITING)?))
}

/// Resolves a path without opening the file: this cannot block on a pipe or touch a device.
const PLACE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
/// Does not block if a pipe or a terminal has replaced the file.
const WITHOUT_WAITING: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

impl LastLink {
    fn flags(self) -> OFlags {
        match self {
            Self::Follow => OFlags::empty(),
            Self::Refuse => OFlags::NOFOLLOW,
        }
    }
}

/// Opens the regular file that an `O_PATH` descriptor refers to. `again` opens the path, for
/// systems without `/proc`.
fn open_place(place: OwnedFd, again: impl FnOnce() -> io::Result<OwnedFd>) -> io::Result<(File, Metadata)> {
    let place = File::from(place);
    let expected = regular(&place)?;
    // The link leads to the file that was checked, even if its path was replaced since.
    match File::open(own_descriptor(&place)) {
        Ok(file) => Ok((file, expected)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = File::from(again()?);
            let found = regular(&file)?;
            Ok((file, found))
        }
        Err(error) => Err(error),
    }
}

/// File systems that generate files when they are read: a read can block, or consume what another
/// program should read. Source: `linux/magic.h`.
const MADE_BY_THE_KERNEL: [u32; 11] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0xcafe_4a11, // bpf
    0x6265_6570, // configfs
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
];

/// Returns the metadata of an open file if reading it has no effects.
fn regular(file: &File) -> io::Result<Metadata> {
    let metadata = file.metadata()?;
    #[allow(trivial_numeric_casts, clippy::cast_sign_loss, clippy::unnecessary_cast)] // the type varies
    let system = rustix::fs::fstatfs(file)?.f_type as u32;
    if metadata.is_file() && !MADE_BY_THE_KERNEL.contains(&system) {
        Ok(metadata)
    } else {
        Err(NotAFile.into())
    }
}

/// The path leads to a file that is refused.
#[derive(Debug)]
struct NotAFile;

impl std::fmt::Display for NotAFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "expected a regular file on a disk, found a folder, device, pipe, socket or file of the kernel",
        )
    }
}

impl std::error::Error for NotAFile {}

impl From<NotAFile> for io::Error {
    fn from(error: NotAFile) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    /// A folder that is removed on drop.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("perf-symbols-foreign-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).expect("a folder");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn kind(result: io::Result<(File, Metadata)>) -> Option<io::ErrorKind> {
        result.err().map(|error| error.kind())
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = Folder::new("regular");
        let at = |name: &str| folder.0.join(name);
        std::fs::write(at("file"), "text").expect("a file");
        symlink("file", at("link")).expect("a link");
        symlink("/dev/zero", at("device")).expect("a link");
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
        for name in ["file", "link"] {
            assert_eq!(open(&at(name), LastLink::Follow).expect(name).1.len(), 4, "{name}");
        }
        for path in
            [at("pipe"), at("device"), folder.0.clone(), "/proc/self/status".into(), "/dev/null".into()]
        {
            assert_eq!(
                kind(open(&path, LastLink::Follow)),
                Some(io::ErrorKind::InvalidInput),
                "{}",
                path.display()
            );
        }
        assert_eq!(kind(open(&at("missing"), LastLink::Follow)), Some(io::ErrorKind::NotFound));
        assert!(open(&at("file"), LastLink::Refuse).is_ok());
        // The descriptor refers to the link itself.
        assert_eq!(kind(open(&at("link"), LastLink::Refuse)), Some(io::ErrorKind::InvalidInput));
    }

    #[test]
    fn links_do_not_lead_out_of_the_root_of_a_process() {
        let folder = Folder::new("root");
        std::fs::create_dir_all(folder.0.join("etc")).expect("a folder");
        std::fs::write(folder.0.join("etc/passwd"), "inside").expect("a file");
        symlink("/etc/passwd", folder.0.join("absolute")).expect("a link");
        symlink("../../../../../../etc/passwd", folder.0.join("up")).expect("a link");
        for name in ["absolute", "up", "etc/passwd"] {
            let (file, metadata) = open_in_root(&folder.0, Path::new(name), LastLink::Follow).expect(name);
            assert_eq!((metadata.len(), file.metadata().expect("it").len()), (6, 6), "{name}");
        }
        let refused = |name, last| kind(open_in_root(&folder.0, Path::new(name), last));
        assert_eq!(refused("etc", LastLink::Follow), Some(io::ErrorKind::InvalidInput));
        assert_eq!(refused("up", LastLink::Refuse), Some(io::ErrorKind::InvalidInput));
        assert_eq!(refused("etc/passwd", LastLink::Refuse), None);
    }
}
