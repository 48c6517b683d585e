//! Events whose samples are context switches and wakeups.

use perf_abi::{Attr, EventType, SampleType, Sampling, Software};
use perf_tracepoint::{Format, IntegerField};

use super::WaitReason;

/// An event whose samples [`Waits::add`](super::Waits::add) understands.
///
/// | event | provides |
/// |---|---|
/// | `context-switches` with period 1 | the stack of a thread that leaves the CPU |
/// | `sched:sched_switch` | the same, its state, and the thread that runs next |
/// | `sched:sched_wakeup` | when a thread is woken: the kernel counts its wait for a CPU from then on |
/// | `sched:sched_waking` | when the waker starts to wake it, some µs before; with callchains the waker with its stack |
///
/// A tracepoint of a task only has hits of the task: where it leaves the CPU, but not where it runs
/// again, and whom it wakes, but not who wakes it. On all CPUs, it has everything. So
/// `sched_wakeup` on all CPUs has the time of all wakeups, and `sched_waking` with callchains for
/// some tasks adds the wakers among them.
///
/// `sched:sched_wakeup` does not identify wakers, because the CPU of the woken thread may write it,
/// where another thread runs.
#[derive(Clone, Copy, Debug)]
pub struct SwitchEvent(pub(super) Kind);

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    ContextSwitches,
    SchedSwitch { prev_state: IntegerField, next_pid: IntegerField },
    SchedWaking { pid: IntegerField, has_waker: bool },
    SchedWakeup { pid: IntegerField },
}

impl SwitchEvent {
    /// Returns the switch event of an attr, with the format for a tracepoint; `None` for any other
    /// event.
    pub fn new(attr: &Attr, format: Option<&Format<'_>>) -> Option<Self> {
        let each = Sampling::Period(1);
        if attr.kind == EventType::SOFTWARE && attr.config == Software::CONTEXT_SWITCHES.0 {
            return (attr.sampling() == each).then_some(Self(Kind::ContextSwitches));
        }
        let format = format.filter(|_| attr.kind == EventType::TRACEPOINT && attr.sampling() == each)?;
        let field = |name| format.integer(name).ok();
        let kind = match format.name {
            "sched_switch" => {
                Kind::SchedSwitch { prev_state: field("prev_state")?, next_pid: field("next_pid")? }
            }
            "sched_waking" => {
                let has_waker = attr.sample_type.intersects(SampleType::CALLCHAIN | SampleType::STACK_USER);
                Kind::SchedWaking { pid: field("pid")?, has_waker }
            }
            "sched_wakeup" => Kind::SchedWakeup { pid: field("pid")? },
            _ => return None,
        };
        Some(Self(kind))
    }

    /// Returns true if both events have a sample at the same switch or wakeup. Pass the samples of
    /// only one event to [`Waits`](super::Waits).
    pub fn is_same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.0) == std::mem::discriminant(&other.0)
    }

    /// Returns true if its samples are switches, not wakeups.
    pub fn is_switch(&self) -> bool {
        !self.is_wakeup()
    }

    /// Returns true if its samples are wakeups.
    pub fn is_wakeup(&self) -> bool {
        matches!(self.0, Kind::SchedWaking { .. } | Kind::SchedWakeup { .. })
    }

    /// Returns true if its samples have wakers with their stacks.
    pub fn has_wakers(&self) -> bool {
        matches!(self.0, Kind::SchedWaking { has_waker: true, .. })
    }

    /// Returns true if its samples show where threads switch in, as records of the attr flag
    /// `context_switch` do.
    pub fn has_switch_in(&self) -> bool {
        matches!(self.0, Kind::SchedSwitch { .. })
    }
}

/// Returns the reason in the field `prev_state` of `sched:sched_switch`; `None` for a thread that
/// exits.
pub(super) fn reason(prev_state: u64) -> Option<WaitReason> {
    // The bits below 0x100 are states; the one above them marks a preempted, runnable thread.
    match prev_state & 0xff {
        0 => Some(WaitReason::Runnable),
        state if state & 0x30 != 0 => None,
        state if state & 1 != 0 => Some(WaitReason::Interruptible),
        state if state & 2 != 0 => Some(WaitReason::Uninterruptible),
        _ => Some(WaitReason::Blocked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_the_one_that_the_tracepoint_prints() {
        let reasons = [
            (0, Some(WaitReason::Runnable)),
            (0x100, Some(WaitReason::Runnable)),
            (1, Some(WaitReason::Interruptible)),
            (2, Some(WaitReason::Uninterruptible)),
            (4, Some(WaitReason::Blocked)),
            (0x80, Some(WaitReason::Blocked)),
            (0x10, None),
            (0x20, None),
        ];
        for (state, expected) in reasons {
            assert_eq!(reason(state), expected, "{state:#x}");
        }
    }

    #[test]
    fn only_events_that_sample_each_switch_are_understood() {
        let switches = Attr::software(Software::CONTEXT_SWITCHES);
        assert!(SwitchEvent::new(&switches.with_period(1), None).is_some_and(|event| event.is_switch()));
        assert!(SwitchEvent::new(&switches.with_period(2), None).is_none());
        assert!(SwitchEvent::new(&switches.with_frequency(1), None).is_none());
        assert!(SwitchEvent::new(&Attr::software(Software::CPU_CLOCK).with_period(1), None).is_none());
        let text = "name: sched_waking\nID: 7\nformat:\n\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n";
        let format = Format::parse(text).unwrap();
        let attr = Attr::default()
            .with(|attr| {
                attr.kind = EventType::TRACEPOINT;
                attr.config = 7;
            })
            .with_period(1);
        let event = SwitchEvent::new(&attr, Some(&format)).unwrap();
        assert!(event.is_wakeup() && !event.has_wakers());
        assert!(SwitchEvent::new(&attr, None).is_none());
        let with_stack = attr.with_sample_type(SampleType::CALLCHAIN);
        let with_stack = SwitchEvent::new(&with_stack, Some(&format)).unwrap();
        assert!(with_stack.has_wakers() && with_stack.is_same_kind(&event));
        // The CPU of the woken thread may write it.
        let text = text.replace("sched_waking", "sched_wakeup");
        let attr = attr.with_sample_type(SampleType::CALLCHAIN);
        let wakeup = SwitchEvent::new(&attr, Some(&Format::parse(&text).unwrap())).unwrap();
        assert!(wakeup.is_wakeup() && !wakeup.has_wakers() && !wakeup.is_same_kind(&event));
    }
}
