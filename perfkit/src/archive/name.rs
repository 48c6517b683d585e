//! Names in the archive: the form of the perf tool's build-id cache.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use perf_symbols::{BuildId, ObjectKind, RecordedObject};

/// Folder of the links by build id.
const LINKS: &str = ".build-id";
/// Folder of objects whose recorded path cannot be a path in an archive.
const RENAMED: &[u8] = b"[object]";
/// Maximum length in bytes of a recorded path that becomes folders. The path of the unpacked
/// archive precedes it, and Linux opens paths of up to 4096 bytes.
const MAX_PATH: usize = 1024;
/// Bytes of a name in a folder: the limit of all usual file systems.
const MAX_NAME: usize = 255;

/// Returns the link by which the cache finds an object: `.build-id/ab/cdef...`. `None` if the id
/// has one byte only.
pub(super) fn link(id: BuildId) -> Option<PathBuf> {
    let text = id.to_string();
    let (first, rest) = text.split_at_checked(2).filter(|(_, rest)| !rest.is_empty())?;
    Some([LINKS, first, rest].iter().collect())
}

/// Returns the target of a link, which is in the folder two below the root of the archive.
pub(super) fn target(folder: &Path) -> PathBuf {
    Path::new("../..").join(folder)
}

/// Returns the folder of the files of an object: its path, and its build id as the last part.
///
/// The path is from the recording, so it is used only if it leads down from the root of the archive
/// and not to the links, and has no control characters. The links find an object in any folder.
pub(super) fn folder(object: &RecordedObject, id: BuildId) -> PathBuf {
    let path = object.object().path();
    let name = match object.object().kind() {
        ObjectKind::Vdso => path,
        _ if is_kernel_itself(object) => KERNEL,
        _ => path.strip_prefix(b"/").filter(|path| is_usable(path)).unwrap_or(RENAMED),
    };
    Path::new(OsStr::from_bytes(name)).join(id.to_string())
}

/// The name that the perf tool gives to the kernel.
const KERNEL: &[u8] = b"[kernel.kallsyms]";

/// Returns whether an object is the kernel, and not a module. Its record names the first symbol,
/// too.
pub(super) fn is_kernel_itself(object: &RecordedObject) -> bool {
    object.is_kernel && object.object().path().starts_with(KERNEL)
}

fn is_usable(path: &[u8]) -> bool {
    let is_name = |name: &[u8]| {
        !matches!(name, b"" | b"." | b"..")
            && name.len() <= MAX_NAME
            && !name.iter().any(u8::is_ascii_control)
    };
    let mut names = path.split(|&byte| byte == b'/').peekable();
    path.len() <= MAX_PATH && names.peek() != Some(&LINKS.as_bytes()) && names.all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_that_leads_elsewhere_is_not_used() {
        for path in ["bin/a", "a b/c", "...", "..a/b", "opt/\u{fc}/a", "[x]", "lib/.build-id/ab"] {
            assert!(is_usable(path.as_bytes()), "{path}");
        }
        let long = "a/".repeat(MAX_PATH);
        let name = "a".repeat(MAX_NAME + 1);
        for path in [
            "",
            "/",
            "/etc",
            "a//b",
            "a/",
            "..",
            "../a",
            "a/../../b",
            "a/..",
            "./a",
            "a/./b",
            "a\nb",
            "a\u{1b}[2J",
            "a\0b",
            "\u{7f}",
            ".build-id",
            ".build-id/ab/cd",
            &long,
            &name,
        ] {
            assert!(!is_usable(path.as_bytes()), "{path:?}");
        }
        assert!(is_usable(&[0xff, 0xfe]), "paths need not be UTF-8");
    }

    #[test]
    fn link_has_the_first_byte_as_folder() {
        let id = |bytes: &[u8]| BuildId::new(bytes).unwrap();
        assert_eq!(link(id(&[0xab, 0xcd, 0xef])), Some(PathBuf::from(".build-id/ab/cdef")));
        assert_eq!(link(id(&[0xab])), None);
        assert_eq!(target(Path::new("bin/a/abcd")), Path::new("../../bin/a/abcd"));
    }
}
