use crate::bytes::Bytes;
use crate::list::Read;
use crate::{List, Result};

/// The CPU and thread of each id.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "perf_record_id_index")]
pub struct IdIndex<'a> {
    /// The ids.
    pub entries: List<'a, IdIndexEntry>,
    /// The virtual machines of the ids, in the same order; empty without virtual machines.
    pub guests: List<'a, GuestId>,
}

/// An id with the event, CPU and thread that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "id_index_entry")]
pub struct IdIndexEntry {
    /// The id.
    pub id: u64,
    /// Index of the ring.
    pub index: u64,
    /// CPU, `u64::MAX` for any.
    pub cpu: u64,
    /// Thread, `u64::MAX` for any.
    pub tid: u64,
}

/// The virtual machine of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "id_index_entry_2")]
pub struct GuestId {
    /// Process of the virtual machine, 0 for the host.
    pub machine_pid: u64,
    /// Virtual CPU.
    pub vcpu: u64,
}

impl<'a> IdIndex<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>) -> Result<Self> {
        let count = body.u64("nr")?;
        let entries = List::take(body, count, "entries")?;
        let guests = if body.is_empty() { 0 } else { count };
        Ok(Self { entries, guests: List::take(body, guests, "guests")? })
    }
}

impl<'a> Read<'a> for IdIndexEntry {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self {
            id: bytes.u64("id")?,
            index: bytes.u64("idx")?,
            cpu: bytes.u64("cpu")?,
            tid: bytes.u64("tid")?,
        })
    }
}

impl<'a> Read<'a> for GuestId {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self { machine_pid: bytes.u64("machine_pid")?, vcpu: bytes.u64("vcpu")? })
    }
}
