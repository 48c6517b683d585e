//! Events and scopes to try, the best first.

use std::fmt;

use clap::ValueEnum;
use perf_abi::{Attr, AttrFlags, Hardware, ReadFormat, SampleType, Software};

/// Event that is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// CPU cycles; needs a hardware counter
    Cycles,
    /// CPU time, by a timer of the kernel; works everywhere
    CpuClock,
}

/// Code that is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    UserAndKernel,
    UserOnly,
}

/// A way to open the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) source: Source,
    pub(crate) scope: Scope,
    /// Whether the kernel counts lost records in the event (since Linux 6.0).
    pub(crate) count_lost: bool,
}

impl Plan {
    /// Returns all plans for `wanted`, by default for any event, the best first.
    pub(crate) fn ladder(wanted: Option<Source>) -> Vec<Self> {
        let mut plans = Vec::new();
        for source in [Source::Cycles, Source::CpuClock] {
            for scope in [Scope::UserAndKernel, Scope::UserOnly] {
                for count_lost in [true, false] {
                    plans.push(Self { source, scope, count_lost });
                }
            }
        }
        plans.retain(|plan| wanted.is_none_or(|wanted| plan.source == wanted));
        plans
    }

    /// Returns the attr of the sampling event.
    pub(crate) fn samples(self) -> Attr {
        // A period, not a frequency: the kernel lowers its maximum frequency under load and then
        // rejects an event with a higher one.
        let attr = match self.source {
            Source::Cycles => Attr::hardware(Hardware::CPU_CYCLES).with_period(CYCLES),
            Source::CpuClock => Attr::software(Software::CPU_CLOCK).with_period(NANOSECONDS),
        };
        let attr = attr.with_sample_type(FIELDS);
        let attr = match self.scope {
            Scope::UserAndKernel => attr,
            Scope::UserOnly => attr.with_flags(NO_KERNEL),
        };
        self.common(attr)
    }

    /// Returns the attr of the event that writes the side-band records: MMAP2, COMM, FORK, EXIT.
    pub(crate) fn side_band(self) -> Attr {
        // Without the kernel it needs no permission. Its records are the same.
        self.common(Attr::software(Software::DUMMY).with_flags(SIDE_BAND.union(NO_KERNEL)))
    }

    /// Sets what both events must have to share a ring and a stream in order of time.
    fn common(self, attr: Attr) -> Attr {
        let attr = attr.with_sample_type(TRAILER).with_flags(FLAGS);
        if self.count_lost { attr.with_read_format(ReadFormat::LOST) } else { attr }
    }

    /// Returns the event's name with its modifier, as the perf tool has it.
    pub(crate) fn event_name(self) -> String {
        let modifier = if self.scope == Scope::UserOnly { ":u" } else { "" };
        format!("{}{modifier}", self.source)
    }

    /// Returns the event and its period as text.
    pub(crate) fn period(self) -> String {
        match self.source {
            Source::Cycles => format!("cycles (hardware), a sample every {CYCLES} cycles"),
            Source::CpuClock => {
                format!("cpu-clock (software), a sample every {} us of CPU time", NANOSECONDS / 1000)
            }
        }
    }
}

impl Source {
    /// Returns the unit of its count.
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::CpuClock => "ns of CPU time",
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.source, self.scope)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cycles => "cycles",
            Self::CpuClock => "cpu-clock",
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UserAndKernel => "user and kernel",
            Self::UserOnly => "user space only",
        })
    }
}

/// Sampling period in cycles: 1000 to 2500 samples per second of CPU time at 2 to 5 GHz.
const CYCLES: u64 = 2_000_000;

/// Sampling period in ns of CPU time.
const NANOSECONDS: u64 = 1_000_000;

/// Fields of the samples beside those of [`TRAILER`].
const FIELDS: SampleType = SampleType::IP.union(SampleType::CALLCHAIN).union(SampleType::PERIOD);

/// Fields of all records: the time to sort by, and the identifier of the event.
const TRAILER: SampleType =
    SampleType::IDENTIFIER.union(SampleType::TID).union(SampleType::TIME).union(SampleType::CPU);

/// The events start at the workload's exec: this process is not sampled, and the new program's
/// mappings are complete.
const FLAGS: AttrFlags = AttrFlags::DISABLED
    .union(AttrFlags::ENABLE_ON_EXEC)
    .union(AttrFlags::INHERIT)
    .union(AttrFlags::SAMPLE_ID_ALL)
    .union(AttrFlags::EXCLUDE_HV);

const SIDE_BAND: AttrFlags = AttrFlags::MMAP
    .union(AttrFlags::MMAP2)
    .union(AttrFlags::COMM)
    .union(AttrFlags::COMM_EXEC)
    .union(AttrFlags::TASK);

const NO_KERNEL: AttrFlags = AttrFlags::EXCLUDE_KERNEL.union(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL);

#[cfg(test)]
mod tests {
    use perf_decode::{Layouts, SampleLayout};

    use super::*;

    #[test]
    fn cycles_with_the_kernel_come_first_and_the_clock_of_user_space_last() {
        let ladder = Plan::ladder(None);
        let ends: Vec<_> =
            [ladder.first(), ladder.last()].into_iter().flatten().map(Plan::to_string).collect();
        assert_eq!(ends, ["cycles, user and kernel", "cpu-clock, user space only"]);
    }

    #[test]
    fn requested_event_is_not_replaced_by_another() {
        assert!(Plan::ladder(Some(Source::CpuClock)).iter().all(|plan| plan.source == Source::CpuClock));
        assert_eq!(Plan::ladder(Some(Source::Cycles)).len(), 4);
    }

    #[test]
    fn both_events_have_their_identifier_at_the_same_offset() {
        for plan in Plan::ladder(None) {
            let table = [plan.samples(), plan.side_band()].map(|attr| SampleLayout::new(&attr));
            let mut table: Vec<_> = (1..).zip(table).collect();
            assert!(Layouts::new(&mut table).is_ok(), "{plan}");
        }
    }

    #[test]
    fn user_space_scope_excludes_kernel_callchains() {
        let plan = Plan { source: Source::Cycles, scope: Scope::UserOnly, count_lost: true };
        assert!(plan.samples().flags.contains(NO_KERNEL | FLAGS));
        assert_eq!(plan.samples().read_format, ReadFormat::LOST);
    }
}
