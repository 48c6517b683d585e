//! Adds waits to a profile as samples.

use super::{Wait, WaitReason};
use crate::collect::Collector;
use crate::profile::{Event, EventId, Frame, Function, LocationId, Sample, StackId, StringId};

/// The events of a profile that count the time of threads off the CPU, in ns. Their sum is the
/// whole time, except for the first waits of new threads if wakeups are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffCpuEvents {
    /// [`BLOCKED`](Self::BLOCKED): the time until threads were woken. If wakeups are unknown, the
    /// time until they ran again.
    pub blocked: EventId,
    /// [`RUNNABLE`](Self::RUNNABLE): the time of runnable threads without a CPU. If wakeups are
    /// unknown, [`PREEMPTED`](Self::PREEMPTED), the known part of it.
    pub runnable: EventId,
    /// True if wakeups are known.
    has_wakeups: bool,
}

impl OffCpuEvents {
    /// Name of the event of [`Wait::blocked`], as in the perf tool.
    pub const BLOCKED: &'static str = "offcpu-time";
    /// Name of the event of [`Wait::runnable`].
    pub const RUNNABLE: &'static str = "runqueue-time";
    /// Name of the event of threads that were preempted, or yielded, if wakeups are not known.
    pub const PREEMPTED: &'static str = "preempted-time";

    /// Returns the names of the blocked and the runnable event.
    pub const fn names(has_wakeups: bool) -> [&'static str; 2] {
        [Self::BLOCKED, if has_wakeups { Self::RUNNABLE } else { Self::PREEMPTED }]
    }
}

/// The frame between the stacks of a thread and its waker, as in bcc's `offwaketime`.
const SEPARATOR: &str = "--";

/// The frame of a thread that waits for its first run.
const NEW: &str = "[new thread]";

impl Collector {
    /// Adds the events of [`add_wait`](Self::add_wait).
    ///
    /// Set `has_wakeups` if the wakeups of all threads were recorded, by any means. Without them,
    /// it is unknown how long a woken thread waited for a CPU, and the second event is named after
    /// the known part.
    pub fn off_cpu_events(&mut self, has_wakeups: bool) -> OffCpuEvents {
        let names = OffCpuEvents::names(has_wakeups);
        let [blocked, runnable] = names.map(|name| self.event(Event::spans(name)));
        OffCpuEvents { blocked, runnable, has_wakeups }
    }

    /// Adds a wait, with the [stacks](Self::stack) of its thread and its waker, at its start time:
    /// one sample for each event that it has time for.
    ///
    /// With `has_wakers`, the stack of a woken thread continues with a frame `--`, the stack of its
    /// waker from the innermost frame to the outermost, and the name of the waker, so that a flame
    /// graph shows the waker above the stack that it woke.
    pub fn add_wait(&mut self, events: OffCpuEvents, wait: &Wait<Option<StackId>>, has_wakers: bool) {
        let is_new = wait.reason == WaitReason::New;
        if is_new && !events.has_wakeups {
            return;
        }
        let thread = self.thread(wait.pid, wait.tid);
        let (mut blocked, mut runnable) = (wait.blocked(), wait.runnable());
        if !events.has_wakeups && !wait.is_runnable() {
            // Only some wakeups are known, so that the time cannot be split.
            (blocked, runnable) = (wait.duration(), 0);
        }
        let is_split = wait.is_runnable() || wait.wakeup.is_some() || !wait.is_finished;
        self.losses.waits_without_wakeup += u64::from(events.has_wakeups && !is_split);
        self.losses.waits_without_stack += u64::from(!is_new && wait.waiter.is_none());
        let waiter = if is_new { self.stack_of_label(NEW) } else { wait.waiter };
        let with_waker = if has_wakers && blocked > 0 { self.stack_with_waker(wait) } else { waiter };
        let parts = [
            (events.blocked, with_waker, wait.start, blocked),
            (events.runnable, waiter, wait.start.saturating_add(blocked), runnable),
        ];
        for (event, stack, start, value) in parts.into_iter().filter(|&(.., value)| value > 0) {
            let time = Some(start);
            let thread = self.part_of(thread, wait.cpu, time);
            self.builder.add(Sample { event, thread, stack, value, count: 1, time, cpu: wait.cpu });
        }
    }

    /// Adds waits with an unknown end to the [losses](crate::Losses::broken_waits) of the profile.
    pub fn add_broken_waits(&mut self, count: u64) {
        self.losses.broken_waits = self.losses.broken_waits.saturating_add(count);
    }

    fn stack_with_waker(&mut self, wait: &Wait<Option<StackId>>) -> Option<StackId> {
        let Some(waker) = wait.wakeup.as_ref().and_then(|wakeup| wakeup.waker.as_ref()) else {
            return wait.waiter;
        };
        let thread = self.thread(waker.pid, waker.tid);
        let name = self.builder.thread_name(thread);
        let separator = self.resolver.locations_mut().intern(SEPARATOR);
        let separator = self.label(separator);
        let mut locations: Vec<_> = self.builder.stack_locations(waker.data).collect();
        locations.extend(name.map(|name| self.label(name)));
        locations.reverse();
        locations.push(separator);
        locations.extend(self.builder.stack_locations(wait.waiter));
        self.builder.stack(&locations)
    }

    /// Returns a stack of one frame that is a label, not a function.
    fn stack_of_label(&mut self, name: &str) -> Option<StackId> {
        let name = self.resolver.locations_mut().intern(name);
        let label = self.label(name);
        self.builder.stack(&[label])
    }

    /// Returns the location of a frame that is a label, not a function.
    pub(in crate::collect) fn label(&mut self, name: StringId) -> LocationId {
        if let Some(&location) = self.labels.get(&name) {
            return location;
        }
        let locations = self.resolver.locations_mut();
        let function = locations.add_function(Function { name, file: None });
        let location = locations.add(None, 0);
        locations.set_frames(location, [Frame { function, line: 0, column: 0 }]);
        self.labels.insert(name, location);
        location
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::Architecture;
    use perf_symbols::FileFinder;

    use super::*;
    use crate::Losses;
    use crate::collect::{Resolver, Waker, Wakeup};
    use crate::format::Folded;
    use crate::profile::ProfileBuilder;

    /// Returns a location with a function of this name.
    fn location(collector: &mut Collector, name: &str) -> LocationId {
        let name = collector.resolver.locations_mut().intern(name);
        collector.label(name)
    }

    /// Returns the folded stacks of both events and the losses, for a wait from 100 to 150 with a
    /// wakeup at 130.
    fn folded(reason: WaitReason, has_wakers: bool, has_wakeups: bool) -> ([String; 2], Losses) {
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let events = collector.off_cpu_events(has_wakeups);
        let stack = |collector: &mut Collector, names: [&str; 2]| {
            let locations = names.map(|name| location(collector, name));
            collector.builder.stack(&locations)
        };
        let waiter = stack(&mut collector, ["futex", "main"]);
        let waker = stack(&mut collector, ["wake", "start"]);
        let wakeup = Some(Wakeup { time: 130, waker: Some(Waker { pid: 7, tid: 0, data: waker }) });
        let wait = Wait {
            pid: 7,
            tid: 7,
            cpu: None,
            start: 100,
            end: 150,
            reason,
            waiter,
            wakeup,
            is_finished: true,
        };
        collector.add_wait(events, &wait, has_wakers);
        let profile = collector.finish();
        let texts = [events.blocked, events.runnable].map(|event| {
            let mut text = Vec::new();
            Folded::new(event).write(&profile, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        });
        (texts, profile.losses().clone())
    }

    #[test]
    fn waker_is_above_what_it_woke_and_the_time_after_that_has_no_waker() {
        let folded = |reason, has_wakers| folded(reason, has_wakers, true).0;
        let blocked = WaitReason::Blocked;
        assert_eq!(folded(blocked, false), [":7;main;futex 30\n", ":7;main;futex 20\n"]);
        assert_eq!(folded(blocked, true), [":7;main;futex;--;wake;start;swapper 30\n", ":7;main;futex 20\n"]);
        assert_eq!(folded(WaitReason::Runnable, true), ["", ":7;main;futex 50\n"]);
        assert_eq!(folded(WaitReason::New, true), ["", ":7;[new thread] 50\n"]);
    }

    #[test]
    fn time_after_a_wakeup_is_known_only_if_all_wakeups_are() {
        let folded = |reason| folded(reason, true, false).0;
        let expected = [":7;main;futex;--;wake;start;swapper 50\n", ""];
        assert_eq!(folded(WaitReason::Blocked), expected);
        assert_eq!(folded(WaitReason::Runnable), ["", ":7;main;futex 50\n"]);
        assert_eq!(folded(WaitReason::New), ["", ""]);
        assert_eq!(OffCpuEvents::names(false), ["offcpu-time", "preempted-time"]);
    }

    #[test]
    fn waits_without_a_stack_or_a_wakeup_are_counted() {
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let events = collector.off_cpu_events(true);
        let wait = |reason, is_finished| {
            let (pid, tid, cpu, waiter, wakeup) = (7, 7, None, None, None);
            Wait { pid, tid, cpu, start: 1, end: 9, reason, waiter, wakeup, is_finished }
        };
        let blocked = WaitReason::Blocked;
        for wait in [
            wait(blocked, true),
            wait(blocked, false),
            wait(WaitReason::Runnable, true),
            wait(WaitReason::New, true),
        ] {
            collector.add_wait(events, &wait, false);
        }
        let losses = collector.finish().losses().clone();
        assert_eq!((losses.waits_without_wakeup, losses.waits_without_stack), (1, 3));
    }
}
