use super::CpuMap;
use crate::Result;
use crate::bytes::{Bytes, until_nul};

/// A property of an event that its attr does not contain: unit, scale, name, CPUs.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "perf_record_event_update")]
pub struct EventUpdate<'a> {
    /// An id of the event.
    pub id: u64,
    /// The new value.
    pub update: Update<'a>,
}

/// The value of an [`EventUpdate`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Update<'a> {
    /// Unit of the scaled count, such as `Joules`.
    #[doc(alias = "PERF_EVENT_UPDATE__UNIT")]
    Unit(&'a [u8]),
    /// Factor of the count.
    #[doc(alias = "PERF_EVENT_UPDATE__SCALE")]
    Scale(f64),
    /// Name.
    #[doc(alias = "PERF_EVENT_UPDATE__NAME")]
    Name(&'a [u8]),
    /// The CPUs on which the event is open.
    #[doc(alias = "PERF_EVENT_UPDATE__CPUS")]
    Cpus(CpuMap<'a>),
    /// A value that this crate does not know.
    Unknown {
        /// Number of the kind.
        kind: u64,
        /// The bytes after the header of the update.
        data: &'a [u8],
    },
}

impl<'a> EventUpdate<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>) -> Result<Self> {
        let kind = body.u64("type")?;
        let id = body.u64("id")?;
        let update = match kind {
            0 => Update::Unit(until_nul(body.rest())),
            1 => Update::Scale(f64::from_bits(body.u64("scale")?)),
            2 => Update::Name(until_nul(body.rest())),
            3 => Update::Cpus(CpuMap::parse(body)?),
            kind => Update::Unknown { kind, data: body.rest() },
        };
        Ok(Self { id, update })
    }
}
