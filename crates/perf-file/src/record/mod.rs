//! The records that tools write in their own form, of kinds from 64 on.
//!
//! They are parsed in the byte order of the file and need no alignment. Kernel records are the
//! views of `perf-decode`.

use perf_abi::Header;

use crate::attr::FileAttr;
use crate::bytes::Bytes;
use crate::error::Result;
use crate::feature::{BuildId, FeatureSection};
use crate::format::{Feature, record_type as kind};
use crate::list::{List, LongList, Read};
use crate::order::ByteOrder;

mod auxtrace;
mod event;
mod stat;

pub use auxtrace::{Auxtrace, AuxtraceError, AuxtraceInfo};
pub use event::{
    BpfMetadata, BpfVariable, CpuMap, CpuMapForm, EventUpdate, GuestId, IdIndex, IdIndexEntry, ShortTime,
    ThreadMapEntry, TimeConv, Update,
};
pub use stat::{Schedstat, Stat, StatConfig, StatRound};

/// A record that a tool wrote in its own form.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum UserRecord<'a> {
    /// [`HEADER_ATTR`](kind::HEADER_ATTR): an event of the pipe form.
    HeaderAttr(FileAttr<'a>),
    /// [`HEADER_EVENT_TYPE`](kind::HEADER_EVENT_TYPE): obsolete.
    HeaderEventType {
        /// The attr's `config`.
        event_id: u64,
        /// Name of the event.
        name: &'a [u8],
    },
    /// [`HEADER_TRACING_DATA`](kind::HEADER_TRACING_DATA).
    HeaderTracingData {
        /// Bytes of tracing data that follow the record outside of its size.
        size: u32,
    },
    /// [`HEADER_BUILD_ID`](kind::HEADER_BUILD_ID).
    HeaderBuildId(BuildId<'a>),
    /// [`FINISHED_ROUND`](kind::FINISHED_ROUND): all records up to the latest time before the
    /// preceding mark can be delivered in time order.
    FinishedRound,
    /// [`ID_INDEX`](kind::ID_INDEX).
    IdIndex(IdIndex<'a>),
    /// [`AUXTRACE_INFO`](kind::AUXTRACE_INFO).
    AuxtraceInfo(AuxtraceInfo<'a>),
    /// [`AUXTRACE`](kind::AUXTRACE).
    Auxtrace(Auxtrace),
    /// [`AUXTRACE_ERROR`](kind::AUXTRACE_ERROR).
    AuxtraceError(AuxtraceError<'a>),
    /// [`THREAD_MAP`](kind::THREAD_MAP).
    ThreadMap(List<'a, ThreadMapEntry<'a>>),
    /// [`CPU_MAP`](kind::CPU_MAP).
    CpuMap(CpuMap<'a>),
    /// [`STAT_CONFIG`](kind::STAT_CONFIG).
    StatConfig(List<'a, StatConfig>),
    /// [`STAT`](kind::STAT).
    Stat(Stat),
    /// [`STAT_ROUND`](kind::STAT_ROUND).
    StatRound(StatRound),
    /// [`EVENT_UPDATE`](kind::EVENT_UPDATE).
    EventUpdate(EventUpdate<'a>),
    /// [`TIME_CONV`](kind::TIME_CONV).
    TimeConv(TimeConv),
    /// [`HEADER_FEATURE`](kind::HEADER_FEATURE): a feature section of the pipe form. An empty one
    /// ends the list; its number is the first one that the tool does not know.
    HeaderFeature(FeatureSection<'a>),
    /// [`COMPRESSED`](kind::COMPRESSED) and [`COMPRESSED2`](kind::COMPRESSED2): a part of a zstd
    /// stream of records.
    Compressed(&'a [u8]),
    /// [`FINISHED_INIT`](kind::FINISHED_INIT): end of the records that describe the state before
    /// the recording.
    FinishedInit,
    /// [`BPF_METADATA`](kind::BPF_METADATA).
    BpfMetadata(BpfMetadata<'a>),
    /// [`SCHEDSTAT_CPU`](kind::SCHEDSTAT_CPU) and [`SCHEDSTAT_DOMAIN`](kind::SCHEDSTAT_DOMAIN).
    Schedstat(Schedstat<'a>),
    /// A kind that this crate does not know: the bytes after the header.
    Unknown(&'a [u8]),
}

impl<'a> UserRecord<'a> {
    /// Parses a record. `header` is its header in the byte order of this machine, `bytes` the whole
    /// record in the byte order of the file. `offset` is where it starts in the file, for errors.
    ///
    /// Trailing bytes are ignored, because newer tools append fields.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) if a field is past the end of the record.
    pub fn parse(header: Header, bytes: &'a [u8], order: ByteOrder, offset: u64) -> Result<Self> {
        let mut body = Bytes::new(bytes, order, offset);
        body.take(8, "header")?;
        let body = &mut body;
        Ok(match header.kind {
            kind::HEADER_ATTR => Self::HeaderAttr(FileAttr::read(*body)?),
            kind::HEADER_EVENT_TYPE => {
                let event_id = body.u64("event_id")?;
                Self::HeaderEventType { event_id, name: crate::bytes::until_nul(body.rest()) }
            }
            kind::HEADER_TRACING_DATA => Self::HeaderTracingData { size: body.u32("size")? },
            kind::HEADER_BUILD_ID => Self::HeaderBuildId(BuildId::parse(header.misc, body)?),
            kind::FINISHED_ROUND => Self::FinishedRound,
            kind::ID_INDEX => Self::IdIndex(IdIndex::parse(body)?),
            kind::AUXTRACE_INFO => Self::AuxtraceInfo(AuxtraceInfo::parse(body)?),
            kind::AUXTRACE => Self::Auxtrace(Read::read(body, "")?),
            kind::AUXTRACE_ERROR => Self::AuxtraceError(AuxtraceError::parse(body)?),
            kind::THREAD_MAP => Self::ThreadMap(LongList::read(body, "threads")?),
            kind::CPU_MAP => Self::CpuMap(CpuMap::parse(body)?),
            kind::STAT_CONFIG => Self::StatConfig(LongList::read(body, "options")?),
            kind::STAT => Self::Stat(Read::read(body, "")?),
            kind::STAT_ROUND => Self::StatRound(Read::read(body, "")?),
            kind::EVENT_UPDATE => Self::EventUpdate(EventUpdate::parse(body)?),
            kind::TIME_CONV => Self::TimeConv(TimeConv::parse(body)?),
            kind::HEADER_FEATURE => {
                let number = body.u64("number of the feature")?;
                // A number that no bit set can hold stays an unknown feature.
                let feature = Feature(u32::try_from(number).unwrap_or(u32::MAX));
                Self::HeaderFeature(FeatureSection::new(feature, body.rest(), order, body.offset()))
            }
            kind::COMPRESSED => Self::Compressed(body.rest()),
            kind::COMPRESSED2 => {
                let len = body.u64("data_size")?;
                Self::Compressed(body.take(len, "compressed data")?)
            }
            kind::FINISHED_INIT => Self::FinishedInit,
            kind::BPF_METADATA => Self::BpfMetadata(Read::read(body, "")?),
            kind::SCHEDSTAT_CPU => Self::Schedstat(Schedstat::parse(body, false)?),
            kind::SCHEDSTAT_DOMAIN => Self::Schedstat(Schedstat::parse(body, true)?),
            _ => Self::Unknown(body.rest()),
        })
    }
}

#[cfg(test)]
mod tests;
