use crate::Result;
use crate::bytes::{Bytes, until_nul};
use crate::list::Read;

/// A thread and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_thread_map_entry")]
pub struct ThreadMapEntry<'a> {
    /// Its id; `u64::MAX` for all threads.
    pub pid: u64,
    /// Its name, empty if unknown.
    pub comm: &'a [u8],
}

impl<'a> Read<'a> for ThreadMapEntry<'a> {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        Ok(Self { pid: bytes.u64("pid")?, comm: until_nul(bytes.take(16, "comm")?) })
    }
}
