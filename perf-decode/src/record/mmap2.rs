use core::fmt;

use perf_abi::Misc;
use zerocopy::FromBytes;

use crate::body::{Body, Parse};
use crate::display::{Hex, Task, Text};
use crate::{Error, Result, word};

/// A task mapped memory: [`Mmap`](crate::Mmap) with what was mapped and how, for events with `mmap2`.
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
/// Since Linux 3.16.
#[doc(alias = "PERF_RECORD_MMAP2")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mmap2<'a> {
    /// Process.
    pub pid: u32,
    /// Thread that made the mapping.
    pub tid: u32,
    /// First address.
    pub addr: u64,
    /// Length in bytes.
    pub len: u64,
    /// Offset in the file in bytes; of anonymous memory often the address.
    pub pgoff: u64,
    /// Which file was mapped.
    pub file: MappedFile<'a>,
    /// Protection: the `PROT_*` bits of mmap(2).
    pub prot: u32,
    /// `MAP_SHARED` (1), `MAP_PRIVATE` (2), `MAP_LOCKED` and `MAP_HUGETLB` of mmap(2).
    pub flags: u32,
    /// Whether the mapping is not executable.
    pub data: bool,
    /// Path, or a name such as `//anon`, `[heap]` or `[vdso]`. Raw bytes without the NUL, not UTF-8.
    pub filename: &'a [u8],
}

/// How a [`Mmap2`] names its file.
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

#[derive(FromBytes)]
#[repr(C)]
struct Head {
    pid: u32,
    tid: u32,
    addr: u64,
    len: u64,
    pgoff: u64,
    file: InodeForm,
    prot: u32,
    flags: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct InodeForm {
    major: u32,
    minor: u32,
    inode: u64,
    generation: u64,
}

impl<'a> Parse<'a> for Mmap2<'a> {
    #[inline(always)]
    fn parse(body: Body<'a>) -> Result<Self> {
        let (Head { pid, tid, addr, len, pgoff, file, prot, flags }, name) = body.head()?;
        // With several events on a CPU, kernels before 7.3 set the bit on records of events that did not
        // ask for build ids and carry inodes.
        let file = if body.misc.contains(Misc::MMAP_BUILD_ID) && body.layout.build_id {
            build_id(body)?
        } else {
            let InodeForm { major, minor, inode, generation } = file;
            MappedFile::Inode { major, minor, inode, generation }
        };
        let data = body.misc.contains(Misc::MMAP_DATA);
        let filename = body.string(name, "filename")?;
        Ok(Self { pid, tid, addr, len, pgoff, file, prot, flags, data, filename })
    }
}

/// The other form of the three words of [`InodeForm`].
fn build_id(body: Body<'_>) -> Result<MappedFile<'_>> {
    let form = word::bytes(body.words.get(4..7).unwrap_or(&[]));
    let size = form.first().copied().unwrap_or(0);
    let id = form.get(4..).and_then(|id| id.get(..usize::from(size)));
    let (kind, field) = (body.kind, "build_id_size");
    id.map(MappedFile::BuildId).ok_or(Error::Invalid { kind, field, value: u64::from(size) })
}

impl fmt::Display for Mmap2<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { addr, len, pgoff, .. } = *self;
        let (pid, tid) = (Task(self.pid), Task(self.tid));
        write!(f, "{pid}/{tid}: [{addr:#x}({len:#x}) @ {pgoff:#x} ")?;
        match self.file {
            MappedFile::Inode { major, minor, inode, generation } => {
                write!(f, "{major:02x}:{minor:02x} {inode} {generation}")?;
            }
            MappedFile::BuildId(id) => write!(f, "<{}>", Hex(id))?,
        }
        let bit = |bit, letter| if self.prot & bit == 0 { '-' } else { letter };
        let shared = if self.flags & 1 == 0 { 'p' } else { 's' };
        write!(f, "]: {}{}{}{shared} {}", bit(1, 'r'), bit(2, 'w'), bit(4, 'x'), Text(self.filename))
    }
}
