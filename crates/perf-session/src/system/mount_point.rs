//! The mounted file systems.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::{FileError, Task};

/// A mounted file system: a line of `proc_pid_mounts(5)`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MountPoint {
    /// The directory, as the task sees it.
    pub path: PathBuf,
    /// Type of the file system, such as `cgroup2`.
    pub kind: String,
    /// Options with commas between them, such as `rw,perf_event`.
    pub options: String,
}

impl MountPoint {
    /// Parses `device path type options ..`. `None` if it is malformed.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ').skip(1);
        let path = PathBuf::from(OsString::from_vec(unescape(fields.next()?)));
        let mut text = || fields.next().map(|field| String::from_utf8_lossy(field).into_owned());
        Some(Self { path, kind: text()?, options: text()? })
    }

    /// Returns whether this is one of the options.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.split(',').any(|option| option == name)
    }
}

impl Task<'_> {
    /// Returns the file systems in the mount namespace of the task, in the order of its list.
    ///
    /// # Errors
    ///
    /// The file `mounts` of the task cannot be read.
    pub fn mounts(&self) -> Result<Vec<MountPoint>, FileError> {
        let mounts = self.read("mounts")?;
        Ok(mounts.split(|byte| *byte == b'\n').filter_map(MountPoint::parse).collect())
    }
}

/// Replaces the octal escapes that the kernel writes for blanks, newlines, `#` and backslashes, such as `\040`.
fn unescape(mut text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    while let Some((&byte, rest)) = text.split_first() {
        let code = rest.get(..3).filter(|_| byte == b'\\').and_then(octal);
        plain.push(code.unwrap_or(byte));
        text = rest.get(if code.is_some() { 3 } else { 0 }..).unwrap_or_default();
    }
    plain
}

fn octal(digits: &[u8]) -> Option<u8> {
    let append = |sum: u32, digit: &u8| Some(sum << 3 | char::from(*digit).to_digit(8)?);
    digits.iter().try_fold(0, append)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tree::Tree;

    #[test]
    fn mount_points_with_blanks_are_decoded() {
        let tree = Tree::new();
        tree.file("/proc/8/mounts", b"none /run/a\\040b bpf rw,mode=700 0 0\nshort\n\nx /\xff t o 0 0\n");
        let mounts = tree.system().task(8).mounts().unwrap();
        let [mount, other] = &mounts[..] else { panic!("{mounts:?}") };
        assert_eq!((mount.path.to_str(), &*mount.kind), (Some("/run/a b"), "bpf"));
        assert!(mount.has_option("rw") && !mount.has_option("mode"));
        assert_eq!(other.path.as_os_str().as_encoded_bytes(), b"/\xff");
    }

    #[test]
    fn malformed_escapes_are_kept() {
        for text in ["a\\", "a\\04", "a\\9zz", "a\\777b", "a\\+40", "\\é00"] {
            assert_eq!(unescape(text.as_bytes()), text.as_bytes());
        }
        assert_eq!(unescape(b"\\134\\011x"), b"\\\tx");
    }
}
