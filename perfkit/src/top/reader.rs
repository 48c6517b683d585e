//! The thread that reads the rings, and makes a profile of each interval.
//!
//! It waits for nothing but records: names are looked up by another thread, and tables are printed by a third one.

use std::error::Error;
use std::ffi::CString;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use perf_abi::CpuMode;
use perf_decode::{Layout, Record, Sample, SampleLayout};
use perf_profile::{Collector, Event, EventId, PendingProfile, ProfileBuilder};
use perf_session::sys::{WaitResult, Waker};
use perf_session::{EventSet, EventSetError, System, synthesize::Synthesizer};

use super::Options;
use crate::events::set_filters;
use crate::live;
use crate::message::note;
use crate::report::sort::SortKey;

/// The samples of an interval.
#[derive(Debug)]
pub(super) struct Interval {
    pub(super) profile: PendingProfile,
    pub(super) numbers: Numbers,
    /// Whether the reader has ended.
    pub(super) is_last: bool,
    /// One of those that are on the way to the table.
    _on_the_way: Arc<()>,
}

/// The numbers of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Numbers {
    /// Length in seconds.
    pub(super) seconds: f64,
    pub(super) samples: u64,
    /// Those in the kernel.
    pub(super) kernel_samples: u64,
    /// Records that did not fit into a ring.
    pub(super) lost: u64,
    /// The same since the start.
    pub(super) lost_in_all: u64,
    /// Samples since the start that are in no table, because the output is too slow for them.
    pub(super) skipped: u64,
}

/// Intervals that wait for their table: when there are more, their samples are skipped.
const MAX_ON_THE_WAY: usize = 4;

/// The order of records of different CPUs is final after this time, so that the rings are read as often.
const SORT_DELAY: Duration = Duration::from_millis(200);

/// Reads rings until all observed tasks have exited, or until it is stopped.
#[derive(Debug)]
pub(super) struct Reader {
    set: EventSet,
    tally: Tally,
    lost: u64,
    skipped: u64,
    on_the_way: Arc<()>,
    follows_cpus: bool,
    /// The filter of each logical event, for CPUs that come online.
    filters: Vec<Option<CString>>,
}

/// The consumer of records.
#[derive(Debug)]
struct Tally {
    collector: Collector,
    /// By the index of the logical event.
    events: Vec<EventId>,
    hidden: Option<CpuMode>,
    samples: u64,
    kernel_samples: u64,
    /// Records that cannot be decoded.
    malformed: u64,
}

/// The reason why a reader failed.
pub(super) type Failure = Box<dyn Error + Send + Sync>;

/// Why a reader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Stopped,
    /// The observed tasks have exited.
    Exited,
}

impl Reader {
    /// Sets the filters and starts the events of a set, of which the first `wanted` are those of the user, and reads what runs
    /// already.
    pub(super) fn start(
        mut set: EventSet,
        wanted: usize,
        filters: Vec<Option<CString>>,
        options: &Options,
    ) -> io::Result<Self> {
        set_filters(&set, &filters)?;
        let resolver = live::resolver(options.sort.contains(&SortKey::Srcline))?;
        let mut collector = Collector::new(resolver.without_waiting(), ProfileBuilder::new());
        let names = set.names().iter().take(wanted).enumerate();
        let attr_of =
            |index| set.events().find(|event| event.index == index).map(|event| *event.event.attr());
        let events = names
            .map(|(index, name)| collector.event(Event::new(&**name, &attr_of(index).unwrap_or_default())));
        let events = events.collect();
        let hidden = match (options.hide_kernel, options.hide_user) {
            (true, _) => Some(CpuMode::KERNEL),
            (_, true) => Some(CpuMode::USER),
            _ => None,
        };
        let mut tally = Tally { collector, events, hidden, samples: 0, kernel_samples: 0, malformed: 0 };
        set.set_sort_delay(SORT_DELAY.min(options.delay / 2)).map_err(io::Error::other)?;
        set.enable().map_err(io::Error::other)?;
        // After `enable`, so that no process is missed.
        tally.add_running(&set, options)?;
        let on_the_way = Arc::new(());
        let follows_cpus = options.target.is_on_cpus();
        Ok(Self { set, tally, lost: 0, skipped: 0, on_the_way, follows_cpus, filters })
    }

    /// Sends an interval each `delay`, and a last one.
    pub(super) fn run(
        mut self,
        delay: Duration,
        stop: &Waker,
        intervals: &Sender<Interval>,
    ) -> Result<End, Failure> {
        let mut start = Instant::now();
        loop {
            let left = delay.saturating_sub(start.elapsed());
            let readiness = self.set.wait_or_woken(Some(left), stop)?;
            let tally = &mut self.tally;
            self.set.drain_sorted(|record| tally.add(record.decode().as_ref().ok(), record.index()))?;
            let end = match readiness {
                WaitResult::Woken => Some(End::Stopped),
                _ if readiness.is_final() && !self.follows_cpus => Some(End::Exited),
                _ => None,
            };
            if end.is_some() {
                self.set.disable()?;
                let tally = &mut self.tally;
                self.set.flush_sorted(|record| tally.add(record.decode().as_ref().ok(), record.index()))?;
            }
            if end.is_some() || start.elapsed() >= delay {
                let is_received = self.send(start.elapsed(), end.is_some(), intervals)?;
                start = Instant::now();
                if let Some(end) = end {
                    return Ok(end);
                }
                // The output was closed.
                if !is_received {
                    return Ok(End::Stopped);
                }
                if self.follows_cpus {
                    let filters = &self.filters;
                    self.set.refresh_with(|set| set_filters(set, filters).map_err(Failure::from))?;
                }
            }
            if readiness.is_final() {
                // All CPUs are offline, and may return.
                std::thread::sleep(SORT_DELAY);
            }
        }
    }

    /// Sends the samples of an interval. Returns whether there is somebody to receive them.
    fn send(
        &mut self,
        elapsed: Duration,
        is_last: bool,
        intervals: &Sender<Interval>,
    ) -> Result<bool, EventSetError> {
        let lost_in_all = self.set.losses()?.dropped() + self.tally.malformed;
        let lost = lost_in_all - std::mem::replace(&mut self.lost, lost_in_all);
        if lost > 0 {
            live::forget_dead(&mut self.tally.collector);
        }
        let samples = std::mem::take(&mut self.tally.samples);
        let profile = self.tally.collector.take();
        if Arc::strong_count(&self.on_the_way) > MAX_ON_THE_WAY {
            self.skipped += samples;
            self.tally.kernel_samples = 0;
            return Ok(true);
        }
        let numbers = Numbers {
            seconds: elapsed.as_secs_f64(),
            samples,
            kernel_samples: std::mem::take(&mut self.tally.kernel_samples),
            lost,
            lost_in_all,
            skipped: self.skipped,
        };
        let on_the_way = Arc::clone(&self.on_the_way);
        let sent = intervals.send(Interval { profile, numbers, is_last, _on_the_way: on_the_way });
        Ok(sent.is_ok())
    }
}

impl Tally {
    /// Adds the records of what runs already, as far as it can be sampled.
    fn add_running(&mut self, set: &EventSet, options: &Options) -> io::Result<()> {
        let system = System::new();
        let Some(attr) = set.events().last().map(|event| *event.event.attr()) else { return Ok(()) };
        let layout = SampleLayout::new(&attr);
        let mut synthesizer = Synthesizer::new(&system, &attr);
        let has_kernel = !set.is_user_only();
        let is_of_tasks = !options.target.is_on_cpus();
        let processes = is_of_tasks.then(|| set.observed_tasks(&system).processes());
        let notes = live::add_running(&mut synthesizer, processes.as_ref(), has_kernel)?;
        notes.iter().for_each(note);
        for record in synthesizer.records().records().flatten() {
            self.add(record.decode(&layout).as_ref().ok(), None);
        }
        Ok(())
    }

    /// Adds a record, with the index of its logical event.
    fn add<L: Layout>(&mut self, record: Option<&Record<'_, L>>, index: Option<usize>) {
        let Some(record) = record else {
            self.malformed += 1;
            return;
        };
        self.collector.update(record);
        if let Record::Sample(sample) = record {
            self.add_sample(sample, index);
        }
    }

    fn add_sample<L: Layout>(&mut self, sample: &Sample<'_, L>, index: Option<usize>) {
        // The kernel may write a foreign id into the samples of a software event.
        let Some(&event) = self.events.get(index.unwrap_or(0)) else { return };
        let mode = sample.misc().cpu_mode();
        if self.hidden == Some(mode) {
            return;
        }
        self.samples += 1;
        self.kernel_samples += u64::from(mode == CpuMode::KERNEL);
        self.collector.add(event, sample);
    }
}
