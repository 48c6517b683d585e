//! A mapping of a file, or of memory without a file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::map::Ranged;

/// A build id: a hash of a program or library that its linker wrote, 1 to 20 bytes.
///
/// Some linkers write longer ids. Recordings keep the first 20 bytes, and so does this type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BuildId {
    len: u8,
    bytes: [u8; 20],
}

impl BuildId {
    /// Creates an id from the first 20 bytes. Returns `None` for no bytes, and for zeros, which the
    /// kernel writes if it could not read a build id.
    pub fn new(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; 20];
        let id = id.get(..20).unwrap_or(id);
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        if bytes == [0; 20] {
            return None;
        }
        Some(Self { len: u8::try_from(id.len()).ok()?, bytes })
    }

    /// Returns the 1 to 20 bytes of the id.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&self.bytes)
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}

/// The device and inode of a mapped file, as the kernel reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inode {
    /// Major device number.
    pub major: u32,
    /// Minor device number.
    pub minor: u32,
    /// Inode number.
    pub inode: u64,
    /// Generation of the inode, which changes when the file system reuses an inode number.
    pub generation: u64,
}

/// A mapped file with its path and identity, or memory with the kernel's name for it.
///
/// Mappings from one record share it; a clone copies a pointer.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MappedObject {
    path: Arc<[u8]>,
    /// The build id in the record, which events with the flag `build_id` have.
    pub build_id: Option<BuildId>,
    /// The device and inode in the record: MMAP2 without a build id has them for files.
    pub inode: Option<Inode>,
}

/// The kind of mapped memory, derived from the name that the kernel reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectKind {
    /// A file with a path.
    File,
    /// Memory without a file: `//anon`, `/dev/zero`, huge pages and System V shared memory. JIT
    /// compilers write code here.
    Anonymous,
    /// `[heap]`.
    Heap,
    /// `[stack]`.
    Stack,
    /// `[vdso]`: kernel code that runs in user space.
    Vdso,
    /// `/memfd:NAME`: a file without a path.
    Memfd,
    /// Another name in brackets, such as `[vvar]`, `[uprobes]` or `[vsyscall]`.
    Special,
}

impl MappedObject {
    /// Creates an object with a path and no identity, for example from a line of a process's `maps`
    /// file.
    pub fn new(path: &[u8]) -> Self {
        Self { path: path.into(), build_id: None, inode: None }
    }

    /// Sets the device and inode.
    #[must_use]
    pub fn with_inode(mut self, inode: Inode) -> Self {
        self.inode = Some(inode);
        self
    }

    /// Sets the build id, which [`AddressSpaces::build_id`](crate::AddressSpaces::build_id) prefers
    /// to all others.
    #[must_use]
    pub fn with_build_id(mut self, build_id: BuildId) -> Self {
        self.build_id = Some(build_id);
        self
    }

    /// Returns the path in the mount namespace of the process, or the kernel's name such as
    /// `//anon`, in raw bytes. The suffix ` (deleted)` is removed: see
    /// [`is_deleted`](Self::is_deleted).
    pub fn path(&self) -> &[u8] {
        self.path.strip_suffix(DELETED).unwrap_or(&self.path)
    }

    /// Returns true if the path was already deleted when the record was written.
    pub fn is_deleted(&self) -> bool {
        self.path.ends_with(DELETED)
    }

    /// Returns true for a jitdump file: `jit-PID.dump`.
    pub(super) fn is_jitdump(&self) -> bool {
        let name = self.path().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let pid = name.strip_prefix(b"jit-").and_then(|rest| rest.strip_suffix(b".dump"));
        pid.is_some_and(|pid| !pid.is_empty() && pid.iter().all(u8::is_ascii_digit))
    }

    /// Returns the kind, derived from the name.
    pub fn kind(&self) -> ObjectKind {
        match self.path() {
            b"//anon" | b"/anon_hugepage" | b"/dev/zero" | b"" => ObjectKind::Anonymous,
            b"[heap]" => ObjectKind::Heap,
            b"[vdso]" => ObjectKind::Vdso,
            path if path.starts_with(b"/memfd:") => ObjectKind::Memfd,
            path if path.starts_with(b"/SYSV") => ObjectKind::Anonymous,
            path if path.starts_with(b"[stack") => ObjectKind::Stack,
            path if path.starts_with(b"[anon") => ObjectKind::Anonymous,
            path if path.starts_with(b"[") => ObjectKind::Special,
            _ => ObjectKind::File,
        }
    }
}

impl fmt::Debug for MappedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedObject")
            .field("path", &String::from_utf8_lossy(&self.path))
            .field("build_id", &self.build_id)
            .field("inode", &self.inode)
            .finish()
    }
}

const DELETED: &[u8] = b" (deleted)";

/// A range of addresses and what is mapped there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    start: u64,
    /// End address, exclusive.
    end: u64,
    file_offset: u64,
    is_executable: bool,
    object: MappedObject,
}

impl Mapping {
    /// Creates an executable mapping of an object, starting at an offset in its file in bytes. A
    /// range that ends before its start is empty.
    pub fn new(range: Range<u64>, file_offset: u64, object: MappedObject) -> Self {
        let end = range.end.max(range.start);
        Self { start: range.start, end, file_offset, is_executable: true, object }
    }

    /// Sets whether the memory is executable.
    #[must_use]
    pub fn with_executable(mut self, is_executable: bool) -> Self {
        self.is_executable = is_executable;
        self
    }

    /// Returns the first address.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the end address, exclusive.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns true if it is in the address space of 32-bit programs. 64-bit programs only map
    /// there on request.
    pub(crate) fn is_below_4_gib(&self) -> bool {
        self.end <= 1 << 32
    }

    /// Returns true if the memory was mapped executable.
    pub fn is_executable(&self) -> bool {
        self.is_executable
    }

    /// Returns the mapped object.
    pub fn object(&self) -> &MappedObject {
        &self.object
    }

    /// Returns the offset in the file, in bytes, of an address in this mapping.
    ///
    /// This is a file offset, not an address in the program's symbol table. The difference varies
    /// by segment.
    pub fn offset_of(&self, addr: u64) -> u64 {
        addr.wrapping_sub(self.start).wrapping_add(self.file_offset)
    }
}

impl Ranged for Mapping {
    fn start(&self) -> u64 {
        self.start
    }

    fn end(&self) -> u64 {
        self.end
    }

    fn cut_before(&mut self, start: u64) {
        self.file_offset = self.offset_of(start);
        self.start = start;
    }

    fn cut_after(&mut self, end: u64) {
        self.end = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(path: &str) -> MappedObject {
        MappedObject::new(path.as_bytes())
    }

    #[test]
    fn kind_follows_from_the_name_that_the_kernel_gives() {
        for (path, kind) in [
            ("/usr/bin/true", ObjectKind::File),
            ("/tmp/a b (deleted)", ObjectKind::File),
            ("/memfd:jit (deleted)", ObjectKind::Memfd),
            ("/dev/zero (deleted)", ObjectKind::Anonymous),
            ("/SYSV00000000 (deleted)", ObjectKind::Anonymous),
            ("/anon_hugepage (deleted)", ObjectKind::Anonymous),
            ("//anon", ObjectKind::Anonymous),
            ("[anon:malloc]", ObjectKind::Anonymous),
            ("", ObjectKind::Anonymous),
            ("[heap]", ObjectKind::Heap),
            ("[stack]", ObjectKind::Stack),
            ("[stack:12]", ObjectKind::Stack),
            ("[vdso]", ObjectKind::Vdso),
            ("[vsyscall]", ObjectKind::Special),
        ] {
            assert_eq!(object(path).kind(), kind, "{path}");
        }
    }

    #[test]
    fn mapping_that_is_cut_keeps_its_offsets() {
        let mut mapping = Mapping::new(0x1000..0x5000, 0x100, object("/bin/a"));
        mapping.cut_before(0x2000);
        mapping.cut_after(0x4000);
        assert_eq!((mapping.start(), mapping.end(), mapping.offset_of(0x2000)), (0x2000, 0x4000, 0x1100));
        let inverted = Mapping::new(Range { start: 2, end: 1 }, 0, object(""));
        assert_eq!((inverted.start(), inverted.end()), (2, 2));
    }

    #[test]
    fn jitdump_is_known_by_its_name() {
        let is_jitdump = |path| object(path).is_jitdump();
        assert!(is_jitdump("/tmp/jit-12.dump") && is_jitdump("/home/a/.debug/jit/x/jit-7.dump"));
        assert!(
            !is_jitdump("/tmp/jit-.dump")
                && !is_jitdump("/tmp/jit-1a.dump")
                && !is_jitdump("/tmp/fit-1.dump")
        );
    }

    #[test]
    fn deleted_file_has_its_path_without_the_suffix() {
        let deleted = object("/tmp/a (deleted)");
        assert!(deleted.is_deleted());
        assert_eq!(deleted.path(), b"/tmp/a");
        assert!(!object("/tmp/a").is_deleted());
    }

    #[test]
    fn build_id_has_up_to_20_bytes_that_are_not_zero() {
        assert_eq!(BuildId::new(&[]), None);
        assert_eq!(BuildId::new(&[0; 20]), None);
        assert_eq!(BuildId::new(&[1; 32]), BuildId::new(&[1; 20]), "as recordings have it");
        let id = BuildId::new(&[0xab, 0, 0x01]).expect("three bytes");
        assert_eq!(id.to_string(), "ab0001");
        assert_ne!(Some(id), BuildId::new(&[0xab, 0, 0x01, 0]));
    }
}
