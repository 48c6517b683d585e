use crate::bytes::Bytes;
use crate::list::fields;
use crate::{List, Result};

/// The CPU and thread of each id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_id_index")]
pub struct IdIndex<'a> {
    /// The ids.
    pub entries: List<'a, IdIndexEntry>,
    /// The virtual machines of the ids, in the same order; empty without virtual machines.
    pub guests: List<'a, GuestId>,
}

fields! {
    /// An id with the event, CPU and thread that it stands for.
    #[doc(alias = "id_index_entry")]
    pub struct IdIndexEntry {
        /// The id, as in the records.
        pub id: u64 = "id",
        /// Index of the ring.
        pub index: u64 = "idx",
        /// CPU, `u64::MAX` for any.
        pub cpu: u64 = "cpu",
        /// Thread, `u64::MAX` for any.
        pub tid: u64 = "tid",
    }

    /// The virtual machine of an id.
    #[doc(alias = "id_index_entry_2")]
    pub struct GuestId {
        /// Process of the virtual machine, 0 for the host.
        pub machine_pid: u64 = "machine_pid",
        /// Virtual CPU.
        pub vcpu: u64 = "vcpu",
    }
}

impl<'a> IdIndex<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>) -> Result<Self> {
        let count = body.u64("nr")?;
        let entries = List::take(body, count, "entries")?;
        let guests = if body.is_empty() { 0 } else { count };
        Ok(Self { entries, guests: List::take(body, guests, "guests")? })
    }
}
