//! Every record of the kernel by name: one row here and one file beside this one per kind.

use core::fmt;

use perf_abi::RecordType;

use crate::body::{self, Body, Parse};
use crate::{RawRecord, Result, Sample, SampleId, SampleLayout};

mod aux;
mod aux_output_hw_id;
mod bpf_event;
mod callchain_deferred;
mod cgroup;
mod comm;
mod exit;
mod fork;
mod itrace_start;
mod ksymbol;
mod lost;
mod lost_samples;
mod mmap;
mod mmap2;
mod namespaces;
mod read;
mod switch;
mod switch_cpu_wide;
mod text_poke;
mod throttle;

pub use aux::Aux;
pub use aux_output_hw_id::AuxOutputHwId;
pub use bpf_event::BpfEvent;
pub use callchain_deferred::CallchainDeferred;
pub use cgroup::Cgroup;
pub use comm::Comm;
pub use exit::Exit;
pub use fork::Fork;
pub use itrace_start::ItraceStart;
pub use ksymbol::Ksymbol;
pub use lost::Lost;
pub use lost_samples::LostSamples;
pub use mmap::Mmap;
pub use mmap2::{MappedFile, Mmap2};
pub use namespaces::Namespaces;
pub use read::Read;
pub use switch::{Switch, SwitchDirection};
pub use switch_cpu_wide::SwitchCpuWide;
pub use text_poke::TextPoke;
pub use throttle::Throttle;

/// Writes [`Record`], its decoding and its printing from one row per kind that is not a sample.
///
/// `MMAP => Mmap(Mmap<'a>)` becomes the variant `Mmap(Mmap<'a>)`, the arm
/// `RecordType::MMAP => Mmap::parse(body).map(Record::Mmap)` of the decoder, and an arm that prints the
/// body by its own `Display`.
macro_rules! records {
    ($($KIND:ident => $Variant:ident($Body:ty),)*) => {
        /// A decoded record.
        ///
        /// Every kind but SAMPLE is a small plain struct whose fields are read already; a [`Sample`] is a
        /// view that was checked once and reads its fields when asked.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        // A tag of its own, not one folded into a field: then the compiler sees through it, and joins what a
        // caller does with a kind to the reading of that kind.
        #[repr(u32)]
        pub enum Record<'a> {
            /// [`RecordType::SAMPLE`].
            Sample(Sample<'a>),
            $(
                #[doc = concat!("[`RecordType::", stringify!($KIND), "`].")]
                $Variant($Body),
            )*
            /// A kind that this decoder does not know: kept as it is.
            Unknown(RawRecord<'a>),
        }

        impl<'a> Record<'a> {
            /// Inlined into the caller as samples are, so that what it does with a kind is compiled behind
            /// the reading of that kind and no record is ever put together in memory.
            #[inline(always)]
            fn decode_other(raw: RawRecord<'a>, layout: &'a SampleLayout) -> Result<(Self, SampleId<'a>)> {
                let (words, trailer) = body::split(raw, layout)?;
                let body = Body { kind: raw.kind(), misc: raw.misc(), words, layout };
                let record = match raw.kind() {
                    $(RecordType::$KIND => Record::$Variant(Parse::parse(body)?),)*
                    _ => Record::Unknown(raw),
                };
                Ok((record, SampleId::new(trailer, layout)))
            }
        }

        impl fmt::Display for Record<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Sample(sample) => write!(f, "SAMPLE {sample}"),
                    $(Self::$Variant(body) => write!(f, concat!(stringify!($KIND), " {}"), body),)*
                    Self::Unknown(raw) => write!(f, "{} {} bytes", raw.kind(), raw.size()),
                }
            }
        }
    };
}

records! {
    MMAP => Mmap(Mmap<'a>),
    LOST => Lost(Lost),
    COMM => Comm(Comm<'a>),
    EXIT => Exit(Exit),
    THROTTLE => Throttle(Throttle),
    UNTHROTTLE => Unthrottle(Throttle),
    FORK => Fork(Fork),
    READ => Read(Read<'a>),
    MMAP2 => Mmap2(Mmap2<'a>),
    AUX => Aux(Aux),
    ITRACE_START => ItraceStart(ItraceStart),
    LOST_SAMPLES => LostSamples(LostSamples),
    SWITCH => Switch(Switch),
    SWITCH_CPU_WIDE => SwitchCpuWide(SwitchCpuWide),
    NAMESPACES => Namespaces(Namespaces<'a>),
    KSYMBOL => Ksymbol(Ksymbol<'a>),
    BPF_EVENT => BpfEvent(BpfEvent),
    CGROUP => Cgroup(Cgroup<'a>),
    TEXT_POKE => TextPoke(TextPoke<'a>),
    AUX_OUTPUT_HW_ID => AuxOutputHwId(AuxOutputHwId),
    CALLCHAIN_DEFERRED => CallchainDeferred(CallchainDeferred<'a>),
}

impl<'a> RawRecord<'a> {
    /// Decodes this record by the layout of its event.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`](crate::Error::Truncated), [`Unterminated`](crate::Error::Unterminated) or
    /// [`Invalid`](crate::Error::Invalid) name the field. A sample can also have a
    /// [`Surplus`](crate::Error::Surplus) or an [unknown `sample_type`](crate::Error::UnknownSampleType).
    /// The record's frame is sound all the same: skip it and go on.
    #[inline(always)]
    pub fn decode(self, layout: &'a SampleLayout) -> Result<Record<'a>> {
        if self.kind() == RecordType::SAMPLE {
            return Sample::parse(self, layout).map(Record::Sample);
        }
        match Record::decode_other(self, layout) {
            // It never is: to say so lets what the caller does with samples be compiled for samples alone.
            Ok((Record::Sample(_), _)) => Ok(Record::Unknown(self)),
            Ok((record, _)) => Ok(record),
            Err(error) => Err(error),
        }
    }

    /// Decodes this record and its trailer together: cheaper than [`decode`](Self::decode) and
    /// [`sample_id`](Self::sample_id) one after the other. All fields of a sample's trailer are `None`.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    #[inline(always)]
    pub fn decode_with_id(self, layout: &'a SampleLayout) -> Result<(Record<'a>, SampleId<'a>)> {
        if self.kind() == RecordType::SAMPLE {
            let sample = Sample::parse(self, layout)?;
            return Ok((Record::Sample(sample), SampleId::new(&[], layout)));
        }
        match Record::decode_other(self, layout) {
            Ok((Record::Sample(_), id)) => Ok((Record::Unknown(self), id)),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
