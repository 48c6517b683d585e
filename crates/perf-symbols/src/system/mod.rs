//! The files of `/proc` and `/sys`: no other room reads them.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

#[cfg(feature = "names")]
mod process;

/// The root below which `/proc` and `/sys` are found.
#[derive(Clone, Debug)]
pub(crate) struct System {
    root: PathBuf,
}

impl System {
    /// Returns the running system.
    pub(crate) fn new() -> Self {
        Self::at("/")
    }

    /// Returns a system whose `/proc` and `/sys` are below `root`.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the path of a file of a process, such as `root` or `exe`.
    pub(crate) fn of_process(&self, pid: u32, name: impl AsRef<Path>) -> PathBuf {
        self.root.join("proc").join(pid.to_string()).join(name)
    }

    /// Returns the kernel's list of its symbols.
    #[cfg(feature = "names")]
    pub(crate) fn kallsyms(&self) -> PathBuf {
        self.root.join("proc/kallsyms")
    }

    /// Returns the sysctl `kernel.kptr_restrict`.
    #[cfg(feature = "names")]
    pub(crate) fn kptr_restrict(&self) -> Option<u32> {
        fs::read_to_string(self.root.join("proc/sys/kernel/kptr_restrict")).ok()?.trim().parse().ok()
    }

    /// Returns the ELF notes of the kernel.
    pub(crate) fn kernel_notes(&self) -> io::Result<Vec<u8>> {
        fs::read(self.root.join("sys/kernel/notes"))
    }

    /// Returns the code of the vdso of this process, if it has this length.
    pub(crate) fn own_vdso(&self, len: u64) -> Option<Vec<u8>> {
        let own = self.root.join("proc/self");
        let maps = fs::read_to_string(own.join("maps")).ok()?;
        let (range, _) = maps.lines().find(|line| line.ends_with("[vdso]"))?.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        if u64::from_str_radix(end, 16).ok()?.checked_sub(start)? != len {
            return None;
        }
        let mut bytes = vec![0; len as usize];
        File::open(own.join("mem")).ok()?.read_exact_at(&mut bytes, start).ok()?;
        Some(bytes)
    }
}

/// Returns the link that leads to an open file of this process, whatever has its path by now.
pub(crate) fn own_descriptor(file: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vdso_has_the_length_that_was_asked_for() {
        let root = std::env::temp_dir().join(format!("perf-symbols-{}-vdso", std::process::id()));
        let own = root.join("proc/self");
        fs::create_dir_all(&own).expect("a folder");
        let maps = "1000-2000 r--p 0 0:0 1 /\n4-7 r-xp 00000000 00:00 0 [vdso]\n";
        fs::write(own.join("maps"), maps).expect("a file");
        fs::write(own.join("mem"), "0123code").expect("a file");
        let found = [2, 3].map(|len| System::at(&root).own_vdso(len));
        let _ = fs::remove_dir_all(&root);
        assert_eq!(found, [None, Some(b"cod".to_vec())]);
    }
}
