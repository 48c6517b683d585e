use super::check::{Body, has_build_id};
use crate::{Layout, Result, word};

view! {
    /// A task mapped memory: [`Mmap`](crate::Mmap) with the file and the protection. Written for
    /// events with `mmap2`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u32 pid, u32 tid` |
    /// | 2 | `u64 addr` |
    /// | 3 | `u64 len` |
    /// | 4 | `u64 pgoff` |
    /// | 5..8 | `u32 maj, u32 min, u64 ino, u64 ino_generation`, or `u8 build_id_size, u8[3], u8 build_id[20]` |
    /// | 8 | `u32 prot, u32 flags` |
    /// | 9.. | `char filename[]`, NUL-padded to a word |
    ///
    /// Since Linux 3.16; the build id since 5.12.
    #[doc(alias = "PERF_RECORD_MMAP2")]
    Mmap2: 9 words;
}

#[expect(clippy::len_without_is_empty, reason = "`len` is a field of the record")]
impl<'a, L: Layout> Mmap2<'a, L> {
    mapping_fields!();

    /// Returns which file was mapped.
    #[inline]
    #[must_use]
    pub fn file(&self) -> MappedFile<'a> {
        if has_build_id(self.misc(), self.0.layout().sample_layout()) {
            return MappedFile::BuildId(build_id(self.0.fixed().get(5..8).unwrap_or(&[])).unwrap_or(&[]));
        }
        let [.., device, inode, generation, _] = *self.0.fixed();
        let [major, minor] = word::halves(device);
        MappedFile::Inode { major, minor, inode, generation }
    }

    /// Returns the major device number; `None` if the file is named by its build id.
    #[inline]
    #[must_use]
    pub fn maj(&self) -> Option<u32> {
        match self.file() {
            MappedFile::Inode { major, .. } => Some(major),
            MappedFile::BuildId(_) => None,
        }
    }

    /// Returns the minor device number; `None` if the file is named by its build id.
    #[inline]
    #[must_use]
    pub fn min(&self) -> Option<u32> {
        match self.file() {
            MappedFile::Inode { minor, .. } => Some(minor),
            MappedFile::BuildId(_) => None,
        }
    }

    /// Returns the inode number; `None` if the file is named by its build id.
    #[inline]
    #[must_use]
    pub fn ino(&self) -> Option<u64> {
        match self.file() {
            MappedFile::Inode { inode, .. } => Some(inode),
            MappedFile::BuildId(_) => None,
        }
    }

    /// Returns the inode's generation; `None` if the file is named by its build id.
    #[inline]
    #[must_use]
    pub fn ino_generation(&self) -> Option<u64> {
        match self.file() {
            MappedFile::Inode { generation, .. } => Some(generation),
            MappedFile::BuildId(_) => None,
        }
    }

    /// Returns the build id, at most 20 bytes; `None` if the file is named by its inode.
    #[inline]
    #[must_use]
    pub fn build_id(&self) -> Option<&'a [u8]> {
        match self.file() {
            MappedFile::Inode { .. } => None,
            MappedFile::BuildId(id) => Some(id),
        }
    }

    /// Returns the protection: the `PROT_*` bits of mmap(2).
    #[inline]
    #[must_use]
    pub fn prot(&self) -> u32 {
        word::halves(self.0.fixed()[8])[0]
    }

    /// Returns the flags of mmap(2): `MAP_SHARED` (1), `MAP_PRIVATE` (2), `MAP_LOCKED`,
    /// `MAP_HUGETLB`.
    #[inline]
    #[must_use]
    pub fn flags(&self) -> u32 {
        word::halves(self.0.fixed()[8])[1]
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

/// Returns the build id in the three words that otherwise hold device and inode.
fn build_id(words: &[u64]) -> Option<&[u8]> {
    let (&size, id) = word::bytes(words).split_first()?;
    id.get(3..)?.get(..usize::from(size))
}

pub(super) fn end(body: Body<'_>) -> Result<&[u64]> {
    let words = body.words();
    if body.has_build_id && build_id(words.get(5..8).unwrap_or(&[])).is_none() {
        let [size, ..] = body.word(5).to_ne_bytes();
        return Err(body.invalid("build_id_size", u64::from(size)));
    }
    body.name_end("filename", Mmap2::WORDS).map(|_| words)
}
