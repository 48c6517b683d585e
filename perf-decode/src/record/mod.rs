//! The record kinds of the kernel, one file each. Their bodies are in [`schema`](crate::schema).

use core::fmt;

use perf_abi::RecordType;

use crate::error::Result;
use crate::layout::{Layout, SampleLayout};
use crate::raw::RawRecord;
use crate::sample;
use crate::sample::Sample;
use crate::schema::BODIES;

#[macro_use]
mod view;

mod aux;
mod aux_output_hw_id;
mod bpf_event;
mod callchain_deferred;
mod cgroup;
mod check;
mod comm;
mod common;
mod exit;
mod fields;
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
mod unthrottle;

pub use aux::Aux;
pub use aux_output_hw_id::AuxOutputHwId;
pub use bpf_event::BpfEvent;
pub use callchain_deferred::CallchainDeferred;
pub use cgroup::Cgroup;
pub use comm::Comm;
pub use exit::Exit;
pub use fields::RecordFields;
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
pub use unthrottle::Unthrottle;

pub(crate) use check::body_words;
use view::View;

/// Expands to all that depends on the set of kinds: the enum of their views, and what takes a
/// record apart by its kind.
macro_rules! records {
    ($($KIND:ident => $View:ident,)*) => {
        /// A decoded record: a validated view of its words.
        ///
        /// Every accessor is total and takes constant time, except for names, whose accessors
        /// search for the NUL. The parameter `L` is the type of the layout, by default a reference:
        /// see [`Layout`].
        // The tag is the kernel's number and all views have the same memory layout, so that making
        // a record copies five words, and a `match` on it is a `match` on the header's kind.
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum Record<'a, L = &'a SampleLayout> {
            /// A sample, [`RecordType::SAMPLE`].
            Sample(Sample<'a, L>) = RecordType::SAMPLE.0,
            $(
                #[doc = concat!("[`RecordType::", stringify!($KIND), "`].")]
                $View($View<'a, L>) = RecordType::$KIND.0,
            )*
            /// A kind that this decoder does not know, kept as it is.
            Unknown(RawRecord<'a>) = u32::MAX,
        }

        impl<'a, L: Layout> Record<'a, L> {
            /// Views the words of a record of a known kind, which were validated.
            #[inline(always)]
            fn validated(raw: RawRecord<'a>, words: &'a [u64], layout: L) -> Self {
                match raw.kind() {
                    // Samples do not come here. Without this arm the kinds would have a gap, and
                    // LLVM would make the match a jump table instead of a copy of the kind.
                    RecordType::SAMPLE => Self::Sample(Sample::unreachable(words, layout, raw.first_word())),
                    $(RecordType::$KIND => Self::$View($View(View::new(words, layout, raw.first_word()))),)*
                    _ => Self::Unknown(raw),
                }
            }

            /// Returns the common view of a side-band record; `None` for a sample or an unknown
            /// kind.
            #[inline(always)]
            fn side_band(&self) -> Option<View<'a, L, 1>> {
                match self {
                    Self::Sample(_) | Self::Unknown(_) => None,
                    $(Self::$View(view) => Some(view.0.common()),)*
                }
            }

            /// Returns the time in the body, of the kinds that have one.
            fn time_in_body(&self) -> Option<u64> {
                match self {
                    Self::Sample(_) | Self::Unknown(_) => None,
                    $(Self::$View(view) => view.time_in_body(),)*
                }
            }
        }

        impl<L: Layout> fmt::Debug for Record<'_, L> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Sample(sample) => sample.fmt(f),
                    $(Self::$View(view) => view.fmt(f),)*
                    Self::Unknown(raw) => raw.fmt(f),
                }
            }
        }

        // Every kind with a row has a view here.
        const _: () = {
            let mut bodies = BODIES;
            while let [body, rest @ ..] = bodies {
                let is_listed = $(<$View<'_>>::KIND.0 == body.kind.0)||*;
                assert!(is_listed, "a kind with a row in `schema/bodies.rs` is missing in `records!`");
                bodies = rest;
            }
        };
    };
}

records! {
    MMAP => Mmap,
    LOST => Lost,
    COMM => Comm,
    EXIT => Exit,
    THROTTLE => Throttle,
    UNTHROTTLE => Unthrottle,
    FORK => Fork,
    READ => Read,
    MMAP2 => Mmap2,
    AUX => Aux,
    ITRACE_START => ItraceStart,
    LOST_SAMPLES => LostSamples,
    SWITCH => Switch,
    SWITCH_CPU_WIDE => SwitchCpuWide,
    NAMESPACES => Namespaces,
    KSYMBOL => Ksymbol,
    BPF_EVENT => BpfEvent,
    CGROUP => Cgroup,
    TEXT_POKE => TextPoke,
    AUX_OUTPUT_HW_ID => AuxOutputHwId,
    CALLCHAIN_DEFERRED => CallchainDeferred,
}

impl<'a> RawRecord<'a> {
    /// Decodes this record with the layout of its event. Validates all its words once.
    ///
    /// Pass a `&SampleLayout`, or a value of a type that stands for a constant [`Layout`].
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`](crate::Error::Truncated),
    /// [`Unterminated`](crate::Error::Unterminated) or [`Invalid`](crate::Error::Invalid)
    /// name the field; [`UnknownBits`](crate::Error::UnknownBits) names the field of the
    /// attr that is newer than this decoder. An error does not affect the records after
    /// this one.
    // Inlined, so that a caller's `match` is compiled into this one and no record is built
    // in memory, which would be three to four times slower (benches, loops `dyn` and `vec`).
    #[inline(always)]
    pub fn decode<L: Layout>(self, layout: L) -> Result<Record<'a, L>> {
        let known = layout.sample_layout();
        if self.kind() == RecordType::SAMPLE {
            return match sample::offsets(self.words(), layout) {
                Some(offsets) => Ok(Record::Sample(Sample::validated(self.words(), layout, offsets))),
                None => Err(sample::sample_error(self.words(), known)),
            };
        }
        let words = if self.passes_fast_check(known) {
            self.words()
        } else if let Some(words) = check::whole(self.words(), known) {
            words
        } else {
            return Err(check::error(self.words(), known));
        };
        Ok(Record::validated(self, words, layout))
    }
}

#[cfg(test)]
mod tests;
