//! The time of threads off the CPU, in a profile.

use std::io;

use clap::Args;
use perf_abi::AttrFlags;
use perf_decode::{Layout, Record, Sample};
use perf_profile::{Collector, Gaps, OffCpuEvents, StackId, SwitchEvent, Wait, Waits};

use super::{About, Filter, InputOptions};
use crate::message::{count, note};

/// The options that show waits of threads.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OffCpuOptions {
    /// Show how long threads wait, as event offcpu-time, and how long they are runnable without a CPU, as event
    /// runqueue-time, in place of the samples of switches; for recordings of `record --off-cpu`
    #[arg(long)]
    off_cpu: bool,
    /// Continue each stack with the frame `--` and the stack of the waker, from its innermost function to its name; for
    /// recordings of `record --off-cpu --wakers`
    #[arg(long, requires = "off_cpu")]
    wakers: bool,
}

/// The waits of a recording.
pub(super) struct OffCpu {
    waits: Waits<Option<StackId>>,
    events: OffCpuEvents,
    /// By the index of the event in the file.
    switches: Vec<Option<SwitchEvent>>,
    has_wakers: bool,
    /// Whether records were lost.
    has_lost: bool,
    /// Whether the times of all losses are known. In a pipe, which cannot be read twice, each is known too late.
    knows_gaps: bool,
    /// When the recording ended, in ns; 0 if it is unknown.
    end: u64,
}

impl OffCpuOptions {
    /// Returns the event of a view that has one, if the user chooses no other.
    pub(crate) fn event(self) -> Option<&'static str> {
        self.off_cpu.then_some(OffCpuEvents::BLOCKED)
    }

    /// Returns whether waits are shown.
    pub(super) fn is_shown(self) -> bool {
        self.off_cpu
    }

    /// Returns whether the waits are to be computed: not without the option, and if the recorder did it, as the perf
    /// tool does by BPF.
    pub(super) fn computes_waits(self, about: &About) -> bool {
        let is_computed = || about.events().any(|(name, _)| name == OffCpuEvents::BLOCKED);
        self.off_cpu && (self.wakers || !is_computed())
    }

    /// Adds the events to a profile.
    ///
    /// # Errors
    ///
    /// The recording has no switches or no wakeups.
    pub(super) fn start(
        self,
        input: &InputOptions,
        about: &About,
        collector: &mut Collector,
    ) -> io::Result<OffCpu> {
        let tracepoints = about.tracepoints();
        let mut switches: Vec<_> =
            about.events().map(|(_, attr)| SwitchEvent::new(attr, tracepoints.find(attr))).collect();
        let has_records = about.events().any(|(_, attr)| attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
        if !has_records && !switches.iter().flatten().any(SwitchEvent::has_switch_in) {
            return Err(io::Error::other(
                "--off-cpu: the recording has no switches of threads; make it by `perfkit record --off-cpu`",
            ));
        }
        if self.wakers && !switches.iter().flatten().any(SwitchEvent::is_wakeup) {
            return Err(io::Error::other(
                "--wakers: the recording has no wakeups; make it by `perfkit record --off-cpu --wakers`",
            ));
        }
        // One event of each kind: a switch is a sample of all of them.
        let mut known: Vec<SwitchEvent> = Vec::new();
        for switch in &mut switches {
            *switch = switch.filter(|event| !known.iter().any(|known| known.is_same_kind(event)));
            known.extend(*switch);
        }
        let events = collector.off_cpu_events();
        let end = about.sample_time.map_or(0, |time| time.last);
        let gaps = gaps(input)?;
        let knows_gaps = gaps.is_some();
        let waits = Waits::with_gaps(gaps.unwrap_or_default());
        let has_wakers = self.wakers;
        Ok(OffCpu { waits, events, switches, has_wakers, has_lost: false, knows_gaps, end })
    }
}

/// Reads the times in which records were lost, which are known only after the records that they concern. `None` for a
/// pipe, which cannot be read twice.
fn gaps(input: &InputOptions) -> io::Result<Option<Gaps>> {
    let path = input.path();
    if !(path.is_file() || path.is_dir()) {
        return Ok(None);
    }
    let (_, mut records) = input.open()?.in_file_order();
    let mut gaps = Gaps::new();
    while let Some(record) = records.next() {
        // Damage is reported by the pass that reads the samples.
        if record.kernel().is_some()
            && let Ok(decoded) = record.decode()
        {
            gaps.note(&decoded);
        }
    }
    Ok(Some(gaps))
}

impl OffCpu {
    /// Applies a record, after the collector had it.
    pub(super) fn update<L: Layout>(
        &mut self,
        record: &Record<'_, L>,
        collector: &mut Collector,
        filter: &Filter,
    ) {
        self.has_lost |= matches!(record, Record::Lost(_) | Record::LostSamples(_));
        if let Some(wait) = self.waits.update(record) {
            self.add(&wait, collector, filter);
        }
    }

    /// Takes a sample of an event of the file that is a switch or a wakeup. Returns whether it is.
    pub(super) fn take<L: Layout>(
        &mut self,
        index: usize,
        sample: &Sample<'_, L>,
        collector: &mut Collector,
        filter: &Filter,
    ) -> bool {
        let Some(event) = self.switches.get(index).copied().flatten() else { return false };
        // Filters choose waiters, not wakers.
        let is_wanted =
            if event.is_switch() { filter.by_object(collector.spaces(), sample) } else { self.has_wakers };
        let stack = || if is_wanted { collector.stack(sample) } else { None };
        if let Some(wait) = self.waits.add(&event, sample, stack) {
            self.add(&wait, collector, filter);
        }
        true
    }

    /// Adds the waits that have not ended. Returns for each event of the file whether its samples were taken.
    pub(super) fn finish(mut self, collector: &mut Collector, filter: &Filter) -> Vec<bool> {
        let waits = std::mem::take(&mut self.waits);
        collector.add_broken_waits(waits.broken());
        if self.has_lost && !self.knows_gaps {
            note(
                "waits may be too long, because records were lost: a file, not a pipe, has the times of losses",
            );
        }
        let mut unfinished = 0;
        for wait in waits.finish(self.end) {
            unfinished += u64::from(self.add(&wait, collector, filter));
        }
        if unfinished > 0 {
            let had = count(unfinished, "wait");
            note(format_args!("{had} had not ended with the recording: counted up to its end"));
        }
        self.switches.iter().map(Option::is_some).collect()
    }

    /// Adds a wait if it is wanted. Returns whether it is.
    fn add(&self, wait: &Wait<Option<StackId>>, collector: &mut Collector, filter: &Filter) -> bool {
        let is_wanted = filter.by_time(wait.start)
            && filter.by_ids(Some(wait.pid), Some(wait.tid), wait.cpu)
            && filter.by_thread(collector.spaces(), wait.tid)
            && (wait.waiter.is_some() || !filter.needs_dso());
        if is_wanted {
            collector.add_wait(self.events, wait, self.has_wakers);
        }
        is_wanted
    }
}
