//! The thread that reads the rings, and makes a profile of each interval.
//!
//! It waits only for records. Another thread looks names up, and a third thread prints tables.

use std::ffi::CString;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use perf_abi::CpuMode;
use perf_decode::{Layout, LostCounts, Record, SampleLayout};
use perf_profile::{Collector, Event, EventCollector, PendingProfile, ProfileBuilder, Split};
use perf_record::synthesize::Synthesizer;
use perf_session::ring::{WaitResult, Waker};
use perf_session::{EventSet, EventSetError, System};

use super::Options;
use crate::measure::events::set_filters;
use crate::measure::failure::Failure;
use crate::measure::{bpf_programs, running};
use crate::out::message::note;
use crate::report::sort::{SortKey, columns};

/// The samples of an interval.
#[derive(Debug)]
pub(super) struct Interval {
    pub(super) profile: PendingProfile,
    pub(super) numbers: Numbers,
    /// Whether the reader has ended.
    pub(super) is_last: bool,
    /// Counts the intervals on the way to the table, by the number of clones.
    _on_the_way: Arc<()>,
}

/// The numbers of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Numbers {
    /// Length in seconds.
    pub(super) seconds: f64,
    pub(super) samples: u64,
    /// Samples in the kernel.
    pub(super) kernel_samples: u64,
    /// Records that did not fit into a ring, and samples of an unknown event.
    pub(super) lost: LostCounts,
    /// The same since the start.
    pub(super) lost_in_all: LostCounts,
    /// Samples since the start that are in no table, because the output is too slow for them.
    pub(super) skipped: u64,
}

/// Maximum number of intervals that wait for their table. The samples of further intervals are
/// skipped.
const MAX_ON_THE_WAY: usize = 4;

/// Records of different CPUs are sorted after this time, so the rings are read at this interval.
const SORT_DELAY: Duration = Duration::from_millis(200);

/// Reads rings until all observed tasks have exited, or until it is stopped.
#[derive(Debug)]
pub(super) struct Reader {
    set: EventSet,
    tally: Tally,
    lost: LostCounts,
    skipped: u64,
    on_the_way: Arc<()>,
    follows_cpus: bool,
    /// The filter of each logical event, for CPUs that come online.
    filters: Vec<Option<CString>>,
}

/// The consumer of records.
#[derive(Debug)]
struct Tally {
    /// The events of the user, by the index of the logical event.
    events: EventCollector,
    hidden: Option<CpuMode>,
    samples: u64,
    kernel_samples: u64,
    /// Records that cannot be decoded, and samples of an unknown event.
    dropped: u64,
}

/// Why a reader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Stopped,
    /// The observed tasks have exited.
    Exited,
}

impl Reader {
    /// Sets the filters and starts the events of a set, of which the user chose the first `wanted`,
    /// and reads what runs already.
    pub(super) fn start(
        mut set: EventSet,
        wanted: usize,
        filters: Vec<Option<CString>>,
        options: &Options,
    ) -> io::Result<Self> {
        set_filters(&set, &filters)?;
        let resolver = running::resolver(options.sort.contains(&SortKey::SRCLINE))?;
        let collector = Collector::new(resolver.without_waiting(), ProfileBuilder::new());
        let collector = collector.with_split(Split::for_columns(&columns(&options.sort)));
        let mut events = EventCollector::new(collector);
        for (index, name) in set.names().iter().take(wanted).enumerate() {
            let open = set.events().find(|event| event.index == index);
            let attr = open.map(|open| *open.event.attr()).unwrap_or_default();
            events.add_event(attr, Some(Event::new(&**name, &attr)));
        }
        let hidden = match (options.hide_kernel, options.hide_user) {
            (true, _) => Some(CpuMode::KERNEL),
            (_, true) => Some(CpuMode::USER),
            _ => None,
        };
        let mut tally = Tally { events, hidden, samples: 0, kernel_samples: 0, dropped: 0 };
        tally.learn_ids(&set)?;
        set.set_sort_delay(SORT_DELAY.min(options.delay / 2)).map_err(io::Error::other)?;
        set.enable().map_err(io::Error::other)?;
        // After `enable`, so that no process is missed.
        tally.add_running(&set, options)?;
        let on_the_way = Arc::new(());
        let follows_cpus = options.target.is_on_cpus();
        Ok(Self { set, tally, lost: LostCounts::default(), skipped: 0, on_the_way, follows_cpus, filters })
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
                    let refreshed =
                        self.set.refresh_with(|set| set_filters(set, filters).map_err(Failure::from))?;
                    if !refreshed.opened.is_empty() {
                        self.tally.learn_ids(&self.set)?;
                    }
                }
            }
            if readiness.is_final() {
                // All CPUs are offline, and may return.
                std::thread::sleep(SORT_DELAY);
            }
        }
    }

    /// Sends the samples of an interval. Returns whether the receiver still exists.
    fn send(
        &mut self,
        elapsed: Duration,
        is_last: bool,
        intervals: &Sender<Interval>,
    ) -> Result<bool, EventSetError> {
        let mut lost_in_all = self.set.losses()?.lost();
        lost_in_all += LostCounts::new(self.tally.dropped, 0);
        let lost = lost_in_all.since(std::mem::replace(&mut self.lost, lost_in_all));
        if !lost.is_empty() {
            running::forget_dead(self.tally.events.collector_mut());
        }
        let samples = std::mem::take(&mut self.tally.samples);
        let profile = self.tally.events.collector_mut().take();
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
    /// Reads the ids of the open events.
    fn learn_ids(&mut self, set: &EventSet) -> io::Result<()> {
        for open in set.events() {
            self.events.add_ids(open.index, [open.event.id().map_err(io::Error::other)?]);
        }
        Ok(())
    }

    /// Adds records of the running processes that can be sampled.
    fn add_running(&mut self, set: &EventSet, options: &Options) -> io::Result<()> {
        let system = System::new();
        let Some(attr) = set.events().last().map(|event| *event.event.attr()) else { return Ok(()) };
        let layout = SampleLayout::new(&attr);
        let mut synthesizer = Synthesizer::new(&system, &attr);
        if options.needs_cgroups()
            && let Err(error) = synthesizer.cgroups()
        {
            note(format_args!("control groups have no names: {error}"));
        }
        let has_kernel = !set.is_user_only();
        let is_of_tasks = !options.target.is_on_cpus();
        let processes = is_of_tasks.then(|| set.observed_tasks(&system).processes());
        let missing = synthesizer.running(processes.as_ref(), has_kernel, bpf_programs::loaded)?;
        missing.iter().for_each(note);
        for record in synthesizer.records().records().flatten() {
            self.add(record.decode(&layout).as_ref().ok(), None);
        }
        Ok(())
    }

    /// Adds a record, with the index of its logical event.
    fn add<L: Layout>(&mut self, record: Option<&Record<'_, L>>, index: Option<usize>) {
        let Some(record) = record else {
            self.dropped += 1;
            return;
        };
        let Self { events, hidden, samples, kernel_samples, .. } = self;
        // The kernel may write a foreign id into the samples of a software event. If several events
        // of the ring are possible, the event is unknown.
        self.dropped += events.add(record, index, |sample| {
            let mode = sample.misc().cpu_mode();
            let is_shown = *hidden != Some(mode);
            *samples += u64::from(is_shown);
            *kernel_samples += u64::from(is_shown && mode == CpuMode::KERNEL);
            is_shown
        });
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::Architecture;
    use perf_abi::{Attr, AttrFlags, ReadFormat, SampleType, Software};
    use perf_decode::testing::builder::{ReadValue, ReadValues, SampleBuilder};
    use perf_decode::{RawRecord, SampleLayout};
    use perf_profile::Resolver;
    use perf_symbols::FileFinder;

    use super::*;

    /// The ids of the leader, of the member, and of an unknown event.
    const IDS: [u64; 3] = [11, 12, 99];

    fn attr() -> Attr {
        let fields = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::READ;
        let attr = Attr::software(Software::PAGE_FAULTS).with_sample_type(fields);
        attr.with_read_format(ReadFormat::GROUP | ReadFormat::ID).with_flags(AttrFlags::INHERIT)
    }

    fn tally() -> Tally {
        let resolver = Resolver::new(Architecture::X86_64, FileFinder::local()).unwrap();
        let mut events = EventCollector::new(Collector::new(resolver, ProfileBuilder::new()));
        for (name, id) in ["leader", "member"].into_iter().zip(IDS) {
            let index = events.add_event(attr(), Some(Event::new(name, &attr())));
            events.add_ids(index, [id]);
        }
        Tally { events, hidden: None, samples: 0, kernel_samples: 0, dropped: 0 }
    }

    /// Adds a sample of the leader with the counts of ids.
    fn add(tally: &mut Tally, index: Option<usize>, counts: [u64; 3]) {
        let values =
            IDS.into_iter().zip(counts).map(|(id, value)| ReadValue { value, id, lost: 0 }).collect();
        let read = ReadValues { values, ..ReadValues::default() };
        let words = SampleBuilder::new(&attr()).identifier(IDS[0]).ip(1).tid(1, 1).read(read).finish();
        let layout = SampleLayout::new(&attr());
        let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
        tally.add(Some(&record), index);
    }

    #[test]
    fn members_of_a_group_have_what_they_counted_since_the_last_sample() {
        let mut tally = tally();
        add(&mut tally, Some(0), [10, 3, 0]);
        add(&mut tally, Some(0), [30, 4, 5]);
        let profile = tally.events.collector_mut().take().wait();
        let totals: Vec<_> = profile.event_ids().map(|(id, _)| profile.total(id)).collect();
        assert_eq!((totals, tally.samples, tally.dropped), (vec![30, 4], 2, 1));
    }

    #[test]
    fn sample_that_several_events_may_have_written_is_lost() {
        let mut tally = tally();
        add(&mut tally, None, [10, 3, 0]);
        // The event of side-band records.
        add(&mut tally, Some(2), [10, 3, 0]);
        assert_eq!((tally.samples, tally.dropped), (0, 1));
    }
}
