//! What to sample: the event and the scope, from the most wanted to the least.

use std::fmt;

use clap::ValueEnum;
use perf_abi::{Attr, AttrFlags, Hardware, ReadFormat, SampleType, Software};

/// What makes a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// CPU cycles, counted by the hardware
    Cycles,
    /// The kernel's timer, which runs everywhere
    CpuClock,
}

/// Whose code is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    UserAndKernel,
    UserOnly,
}

/// One way to open the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) source: Source,
    pub(crate) scope: Scope,
    /// Whether the kernel is asked to count what it loses (Linux 6.0).
    pub(crate) count_lost: bool,
}

impl Plan {
    /// All ways to open `wanted`, or any event if none is named; the first that works is the best.
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

    /// What the events are opened with.
    pub(crate) fn attr(self) -> Attr {
        // Periods and not frequencies: the kernel lowers its greatest frequency by itself under load,
        // and refuses an event that asks for more.
        let attr = match self.source {
            Source::Cycles => Attr::hardware(Hardware::CPU_CYCLES).with_period(CYCLES),
            Source::CpuClock => Attr::software(Software::CPU_CLOCK).with_period(NANOSECONDS),
        };
        let attr = attr.with_sample_type(FIELDS).with_flags(FLAGS);
        let attr = match self.scope {
            Scope::UserAndKernel => attr,
            Scope::UserOnly => attr.with_flags(NO_KERNEL),
        };
        if self.count_lost { attr.with_read_format(ReadFormat::LOST) } else { attr }
    }

    /// The event and its period in words.
    pub(crate) fn period(self) -> String {
        match self.source {
            Source::Cycles => format!("cycles (hardware), a sample every {CYCLES} cycles"),
            Source::CpuClock => {
                format!("cpu-clock (software), a sample every {} us of CPU time", NANOSECONDS / 1000)
            }
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

/// About 1000 to 2500 samples per second of CPU time on the machines of today.
const CYCLES: u64 = 2_000_000;

const NANOSECONDS: u64 = 1_000_000;

const FIELDS: SampleType = SampleType::IP
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::CALLCHAIN)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD);

/// The event starts in the workload's exec and not before: the demo does not sample itself, and the
/// records of the new program's mappings are complete.
const FLAGS: AttrFlags = AttrFlags::DISABLED
    .union(AttrFlags::ENABLE_ON_EXEC)
    .union(AttrFlags::INHERIT)
    .union(AttrFlags::MMAP)
    .union(AttrFlags::MMAP2)
    .union(AttrFlags::COMM)
    .union(AttrFlags::COMM_EXEC)
    .union(AttrFlags::TASK)
    .union(AttrFlags::SAMPLE_ID_ALL)
    .union(AttrFlags::EXCLUDE_HV);

const NO_KERNEL: AttrFlags = AttrFlags::EXCLUDE_KERNEL.union(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_with_the_kernel_is_tried_first_and_user_clock_last() {
        let ladder = Plan::ladder(None);
        let ends: Vec<_> =
            [ladder.first(), ladder.last()].into_iter().flatten().map(Plan::to_string).collect();
        assert_eq!(ends, ["cycles, user and kernel", "cpu-clock, user space only"]);
    }

    #[test]
    fn a_named_event_has_no_substitute() {
        assert!(Plan::ladder(Some(Source::CpuClock)).iter().all(|plan| plan.source == Source::CpuClock));
        assert_eq!(Plan::ladder(Some(Source::Cycles)).len(), 4);
    }

    #[test]
    fn user_space_only_excludes_the_kernels_frames_too() {
        let plan = Plan { source: Source::Cycles, scope: Scope::UserOnly, count_lost: true };
        assert!(plan.attr().flags.contains(NO_KERNEL | FLAGS));
        assert_eq!(plan.attr().read_format, ReadFormat::LOST);
    }
}
