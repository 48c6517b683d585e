//! The view of MMAP2 records.

use perf_abi::Misc;

use crate::layout::Layout;

view! {
    /// A task mapped memory: [`Mmap`](crate::Mmap) with the file and the protection. Written for
    /// events with `mmap2`.
    ///
    /// Since Linux 3.16; the build id since 5.12.
    #[doc(alias = "PERF_RECORD_MMAP2")]
    Mmap2 of MMAP2 {
        /// Returns the process.
        pid: u32,
        /// Returns the thread that made the mapping.
        tid: u32,
        /// Returns the first address.
        addr: u64,
        /// Returns the length in bytes.
        len: u64,
        /// Returns the offset in the file in bytes; for anonymous memory often the address.
        pgoff: u64,
        /// Returns the major device number; `None` if the file is named by its build id.
        maj: Option<u32>,
        /// Returns the minor device number; `None` if the file is named by its build id.
        min: Option<u32>,
        /// Returns the inode number; `None` if the file is named by its build id.
        ino: Option<u64>,
        /// Returns the inode's generation; `None` if the file is named by its build id.
        ino_generation: Option<u64>,
        /// Returns the build id, at most 20 bytes; `None` if the file is named by its inode.
        build_id: Option<&'a [u8]>,
        /// Returns the protection: the `PROT_*` bits of mmap(2).
        prot: u32,
        /// Returns the flags of mmap(2): `MAP_SHARED` (1), `MAP_PRIVATE` (2), `MAP_LOCKED`,
        /// `MAP_HUGETLB`.
        flags: u32,
        /// Returns the path, or a name such as `//anon`, `[heap]` or `[vdso]`. Raw bytes without
        /// the NUL, not UTF-8.
        filename: &'a [u8],
    } and is_executable, file
}

impl<'a, L: Layout> Mmap2<'a, L> {
    /// Returns whether the memory was mapped executable: whether the record is without
    /// [`MMAP_DATA`](Misc::MMAP_DATA).
    #[doc(alias = "PERF_RECORD_MISC_MMAP_DATA")]
    #[inline]
    pub fn is_executable(&self) -> bool {
        !self.misc().contains(Misc::MMAP_DATA)
    }

    /// Returns which file was mapped.
    #[inline]
    pub fn file(&self) -> MappedFile<'a> {
        match self.build_id() {
            Some(id) => MappedFile::BuildId(id),
            None => MappedFile::Inode {
                major: self.maj().unwrap_or(0),
                minor: self.min().unwrap_or(0),
                inode: self.ino().unwrap_or(0),
                generation: self.ino_generation().unwrap_or(0),
            },
        }
    }
}

/// How an [`Mmap2`] names its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappedFile<'a> {
    /// Device and inode; all 0 for memory without a file.
    Inode {
        /// Major device number.
        major: u32,
        /// Minor device number.
        minor: u32,
        /// Inode number.
        inode: u64,
        /// Generation of the inode.
        generation: u64,
    },
    /// The build id, at most 20 bytes, for events with `build_id` (since Linux 5.12).
    BuildId(&'a [u8]),
}
