//! Waits as samples of a profile.

use super::Wait;
use crate::collect::Collector;
use crate::profile::{Event, EventId, Frame, Function, LocationId, Sample, StackId, StringId};

/// The events of a profile that have the time of threads off the CPU, in ns. Their sum is the whole time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffCpuEvents {
    /// [`BLOCKED`](Self::BLOCKED): how long threads waited until they were woken.
    pub blocked: EventId,
    /// [`RUNNABLE`](Self::RUNNABLE): how long they were preempted, or woken and without a CPU.
    pub runnable: EventId,
}

impl OffCpuEvents {
    /// Name of the event of [`Wait::blocked`], as the perf tool has it.
    pub const BLOCKED: &'static str = "offcpu-time";
    /// Name of the event of [`Wait::runnable`].
    pub const RUNNABLE: &'static str = "runqueue-time";
}

/// The frame between the stacks of a waiter and its waker, as `offwaketime` of bcc has it.
const SEPARATOR: &str = "--";

impl Collector {
    /// Adds the events of [`add_wait`](Self::add_wait).
    pub fn off_cpu_events(&mut self) -> OffCpuEvents {
        let [blocked, runnable] =
            [OffCpuEvents::BLOCKED, OffCpuEvents::RUNNABLE].map(|name| self.event(Event::spans(name)));
        OffCpuEvents { blocked, runnable }
    }

    /// Adds a wait with the [stacks](Self::stack) of its thread and its waker, at the time of its start: a sample of each
    /// event that it has time of.
    ///
    /// With `has_wakers`, the stack of a thread that was woken continues with a frame `--`, the stack of its waker
    /// from the innermost frame to the outermost, and the name of the waker, so that a flame graph has the waker above
    /// what it woke.
    pub fn add_wait(&mut self, events: OffCpuEvents, wait: &Wait<Option<StackId>>, has_wakers: bool) {
        let thread = self.thread(wait.pid, wait.tid);
        let (blocked, runnable) = (wait.blocked(), wait.runnable());
        let with_waker = if has_wakers && blocked > 0 { self.stack_with_waker(wait) } else { wait.waiter };
        let parts = [
            (events.blocked, with_waker, wait.start, blocked),
            (events.runnable, wait.waiter, wait.start.saturating_add(blocked), runnable),
        ];
        for (event, stack, start, value) in parts.into_iter().filter(|&(.., value)| value > 0) {
            let time = Some(start);
            self.builder.add(Sample { event, thread, stack, value, count: 1, time, cpu: wait.cpu });
        }
    }

    /// Counts waits with an unknown end among the [losses](crate::Losses::broken_waits) of the profile.
    pub fn add_broken_waits(&mut self, count: u64) {
        self.losses.broken_waits = self.losses.broken_waits.saturating_add(count);
    }

    fn stack_with_waker(&mut self, wait: &Wait<Option<StackId>>) -> Option<StackId> {
        let Some(wakeup) = &wait.wakeup else { return wait.waiter };
        let waker = self.thread(wakeup.pid, wakeup.tid);
        let name = self.builder.thread_name(waker);
        let separator = self.resolver.locations_mut().intern(SEPARATOR);
        let separator = self.label(separator);
        let mut locations: Vec<_> = self.builder.stack_locations(wakeup.waker).collect();
        locations.extend(name.map(|name| self.label(name)));
        locations.reverse();
        locations.push(separator);
        locations.extend(self.builder.stack_locations(wait.waiter));
        self.builder.stack(&locations)
    }

    /// Returns the location of a frame that is no function.
    fn label(&mut self, name: StringId) -> LocationId {
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
    use crate::collect::{Resolver, WaitReason, Wakeup};
    use crate::format::Folded;
    use crate::profile::ProfileBuilder;

    /// Returns a location with a function of this name.
    fn location(collector: &mut Collector, name: &str) -> LocationId {
        let name = collector.resolver.locations_mut().intern(name);
        collector.label(name)
    }

    fn folded(reason: WaitReason, has_wakers: bool) -> [String; 2] {
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let events = collector.off_cpu_events();
        let stack = |collector: &mut Collector, names: [&str; 2]| {
            let locations = names.map(|name| location(collector, name));
            collector.builder.stack(&locations)
        };
        let waiter = stack(&mut collector, ["futex", "main"]);
        let waker = stack(&mut collector, ["wake", "start"]);
        let wakeup = Some(Wakeup { time: 130, pid: 7, tid: 0, waker });
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
        [events.blocked, events.runnable].map(|event| {
            let mut text = Vec::new();
            Folded::new(event).write(&profile, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        })
    }

    #[test]
    fn waker_is_above_what_it_woke_and_the_time_after_that_has_no_waker() {
        let blocked = WaitReason::Blocked;
        assert_eq!(folded(blocked, false), [":7;main;futex 30\n", ":7;main;futex 20\n"]);
        assert_eq!(folded(blocked, true), [":7;main;futex;--;wake;start;swapper 30\n", ":7;main;futex 20\n"]);
        assert_eq!(folded(WaitReason::Runnable, true), ["", ":7;main;futex 50\n"]);
    }
}
