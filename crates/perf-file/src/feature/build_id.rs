//! Build ids of mapped files.

use perf_abi::{BUILD_ID_SIZE_MAX, CpuMode, Misc};
#[cfg(any(test, feature = "std"))]
use perf_abi::{Header, RecordType};

use crate::bytes::{Bytes, until_nul};
use crate::error::Result;
use crate::list::{List, Read, Rest};
#[cfg(any(test, feature = "std"))]
use crate::{encoder::Encoder, list::Write};

/// The build id of a mapped file, from [`Feature::BUILD_ID`](crate::format::Feature::BUILD_ID) and
/// the records [`HEADER_BUILD_ID`](crate::format::record_type::HEADER_BUILD_ID).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_header_build_id")]
pub struct BuildId<'a> {
    /// The record's misc bits: the mode of the CPU in which the file is used.
    pub misc: Misc,
    /// The virtual machine: -1 is the host, otherwise the process of a guest.
    pub pid: i32,
    /// The build id, at most 20 bytes. The writer leaves out those after that.
    pub build_id: &'a [u8],
    /// Path as in the `MMAP2` records, or a name such as `[kernel.kallsyms]`. The writer truncates
    /// it to 4096 bytes.
    pub filename: &'a [u8],
}

/// `pid` of a file that belongs to no guest.
const HOST: i32 = -1;
/// The misc bit of a record that has the size of its build id.
const HAS_SIZE: u16 = 1 << 15;
/// Bytes of a path that are written: the kernel's `PATH_MAX`.
#[cfg(any(test, feature = "std"))]
const MAX_PATH: usize = 4096;
/// Paths are padded to a multiple of this number of bytes, as by the perf tool.
#[cfg(any(test, feature = "std"))]
const PATH_ALIGN: usize = 64;
/// The context of sections whose entries lack the pid, as the first tools wrote them.
const WITHOUT_PID: u32 = 1;

impl<'a> BuildId<'a> {
    /// Returns the build id of a file of the host. `mode` is [`CpuMode::KERNEL`] for the kernel and
    /// its modules, otherwise [`CpuMode::USER`].
    #[must_use]
    pub const fn new(filename: &'a [u8], build_id: &'a [u8], mode: CpuMode) -> Self {
        Self { misc: Misc::from_bits_retain(HAS_SIZE).with_cpu_mode(mode), pid: HOST, build_id, filename }
    }

    /// Parses a record after its header.
    pub(crate) fn parse(misc: Misc, body: &mut Bytes<'a>) -> Result<Self> {
        let has_pid = body.context() != WITHOUT_PID;
        #[expect(clippy::cast_possible_wrap, reason = "-1 is the host")]
        let pid = if has_pid { body.u32("pid")? as i32 } else { HOST };
        let build_id = body.take(BUILD_ID_SIZE_MAX as u64, "build_id")?;
        let [size, ..] = body.array::<4>("size")?;
        // Older tools write an id of 20 bytes without its size.
        let has_size = misc.bits() & HAS_SIZE != 0 && usize::from(size) <= BUILD_ID_SIZE_MAX;
        let len = if has_size { size.into() } else { BUILD_ID_SIZE_MAX };
        let build_id = build_id.get(..len).unwrap_or(build_id);
        Ok(Self { misc, pid, build_id, filename: until_nul(body.rest()) })
    }

    /// Appends a record of a kind, always with the pid and the size of the build id.
    #[cfg(any(test, feature = "std"))]
    pub(crate) fn write_record(&self, kind: RecordType, out: &mut Encoder) {
        let id = self.build_id.get(..BUILD_ID_SIZE_MAX).unwrap_or(self.build_id);
        let path = self.filename.get(..MAX_PATH).unwrap_or(self.filename);
        let padded = (path.len() + 1).next_multiple_of(PATH_ALIGN);
        let size = size_of::<Header>() + 4 + BUILD_ID_SIZE_MAX + 4 + padded;
        out.u32(kind.0).u16(self.misc.bits() | HAS_SIZE).u16(size as u16);
        self.pid.write(out);
        out.text(id, BUILD_ID_SIZE_MAX).text(&[id.len() as u8], 4).text(path, padded);
    }
}

/// The form of the section of a file: records of the kind 0 up to its end.
pub(super) struct BuildIds;

impl BuildIds {
    pub(super) fn read<'a>(bytes: &mut Bytes<'a>, what: &'static str) -> Result<List<'a, BuildId<'a>>> {
        let whole = *bytes;
        let list: List<'a, BuildId<'a>> = Rest::read(bytes, what)?;
        // The name is read 4 bytes too late in a file without pids.
        if list.iter().next().is_some_and(|first| first.filename == b"nel.kallsyms]") {
            *bytes = whole;
            bytes.set_context(WITHOUT_PID);
            return Rest::read(bytes, what);
        }
        Ok(list)
    }

    #[cfg(any(test, feature = "std"))]
    pub(super) fn write<'a>(list: &List<'a, BuildId<'a>>, out: &mut Encoder) {
        Rest::write(list, out);
    }
}

impl<'a> Read<'a> for BuildId<'a> {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        bytes.u32("type")?;
        let misc = Misc::from_bits_retain(bytes.u16("misc")?);
        let size = bytes.u16("size")?;
        let len = u64::from(size).saturating_sub(8);
        Self::parse(misc, &mut bytes.part(len, "build id")?)
    }
}

#[cfg(any(test, feature = "std"))]
impl Write for BuildId<'_> {
    fn write(&self, out: &mut Encoder) {
        self.write_record(RecordType(0), out);
    }
}
