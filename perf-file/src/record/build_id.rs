use perf_abi::{BUILD_ID_SIZE_MAX, Misc};

use crate::bytes::{Bytes, until_nul};
use crate::list::Read;
use crate::{List, Result};

/// The build id of a file in which samples were taken.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "perf_record_header_build_id")]
pub struct BuildId<'a> {
    /// The record's misc bits: the mode of the CPU in which the file is used.
    pub misc: Misc,
    /// The virtual machine: -1 is the host, otherwise the process of a guest.
    pub pid: i32,
    /// The build id.
    pub build_id: &'a [u8],
    /// Path of the file, or a name such as `[kernel.kallsyms]`.
    pub filename: &'a [u8],
}

/// The misc bit of a record that has the size of its build id.
const HAS_SIZE: u16 = 1 << 15;
/// The number on which the entries of a section depend: files of the first tools lack the pid.
const WITHOUT_PID: u32 = 1;

impl<'a> BuildId<'a> {
    /// Parses a record after its header.
    pub(super) fn parse(misc: Misc, body: &mut Bytes<'a>) -> Result<Self> {
        let has_pid = body.context() != WITHOUT_PID;
        #[expect(clippy::cast_possible_wrap, reason = "-1 is the host")]
        let pid = if has_pid { body.u32("pid")? as i32 } else { -1 };
        let build_id = body.take(BUILD_ID_SIZE_MAX as u64, "build_id")?;
        let [size, ..] = body.fixed::<4>("size")?;
        let has_size = misc.bits() & HAS_SIZE != 0 && usize::from(size) <= BUILD_ID_SIZE_MAX;
        let len = if has_size { size.into() } else { BUILD_ID_SIZE_MAX };
        let build_id = build_id.get(..len).unwrap_or(build_id);
        Ok(Self { misc, pid, build_id, filename: until_nul(body.rest()) })
    }

    /// Parses the section of a file: records of the kind 0.
    pub(crate) fn list(bytes: &mut Bytes<'a>) -> Result<List<'a, Self>> {
        let whole = *bytes;
        let list: List<'a, Self> = List::take_all(bytes)?;
        // The name is read 4 bytes too late in a file without pids.
        if list.iter().next().is_some_and(|first| first.filename == b"nel.kallsyms]") {
            *bytes = whole;
            bytes.set_context(WITHOUT_PID);
            return List::take_all(bytes);
        }
        Ok(list)
    }
}

impl<'a> Read<'a> for BuildId<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        bytes.u32("type")?;
        let misc = Misc::from_bits_retain(bytes.u16("misc")?);
        let size = bytes.u16("size")?;
        let len = u64::from(size).saturating_sub(8);
        Self::parse(misc, &mut bytes.part(len, "build id")?)
    }
}
