//! How `record` and `top` sample: the default event, the rate, and the callers.

use std::num::NonZeroU64;

use perf_session::ring::abi::StackSize;
use perf_session::ring::abi::regs::Architecture;
use perf_session::ring::{Attr, AttrFlags, BranchSampleType, Errno, Event, SampleType, Software, Target};
use perf_session::{CpuEvent, EventGroup, EventSpec, NamedEvent, System, cpu_event};

use super::events::NamedGroup;

/// Samples per second if neither a frequency nor a period is given, as in the perf tool.
pub(crate) const FREQUENCY: u64 = 4000;

/// Nanoseconds between two samples of cpu-clock that replaces cycles with a period.
const CLOCK_PERIOD: u64 = 1_000_000;

/// The distance of samples.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rate {
    /// Samples per second.
    Frequency(u64),
    /// Events between two samples.
    Period(u64),
}

/// The value of `-F`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frequency {
    Of(u64),
    Max,
}

/// Returns the distance of the samples of an event by the options `-F` and `-c`. A frequency above
/// `limit` is lowered to it.
pub(crate) fn rate(
    frequency: Option<Frequency>,
    period: Option<NonZeroU64>,
    is_tracepoint: bool,
    limit: u64,
) -> Rate {
    match (frequency, period) {
        (Some(Frequency::Of(frequency)), _) => Rate::Frequency(frequency.min(limit)),
        (Some(Frequency::Max), _) => Rate::Frequency(limit),
        (None, Some(period)) => Rate::Period(period.get()),
        (None, None) if is_tracepoint => Rate::Period(1),
        (None, None) => Rate::Frequency(FREQUENCY.min(limit)),
    }
}

pub(crate) fn frequency(text: &str) -> Result<Frequency, String> {
    match text.parse() {
        _ if text == "max" => Ok(Frequency::Max),
        Ok(0) | Err(_) => Err("expected samples per second, a number from 1, or `max`".to_owned()),
        Ok(frequency) => Ok(Frequency::Of(frequency)),
    }
}

pub(crate) fn period(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| "expected the events between two samples, a number from 1".to_owned())
}

/// Returns the highest frequency that the kernel accepts now. It lowers this limit itself when
/// samples take too much time.
pub(crate) fn frequency_limit(system: &System) -> u64 {
    let limit = system.sysctl("kernel.perf_event_max_sample_rate").ok();
    limit.and_then(|text| text.parse().ok()).unwrap_or(u64::MAX)
}

/// Returns the name of the event that is recorded if the user names none and, if it is not cycles,
/// the cause.
pub(crate) fn default_event() -> (&'static str, Option<String>) {
    // The test is for user space, which every user may record, and so shows whether the machine has
    // the event.
    let attr = Attr::default().with_period(CLOCK_PERIOD).with_flags(AttrFlags::EXCLUDE_KERNEL);
    let opened = cpu_event(&attr, CLOCK_PERIOD, |attr| Event::open(attr, Target::calling_thread()));
    if opened.as_ref().is_ok_and(CpuEvent::is_cycles) {
        return ("cycles", None);
    }
    // The set reports the event if it cannot be opened either.
    let errno = opened.ok().and_then(|opened| opened.refused).and_then(|error| error.errno());
    let cause = match errno {
        Some(Errno::ENOENT | Errno::EOPNOTSUPP) => "this machine has no hardware PMU".to_owned(),
        errno => errno.map_or("not available".to_owned(), |errno| format!("{errno:?}")),
    };
    ("cpu-clock", Some(cause))
}

/// An event that never fires, for side-band records.
pub(crate) fn dummy() -> NamedGroup {
    let event = NamedEvent::from(EventSpec::new(Attr::software(Software::DUMMY)));
    EventGroup::from(event).into()
}

/// Returns an attr that samples at a rate unless its event has a period itself, with the fields
/// that all events have in common.
pub(crate) fn sampled(attr: Attr, rate: Rate, common: &Attr) -> Attr {
    let attr = match rate {
        _ if attr.sample_period != 0 => attr,
        Rate::Frequency(frequency) => attr.with_frequency(frequency),
        Rate::Period(period) => attr.with_period(period),
    };
    let mut attr = attr;
    attr.clockid = common.clockid;
    attr.sample_regs_user = common.sample_regs_user;
    attr.sample_stack_user = common.sample_stack_user;
    attr.with_sample_type(common.sample_type).with_flags(common.flags)
}

/// How the callers of a sample are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallGraph {
    /// The kernel follows the frame pointers.
    FramePointers,
    /// The kernel follows the frame pointers when the thread returns to user space, once for all of
    /// its samples since, and can read pages that are not in memory then. Since Linux 6.19.
    DeferredFramePointers,
    /// A part of the user stack, for a tool that unwinds it by debug information. `asked` has the
    /// bytes that the user asked for, of which `size` is the next multiple of 8.
    Stack { size: StackSize, asked: u32 },
    /// The call stack that the hardware keeps.
    BranchStack,
}

/// The branches of [`CallGraph::BranchStack`]: calls in user space that have not returned, without
/// what profiles do not show.
pub(crate) const CALL_STACK: BranchSampleType = BranchSampleType::USER
    .union(BranchSampleType::CALL_STACK)
    .union(BranchSampleType::NO_FLAGS)
    .union(BranchSampleType::NO_CYCLES);

impl CallGraph {
    /// Returns an attr with the fields of each sample that have the callers, apart from the branch
    /// stack, which the kernel refuses for events without samples.
    pub(crate) fn apply(self, attr: Attr) -> Attr {
        let attr = attr.with_sample_type(SampleType::CALLCHAIN);
        match self {
            // The stack has the callers in user space, so the callchain has only the callers in the
            // kernel.
            Self::Stack { size, .. } => attr
                .with_flags(AttrFlags::EXCLUDE_CALLCHAIN_USER)
                .with_regs_user(Architecture::NATIVE.registers())
                .with_stack_user(size),
            Self::DeferredFramePointers => {
                attr.with_flags(AttrFlags::DEFER_CALLCHAIN | AttrFlags::DEFER_OUTPUT)
            }
            Self::FramePointers | Self::BranchStack => attr,
        }
    }
}

/// Parses the value of `--call-graph`.
pub(crate) fn call_graph(text: &str) -> Result<CallGraph, String> {
    let default = StackSize::DEFAULT;
    match text.split_once(',').unwrap_or((text, "")) {
        ("fp", "") => Ok(CallGraph::FramePointers),
        ("fp", "defer") => Ok(CallGraph::DeferredFramePointers),
        ("lbr", "") => Ok(CallGraph::BranchStack),
        ("dwarf", "") => Ok(CallGraph::Stack { size: default, asked: default.bytes() }),
        ("dwarf", bytes) => {
            let asked = number(bytes);
            let size = asked.and_then(|bytes| StackSize::new(bytes.checked_next_multiple_of(8)?));
            let most = StackSize::MAX.bytes();
            size.zip(asked)
                .map(|(size, asked)| CallGraph::Stack { size, asked })
                .ok_or(format!("expected 8 to {most} bytes of the stack after `dwarf,`"))
        }
        _ => Err("expected `fp`, `fp,defer`, `dwarf`, `dwarf,BYTES` or `lbr`".to_owned()),
    }
}

/// Parses a decimal number, or a hexadecimal one after `0x`.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callchains_are_those_of_frame_pointers_stacks_or_hardware() {
        let stack = |asked, bytes| Ok(CallGraph::Stack { size: StackSize::new(bytes).unwrap(), asked });
        assert_eq!(call_graph("fp"), Ok(CallGraph::FramePointers));
        assert_eq!(call_graph("fp,defer"), Ok(CallGraph::DeferredFramePointers));
        assert_eq!(call_graph("lbr"), Ok(CallGraph::BranchStack));
        assert_eq!(call_graph("dwarf"), stack(8192, 8192));
        assert_eq!(call_graph("dwarf,64000"), stack(64000, 64000));
        assert_eq!(call_graph("dwarf,4090"), stack(4090, 4096));
        assert_eq!(call_graph("dwarf,0x1000"), stack(4096, 4096));
        assert_eq!(call_graph("dwarf,65528"), stack(65528, 65528));
        for text in ["dwarf,x", "dwarf,0", "dwarf,65529", "dwarf,4294967295", "fp,8", "lbr,8", "no", ""] {
            assert!(call_graph(text).is_err(), "{text}");
        }
    }

    #[test]
    fn frequency_is_a_number_or_the_maximum() {
        assert_eq!(frequency("max"), Ok(Frequency::Max));
        assert_eq!(frequency("99"), Ok(Frequency::Of(99)));
        for text in ["0", "x", "-1", ""] {
            assert!(frequency(text).unwrap_err().contains("samples per second"), "{text}");
        }
    }
}
