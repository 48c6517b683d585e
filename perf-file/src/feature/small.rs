//! Features of a few numbers.

use crate::bytes::Bytes;
use crate::list::Read;
use crate::{List, Result};

/// An event group, from [`Feature::GROUP_DESC`](crate::format::Feature::GROUP_DESC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupDesc<'a> {
    /// Name, `{anon_group}` if it has none.
    pub name: &'a [u8],
    /// Index of the leader among the attrs.
    pub leader: u32,
    /// Number of members, the leader included.
    pub members: u32,
}

impl<'a> Read<'a> for GroupDesc<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self {
            name: bytes.string("name of a group")?,
            leader: bytes.u32("leader of a group")?,
            members: bytes.u32("members of a group")?,
        })
    }
}

/// Position of an [`Auxtrace`](crate::record::Auxtrace) record, from
/// [`Feature::AUXTRACE`](crate::format::Feature::AUXTRACE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "auxtrace_index_entry")]
pub struct AuxtraceIndex {
    /// Offset of the record in bytes from the start of the file.
    pub offset: u64,
    /// Bytes of the record with the AUX data that follows it.
    pub size: u64,
}

impl AuxtraceIndex {
    pub(super) fn list<'a>(bytes: &mut Bytes<'a>) -> Result<List<'a, Self>> {
        let count = bytes.u64("AUX trace records")?;
        List::take(bytes, count, "AUX trace records")
    }
}

impl<'a> Read<'a> for AuxtraceIndex {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self {
            offset: bytes.u64("offset of an AUX trace record")?,
            size: bytes.u64("size of an AUX trace record")?,
        })
    }
}

/// Times of samples, from [`Feature::SAMPLE_TIME`](crate::format::Feature::SAMPLE_TIME).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleTime {
    /// Time of the first sample in ns.
    pub first: u64,
    /// Time of the last sample in ns.
    pub last: u64,
}

impl SampleTime {
    pub(super) fn parse(bytes: &mut Bytes<'_>) -> Result<Self> {
        Ok(Self {
            first: bytes.u64("time of the first sample")?,
            last: bytes.u64("time of the last sample")?,
        })
    }
}

/// Parameters of the compressed records, from
/// [`Feature::COMPRESSED`](crate::format::Feature::COMPRESSED).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Version of this section.
    pub version: u32,
    /// The algorithm: [`COMPRESSION_ZSTD`](crate::format::COMPRESSION_ZSTD).
    pub kind: u32,
    /// Level.
    pub level: u32,
    /// Ratio of the sizes before and after compression.
    pub ratio: u32,
    /// Bytes of the longest decompressed part: the size of a ring.
    pub mmap_len: u32,
}

impl Compression {
    pub(super) fn parse(bytes: &mut Bytes<'_>) -> Result<Self> {
        Ok(Self {
            version: bytes.u32("version")?,
            kind: bytes.u32("type of the compression")?,
            level: bytes.u32("level of the compression")?,
            ratio: bytes.u32("ratio of the compression")?,
            mmap_len: bytes.u32("size of a ring")?,
        })
    }
}

/// Machine of the host, from [`Feature::E_MACHINE`](crate::format::Feature::E_MACHINE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfMachine {
    /// `e_machine` of ELF files: 62 is x86-64, 183 `AArch64`.
    pub machine: u32,
    /// `e_flags` of ELF files.
    pub flags: u32,
}

impl ElfMachine {
    pub(super) fn parse(bytes: &mut Bytes<'_>) -> Result<Self> {
        Ok(Self { machine: bytes.u32("ELF machine")?, flags: bytes.u32("ELF flags")? })
    }
}
