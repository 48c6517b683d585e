//! Paths, values and errors of files in a made-up tree.

use std::fs;
use std::os::unix::fs::symlink;

use super::tree::Tree;
use super::*;

fn message(found: Result<String, FileError>) -> String {
    found.unwrap_err().to_string()
}

#[test]
fn path_is_below_the_root() {
    assert_eq!(System::at("/tree").path("/sys/x"), Path::new("/tree/sys/x"));
    assert_eq!(System::at("/tree").path("sys/x"), Path::new("/tree/sys/x"));
    assert_eq!(System::default().path("/sys/x"), Path::new("/sys/x"));
}

#[test]
fn file_that_cannot_be_used_is_named() {
    let tree = Tree::new();
    let read = |name: &str| tree.system().read(name);
    let missing = read("/sys/missing").unwrap_err();
    assert!(missing.is_not_found() && missing.io_error().is_some());
    assert!(missing.to_string().contains("/sys/missing: No such file"), "{missing}");

    let path = tree.file("/sys/binary", b"ab\xff\0");
    let expected = format!("{}: expected UTF-8 text, found a byte at offset 2 that is not", path.display());
    assert_eq!(message(read("/sys/binary")), expected);

    let path = tree.file("/sys/huge", vec![b'1'; (4 << 20) + 1]);
    let expected = format!("{}: expected at most 4194304 bytes, found more", path.display());
    assert_eq!(message(read("/sys/huge")), expected);
    tree.file("/sys/large", vec![b'1'; 4 << 20]);
    assert_eq!(read("/sys/large").unwrap().len(), 4 << 20);

    // Its first page is not mapped.
    symlink("/proc/self/mem", tree.system().path("/sys/unreadable")).unwrap();
    let unreadable = read("/sys/unreadable").unwrap_err();
    assert!(unreadable.io_error().is_some() && !unreadable.is_not_found());
    assert!(unreadable.to_string().contains("/sys/unreadable: "), "{unreadable}");

    fs::create_dir_all(tree.system().path("/sys/directory")).unwrap();
    assert!(message(read("/sys/directory")).contains("/sys/directory: Is a directory"));
}

#[test]
fn numbers_are_decimal() {
    let tree = Tree::new();
    let number = |content: &str| {
        tree.file("/sys/type", content);
        tree.system().number("/sys/type", "the PMU's number")
    };
    assert_eq!(number("4294967295\n").unwrap(), u32::MAX);
    for content in ["", "\n", "+1", "0x1", "4294967296", "1 2"] {
        let error = number(content).unwrap_err();
        assert!(error.to_string().contains("/sys/type: expected the PMU's number, found "), "{error}");
    }
}

#[test]
fn names_of_a_directory_are_sorted() {
    let tree = Tree::new();
    for name in ["b", "a", "c"] {
        tree.file(format!("/sys/d/{name}"), "");
    }
    assert_eq!(tree.system().list("/sys/d").unwrap(), ["a", "b", "c"]);
    assert!(tree.system().list("/sys/e").unwrap_err().is_not_found());
    assert!(tree.system().list("/sys/d/a").unwrap_err().to_string().contains("/sys/d/a: Not a directory"));
}

#[cfg(unix)]
#[test]
fn name_that_is_not_text_is_an_error() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let tree = Tree::new();
    tree.file(Path::new("/sys/d").join(OsStr::from_bytes(b"x\xff")), "");
    let error = tree.system().list("/sys/d").unwrap_err();
    assert!(error.to_string().contains(r"/sys/d: expected UTF-8 names, found `x\xff`"), "{error}");
}

#[test]
fn only_missing_files_are_optional() {
    let tree = Tree::new();
    tree.file("/sys/binary", b"\xff");
    assert_eq!(System::optional(tree.system().read("/sys/missing")).unwrap(), None);
    assert!(System::optional(tree.system().read("/sys/binary")).is_err());
}
