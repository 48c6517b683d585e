//! Collects samples from records into a profile.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::io;

use perf_abi::MAX_STACK_DEPTH;
use perf_decode::{Layout, LostCounts, Record, Sample};
use perf_symbols::{AddressSpaces, Stack, StackEnd, StackEndReason, UserSource};
use rustc_hash::FxHashMap;

use crate::collect::last_stacks::{ChainEnd, LastStacks, NextStack, Source};
use crate::collect::tabulation::Tabulation;
use crate::collect::{PendingProfile, Resolver, Split};
use crate::profile::{
    self, Event, EventId, LocationId, Losses, Profile, ProfileBuilder, StackId, StringId, Thread, ThreadId,
};
use crate::view::{Column, TableSums};

/// Builds a [`Profile`] from records.
///
/// ```no_run
/// use perf_abi::Attr;
/// use perf_abi::regs::Architecture;
/// use perf_decode::{Layout, Record};
/// use perf_profile::{Collector, Event, Profile, ProfileBuilder, Resolver};
/// use perf_symbols::FileFinder;
///
/// /// Adds up the samples of one event. Records must come in time order.
/// fn collect<'r, L: Layout>(attr: &Attr, records: impl Iterator<Item = Record<'r, L>>) -> std::io::Result<Profile> {
///     let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local())?;
///     let mut collector = Collector::new(resolver, ProfileBuilder::new());
///     let event = collector.event(Event::new("cpu-clock", attr));
///     for record in records {
///         collector.update(&record);
///         if let Record::Sample(sample) = &record {
///             collector.add(event, sample);
///         }
///     }
///     Ok(collector.finish())
/// }
/// ```
pub struct Collector {
    pub(super) resolver: Resolver,
    pub(super) builder: ProfileBuilder,
    /// Replaces the stacks of the builder.
    tabulation: Option<Tabulation>,
    /// Thread with its current name and the control group id of its last sample, by thread id.
    threads: FxHashMap<u32, (Option<u64>, ThreadId)>,
    /// Small cache of recent threads, cleared when a record may change their names.
    last_threads: [Option<(u32, Option<u64>, ThreadId)>; LAST_THREADS],
    last_stacks: LastStacks,
    /// Samples whose user callchain comes in a later record, by cookie.
    deferred: FxHashMap<u64, Vec<Deferred>>,
    /// Number of samples with incomplete stacks, by the text of the reason.
    incomplete: BTreeMap<String, u64>,
    /// The same for reasons that need no text per sample.
    ends: FxHashMap<StackEndReason, u64>,
    /// Locations of frames that are labels, not functions.
    pub(super) labels: FxHashMap<StringId, LocationId>,
    split: Split,
    pub(super) losses: Losses,
    /// Number of late records up to the last profile.
    late_records: u64,
}

/// More than most machines have CPUs, which sample their threads in turn.
const LAST_THREADS: usize = 16;

struct Deferred {
    pid: u32,
    stack: Stack,
    sample: profile::Sample,
}

/// The reason for callchains that [lack a caller](Resolver::with_missing_callers).
const LACKS_CALLER: &str = "the innermost function has no frame pointer, so that its caller is missing; record with --call-graph dwarf";

/// How a stack ends, for counting.
#[derive(Clone, Copy)]
struct EndOf {
    pid: u32,
    end: StackEnd,
    left_out: usize,
    /// Interrupted address in user space, if the stack comes from a callchain.
    innermost: Option<(u64, LocationId)>,
}

impl EndOf {
    fn new(pid: u32, stack: &Stack, locations: &[LocationId], left_out: usize) -> Self {
        let is_callchain = matches!(stack.user_source(), UserSource::Callchain | UserSource::Deferred);
        let innermost = stack.user().first().zip(locations.get(stack.kernel().len()));
        let innermost = innermost.filter(|_| is_callchain);
        let innermost = innermost.map(|(frame, location)| (frame.address, *location));
        Self { pid, end: stack.end(), left_out, innermost }
    }
}

impl Collector {
    /// Creates a collector before its first record. The builder is empty, or has
    /// [times](ProfileBuilder::with_times).
    pub fn new(resolver: Resolver, builder: ProfileBuilder) -> Self {
        Self {
            resolver,
            builder,
            tabulation: None,
            threads: FxHashMap::default(),
            last_threads: Default::default(),
            last_stacks: LastStacks::new(),
            deferred: FxHashMap::default(),
            incomplete: BTreeMap::new(),
            ends: FxHashMap::default(),
            labels: FxHashMap::default(),
            split: Split::default(),
            losses: Losses::default(),
            late_records: 0,
        }
    }

    /// Creates a collector that sums up a table instead of keeping stacks. For recordings of many
    /// different stacks this is faster, and memory only grows with the functions.
    /// [`finish_table`](Self::finish_table) returns the table.
    ///
    /// # Errors
    ///
    /// Returns the error of the system if it cannot start the thread that sums up the table.
    pub fn with_table(resolver: Resolver, columns: &[Column]) -> io::Result<Self> {
        let tabulation = Some(Tabulation::new(columns)?);
        Ok(Self { tabulation, ..Self::new(resolver, ProfileBuilder::new()) })
    }

    /// Splits threads by properties of their samples, for tables and stacks by these.
    #[must_use]
    pub fn with_split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// Adds an event, and returns its id for [`add`](Self::add).
    pub fn event(&mut self, event: Event) -> EventId {
        self.builder.event(event)
    }

    /// Returns the current address spaces, for example to decide whether a sample is wanted.
    pub fn spaces(&self) -> &AddressSpaces {
        self.resolver.spaces()
    }

    /// Returns the address spaces, for adding the build ids of a file.
    pub fn spaces_mut(&mut self) -> &mut AddressSpaces {
        self.resolver.spaces_mut()
    }

    /// Applies a record. Pass all records in time order, and pass the wanted samples to
    /// [`add`](Self::add) next.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        if !matches!(record, Record::Sample(_)) {
            self.last_threads = Default::default();
        }
        match record {
            Record::Comm(comm) if !comm.exec() => drop(self.threads.remove(&comm.tid())),
            // Thread ids can be reused, even without an exit record.
            Record::Comm(_) | Record::Fork(_) | Record::Cgroup(_) => self.threads.clear(),
            Record::Lost(_) | Record::LostSamples(_) => self.losses.lost.note(record),
            Record::CallchainDeferred(chain) => {
                for mut deferred in self.deferred.remove(&chain.cookie()).unwrap_or_default() {
                    deferred.stack.add_deferred(chain);
                    self.add_deferred(deferred);
                }
            }
            _ => {}
        }
        self.resolver.update(record);
    }

    /// Adds a sample of an event, after [`update`](Self::update) was called with it.
    pub fn add<L: Layout>(&mut self, event: EventId, sample: &Sample<'_, L>) {
        let period = || self.builder.get_event(event).map_or(1, |event| event.period);
        let value = sample.period().unwrap_or_else(period);
        self.add_value(event, sample, value);
    }

    /// Adds a sample with `value` instead of its period, for the events of a group in which only
    /// the leader samples ([`LeaderSampling`](crate::LeaderSampling)).
    pub fn add_value<L: Layout>(&mut self, event: EventId, sample: &Sample<'_, L>, value: u64) {
        let pid = sample.pid().unwrap_or(0);
        let (time, cpu) = (sample.time(), sample.cpu());
        let thread = self.thread_of(sample);
        let thread = self.part_of(thread, cpu, time);
        let source = Source { event, thread, pid, time };
        let added = profile::Sample { event, thread, stack: None, value, count: 1, time, cpu };
        // Registers lead to more frames than the callchain has, and recorded calls may.
        let has_more = sample.regs_user().is_some() || sample.branches().is_some();
        let chain = sample.callchain().filter(|_| !has_more);
        let max_stack = self.builder.get_event(event).map_or(MAX_STACK_DEPTH, |event| event.max_stack);
        self.resolver.set_max_stack(max_stack);
        let exact = sample.ip().filter(|_| sample.exact_ip());
        let exact = exact.map(|address| (sample.misc().cpu_mode(), address));
        let next = chain.and_then(|chain| {
            let (next, end) = self.last_stacks.follow(&mut self.resolver, source, &chain, exact)?;
            let ChainEnd { end, left_out, user_len, innermost } = end;
            // The outermost frame comes first.
            let locations = self.last_stacks.locations(next.slot);
            let location = user_len.checked_sub(1).and_then(|at| locations.get(at));
            let innermost = innermost.zip(location.copied());
            Some((next, EndOf { pid, end, left_out, innermost }))
        });
        if let Some((next, end)) = next {
            self.add_next(&added, next, end);
            return;
        }
        let resolved = self.resolver.resolve(sample);
        if let StackEnd::Deferred { cookie } = resolved.stack.end() {
            let stack = resolved.stack.clone();
            self.deferred.entry(cookie).or_default().push(Deferred { pid, stack, sample: added });
        } else {
            let end = EndOf::new(pid, resolved.stack, resolved.locations, resolved.left_out);
            let next = self.last_stacks.replace(source, resolved.locations);
            self.add_next(&added, next, end);
        }
    }

    /// Adds a sample with the stack that was resolved last.
    fn add_next(&mut self, sample: &profile::Sample, next: NextStack, end: EndOf) {
        let locations = self.last_stacks.locations(next.slot);
        if let Some(tabulation) = &mut self.tabulation {
            let locations = locations.get(next.kept..).unwrap_or_default();
            tabulation.add(&mut self.builder, sample, next.slot, next.kept, locations);
        } else {
            let stack = self.builder.stack_of(sample.thread, locations);
            self.builder.add(profile::Sample { stack, ..*sample });
        }
        self.count_end(end);
        if self.tabulation.as_ref().is_some_and(Tabulation::is_full) {
            self.end_part();
        }
    }

    fn end_part(&mut self) {
        if let Some(tabulation) = &mut self.tabulation {
            tabulation.end_part(&mut self.resolver, &mut self.builder);
        }
        self.last_stacks.clear();
    }

    /// Returns the stack of a sample that is not added itself, for a [`Wait`](crate::Wait). Returns
    /// `None` without an address.
    pub fn stack<L: Layout>(&mut self, sample: &Sample<'_, L>) -> Option<StackId> {
        if sample.cgroup().is_some() {
            // The wait needs the control group.
            self.thread_of(sample);
        }
        let resolved = self.resolver.resolve(sample);
        let pid = sample.pid().unwrap_or(0);
        let end = EndOf::new(pid, resolved.stack, resolved.locations, resolved.left_out);
        let stack = self.builder.stack(resolved.locations);
        self.count_end(end);
        stack
    }

    /// Counts records and samples that did not reach the collector: dropped by the program, or by
    /// the kernel without a record.
    pub fn note_lost(&mut self, lost: LostCounts) {
        self.losses.lost += lost;
    }

    fn add_deferred(&mut self, deferred: Deferred) {
        let Deferred { pid, mut stack, sample } = deferred;
        let left_out = self.resolver.leave_out_unmapped(pid, &mut stack);
        let locations = self.resolver.locate(pid, sample.time, &stack);
        let end = EndOf::new(pid, &stack, locations, left_out);
        let source = Source { event: sample.event, thread: sample.thread, pid, time: sample.time };
        let next = self.last_stacks.replace(source, locations);
        self.add_next(&sample, next, end);
    }

    /// Returns the thread of a sample.
    fn thread_of<L: Layout>(&mut self, sample: &Sample<'_, L>) -> ThreadId {
        let (pid, tid, cgroup) = (sample.pid().unwrap_or(0), sample.tid().unwrap_or(0), sample.cgroup());
        let place = tid as usize % LAST_THREADS;
        match self.last_threads.get(place) {
            Some(&Some((last, last_cgroup, thread))) if (last, last_cgroup) == (tid, cgroup) => {
                return thread;
            }
            _ => {}
        }
        let known = self.threads.get(&tid).copied().filter(|&(known, _)| known == cgroup);
        let thread = known.map_or_else(|| self.find_thread(pid, tid, cgroup), |(_, thread)| thread);
        if let Some(last) = self.last_threads.get_mut(place) {
            *last = Some((tid, cgroup, thread));
        }
        thread
    }

    /// Returns the part of a thread to which a CPU and a time belong.
    #[inline]
    pub(super) fn part_of(&mut self, thread: ThreadId, cpu: Option<u32>, time: Option<u64>) -> ThreadId {
        if self.split == Split::default() {
            return thread;
        }
        let whole = self.builder.threads().get(thread.index()).copied();
        let part = whole.and_then(|whole| self.split.part(whole, cpu, time));
        part.map_or(thread, |part| self.builder.add_thread(part))
    }

    /// Returns a thread in the control group of its last sample.
    pub(super) fn thread(&mut self, pid: u32, tid: u32) -> ThreadId {
        let known = self.threads.get(&tid).map(|&(_, thread)| thread);
        known.unwrap_or_else(|| self.find_thread(pid, tid, None))
    }

    fn find_thread(&mut self, pid: u32, tid: u32, cgroup: Option<u64>) -> ThreadId {
        let name =
            self.resolver.spaces().thread_name(tid).map(|name| String::from_utf8_lossy(name).into_owned());
        // The perf tool's names for such threads.
        let name = name.unwrap_or_else(|| {
            if tid == 0 { "swapper".to_owned() } else { format!(":{}", tid.cast_signed()) }
        });
        let name = self.resolver.locations_mut().intern(&name);
        let path = cgroup.and_then(|id| self.resolver.spaces().cgroup(id));
        let path = path.map(|path| String::from_utf8_lossy(path).into_owned());
        let path = path.map(|path| self.resolver.locations_mut().intern(&path));
        let thread = self.builder.add_thread(Thread::new(pid, tid, name).with_cgroup(path));
        self.threads.insert(tid, (cgroup, thread));
        thread
    }

    /// Counts the end of a stack by its reason.
    fn count_end(&mut self, EndOf { pid, end, left_out, innermost }: EndOf) {
        self.losses.left_out_addresses += left_out as u64;
        match end {
            StackEnd::Complete => self.losses.complete_stacks += 1,
            StackEnd::AddressOnly => {}
            StackEnd::Unknown => {
                let lacks_caller = innermost
                    .is_some_and(|(address, location)| self.resolver.lacks_caller(pid, address, location));
                if lacks_caller {
                    self.count_incomplete(LACKS_CALLER);
                } else {
                    self.losses.unverified_stacks += 1;
                }
            }
            StackEnd::NoUnwindInfo { address } => {
                let reason = self.resolver.unwinder_mut().missing_info(pid, address);
                let reason = reason.map_or_else(|| end.reason().to_string(), |reason| reason.to_string());
                self.count_incomplete(&reason);
            }
            _ => {
                if let StackEnd::Truncated { needed } = end {
                    self.losses.needed_stack_bytes = self.losses.needed_stack_bytes.max(needed);
                }
                *self.ends.entry(end.reason()).or_default() += 1;
            }
        }
    }

    fn count_incomplete(&mut self, reason: &str) {
        match self.incomplete.get_mut(reason) {
            Some(count) => *count += 1,
            None => drop(self.incomplete.insert(reason.to_owned(), 1)),
        }
    }

    /// Names all locations, and returns the profile of the samples since the last
    /// [`take`](Self::take). With [a table](Self::with_table), the samples have no stacks.
    pub fn finish(self) -> Profile {
        self.finish_table().0
    }

    /// Finishes like [`finish`](Self::finish), and also returns [the table](Self::with_table). The
    /// samples of its profile are the sums of each event and thread.
    pub fn finish_table(mut self) -> (Profile, Option<TableSums>) {
        let (mut pending, sums) = self.take_all();
        pending.losses.unnamed_samples = sums.as_ref().map_or(0, TableSums::unnamed_samples);
        let missing_files = self.resolver.symbolizer().missing_files();
        pending.losses.missing_files = missing_files.iter().map(ToString::to_string).collect();
        (pending.wait(), sums)
    }

    /// Returns the profile of the samples since the last call, or since the start, without waiting
    /// for names: for a profile per minute, and for a live view.
    ///
    /// The ids of events stay valid. All others start over, so that the memory of a collector that
    /// runs for days is limited to the address spaces of living processes, the names that
    /// [`Symbolizer`](perf_symbols::Symbolizer) caches, and one interval. A sample whose user
    /// callchain is still missing is added without it. [A table](Self::with_table) ends with the
    /// first call; later profiles have stacks.
    ///
    /// [`Losses::missing_files`] is empty, because missing files of earlier intervals are not
    /// searched again.
    ///
    /// ```no_run
    /// use std::time::{Duration, Instant};
    ///
    /// use perf_abi::Attr;
    /// use perf_decode::{Layout, Record};
    /// use perf_profile::{Collector, Event, PendingProfile};
    ///
    /// /// Makes a profile each minute. Records must come in time order.
    /// fn each_minute<'r, L: Layout>(
    ///     mut collector: Collector,
    ///     attr: &Attr,
    ///     records: impl Iterator<Item = Record<'r, L>>,
    ///     mut use_profile: impl FnMut(PendingProfile),
    /// ) {
    ///     let event = collector.event(Event::new("cpu-clock", attr));
    ///     let mut start = Instant::now();
    ///     for record in records {
    ///         collector.update(&record);
    ///         if let Record::Sample(sample) = &record {
    ///             collector.add(event, sample);
    ///         }
    ///         if start.elapsed() >= Duration::from_secs(60) {
    ///             use_profile(collector.take());
    ///             start = Instant::now();
    ///         }
    ///     }
    /// }
    /// ```
    pub fn take(&mut self) -> PendingProfile {
        self.take_all().0
    }

    /// Stops requesting names, so that lookups do not delay a program that is about to end.
    /// Profiles are then [taken](Self::take) with the names found so far. A resolver that waits
    /// still requests all names.
    pub fn stop_naming(&mut self) {
        self.resolver.stop_naming();
    }

    fn take_all(&mut self) -> (PendingProfile, Option<TableSums>) {
        // The records with their user parts were lost, or come after the end.
        let mut rest: Vec<_> = self.deferred.drain().collect();
        rest.sort_unstable_by_key(|(cookie, _)| *cookie);
        for deferred in rest.into_iter().flat_map(|(_, list)| list) {
            self.add_deferred(deferred);
        }
        let tabulation = self.tabulation.take();
        let sums = tabulation.map(|tabulation| tabulation.finish(&mut self.resolver, &mut self.builder));
        let mut losses = std::mem::take(&mut self.losses);
        let ends = self.ends.drain().map(|(end, count)| (end.to_string(), count));
        let incomplete = std::mem::take(&mut self.incomplete).into_iter().chain(ends);
        losses.incomplete_stacks = incomplete.map(|(reason, count)| (count, reason)).collect();
        losses.incomplete_stacks.sort_unstable_by(|a, b| (Reverse(a.0), &a.1).cmp(&(Reverse(b.0), &b.1)));
        let late = self.resolver.spaces().late_records();
        losses.reused_addresses = self.resolver.reused_addresses();
        losses.late_records = late - std::mem::replace(&mut self.late_records, late);
        // Their ids belong to the profile that was taken.
        self.threads.clear();
        self.labels.clear();
        self.last_threads = Default::default();
        self.last_stacks.clear();
        let next = self.builder.with_same_events();
        let builder = std::mem::replace(&mut self.builder, next);
        let (locations, names) = self.resolver.take();
        (PendingProfile { builder, locations, names, losses }, sums)
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("resolver", &self.resolver).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::Architecture;
    use perf_abi::{Attr, AttrFlags, CallchainContext, CpuMode, Misc, RecordType, SampleType, Software};
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
    use perf_decode::{RawRecord, SampleLayout};
    use perf_symbols::FileFinder;

    use super::*;
    use crate::collect::{Wait, WaitReason, Wakeup};

    fn attr() -> Attr {
        let fields = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CALLCHAIN;
        Attr::software(Software::CPU_CLOCK).with_period(10).with_sample_type(fields)
    }

    /// Applies a record, and adds it if it is a sample.
    fn add(collector: &mut Collector, event: EventId, words: &[u64]) {
        let layout = SampleLayout::new(&attr());
        let record = RawRecord::from_words(words).unwrap();
        let record = record.decode(&layout).unwrap();
        collector.update(&record);
        if let Record::Sample(sample) = &record {
            collector.add(event, sample);
        }
    }

    fn sample(time: u64, chain: &[u64]) -> Vec<u64> {
        let sample = SampleBuilder::new(&attr()).misc(Misc::empty().with_cpu_mode(CpuMode::USER));
        sample.tid(7, 7).ip(0x1000).time(time).callchain(chain).finish()
    }

    fn collector() -> (Collector, EventId) {
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let event = collector.event(Event::new("cpu-clock", &attr()));
        (collector, event)
    }

    fn comm(misc: Misc, pid: u32, tid: u32, name: &[u8]) -> Vec<u64> {
        RecordBuilder::new(RecordType::COMM, misc).pair(pid, tid).string(name).finish()
    }

    fn fork(pid: u32, parent: u32) -> Vec<u64> {
        let fork = RecordBuilder::new(RecordType::FORK, Misc::empty());
        fork.pair(pid, parent).pair(pid, parent).words(&[0]).finish()
    }

    #[test]
    fn records_and_samples_that_the_kernel_lost_are_counted() {
        let (mut collector, event) = collector();
        for lost in [3, 4] {
            let records = RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[1, lost]).finish();
            let samples =
                RecordBuilder::new(RecordType::LOST_SAMPLES, Misc::empty()).words(&[10 * lost]).finish();
            add(&mut collector, event, &records);
            add(&mut collector, event, &samples);
        }
        let profile = collector.finish();
        assert_eq!(profile.losses().lost, LostCounts::new(7, 70));
    }

    #[test]
    fn thread_has_the_name_that_it_has_at_the_time_of_the_sample() {
        let (mut collector, event) = collector();
        let sample = |tid| SampleBuilder::new(&attr()).tid(tid, tid).ip(0x1000).time(1).finish();
        for words in [
            comm(Misc::COMM_EXEC, 7, 7, b"shell"),
            sample(7),
            // A thread is renamed, a program is executed, and ids are reused.
            comm(Misc::empty(), 7, 7, b"renamed"),
            sample(7),
            comm(Misc::COMM_EXEC, 7, 7, b"program"),
            sample(7),
            comm(Misc::COMM_EXEC, 8, 8, b"other"),
            sample(8),
            fork(8, 7),
            sample(8),
            sample(7),
        ] {
            add(&mut collector, event, &words);
        }
        let profile = collector.finish();
        let samples = profile.samples().iter();
        let names: Vec<_> =
            samples.map(|sample| (profile.thread_name(sample.thread), sample.count)).collect();
        let expected = [("shell", 1), ("renamed", 1), ("program", 2), ("other", 1), ("program", 1)];
        assert_eq!(names, expected);
    }

    #[test]
    fn name_of_other_threads_is_forgotten_when_their_process_executes_a_program() {
        let (mut collector, event) = collector();
        let sample = |tid| SampleBuilder::new(&attr()).tid(7, tid).ip(0x1000).time(1).finish();
        for words in [
            comm(Misc::empty(), 7, 9, b"worker"),
            sample(9),
            comm(Misc::COMM_EXEC, 7, 7, b"program"),
            // Its id is reused by an unknown thread.
            sample(9),
        ] {
            add(&mut collector, event, &words);
        }
        let profile = collector.finish();
        let names: Vec<_> =
            profile.samples().iter().map(|sample| profile.thread_name(sample.thread)).collect();
        assert_eq!(names, ["worker", ":9"]);
    }

    #[test]
    fn thread_is_another_one_in_another_control_group() {
        let attr = attr().with_sample_type(SampleType::CGROUP);
        let layout = SampleLayout::new(&attr);
        let (mut collector, event) = collector();
        let group = |id, path: &[u8]| {
            RecordBuilder::new(RecordType::CGROUP, Misc::empty()).u64(id).string(path).finish()
        };
        let sample = |cgroup| SampleBuilder::new(&attr).tid(7, 7).ip(0x1000).time(1).cgroup(cgroup).finish();
        for words in [sample(5), group(5, b"/a"), group(6, b"/b"), sample(5), sample(6), sample(5), sample(0)]
        {
            let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
            collector.update(&record);
            if let Record::Sample(sample) = &record {
                collector.add(event, sample);
            }
        }
        let profile = collector.finish();
        let groups: Vec<_> =
            profile.samples().iter().map(|sample| (profile.cgroup(sample.thread), sample.count)).collect();
        assert_eq!(groups, [(None, 2), (Some("/a"), 2), (Some("/b"), 1)]);
        let table = crate::Table::new(&profile, &[Column::Cgroup]).sorted(event, crate::Order::BySelf);
        let rows: Vec<_> =
            table.rows.iter().map(|row| (row.entry.to_string(), row.cost(event).self_count)).collect();
        let expected = [("/a", 2), ("[unknown]", 2), ("/b", 1)].map(|(path, count)| (path.to_owned(), count));
        assert_eq!(rows, expected);
    }

    #[test]
    fn late_records_are_counted_in_the_interval_in_which_they_come() {
        let attr = attr().with_flags(AttrFlags::SAMPLE_ID_ALL);
        let layout = SampleLayout::new(&attr);
        let (mut collector, _) = collector();
        let mut late = Vec::new();
        for times in [&[10, 5, 20, 19][..], &[30], &[29]] {
            for &time in times {
                let values = SampleIdValues { time, ..SampleIdValues::default() };
                let comm = RecordBuilder::new(RecordType::COMM, Misc::empty()).pair(7, 7).string(b"a");
                let words = comm.with_trailer(&attr, &values).finish();
                collector.update(&RawRecord::from_words(&words).unwrap().decode(&layout).unwrap());
            }
            late.push(collector.take().wait().losses().late_records);
        }
        assert_eq!(late, [2, 0, 1]);
    }

    #[test]
    fn samples_with_an_unnamed_address_are_counted_in_profiles_and_tables() {
        for has_table in [false, true] {
            let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
            let mut collector = if has_table {
                Collector::with_table(resolver, &[Column::Comm]).unwrap()
            } else {
                Collector::new(resolver, ProfileBuilder::new())
            };
            let event = collector.event(Event::new("cpu-clock", &attr()));
            // The name of a kernel symbol needs no file.
            let symbol = RecordBuilder::new(RecordType::KSYMBOL, Misc::empty());
            let symbol =
                symbol.words(&[0xffff_ffff_c000_0000]).u32s(&[0x1000]).u16s(&[1, 0]).string(b"bpf_prog");
            add(&mut collector, event, &symbol.finish());
            let [kernel, user] = [CallchainContext::KERNEL.0, CallchainContext::USER.0];
            let named = [kernel, 0xffff_ffff_c000_0010, 0xffff_ffff_c000_0020];
            for chain in
                [&named[..], &[&named[..], &[user, 0x1000]].concat(), &[user, 0x1000, 0x2000], &named]
            {
                add(&mut collector, event, &sample(1, chain));
            }
            let (profile, _) = collector.finish_table();
            assert_eq!(profile.losses().unnamed_samples, 2, "{has_table}: {:?}", profile.losses());
        }
    }

    #[test]
    fn bytes_that_the_stacks_need_are_those_of_the_largest() {
        let (mut collector, _) = collector();
        for needed in [100, 9000, 500] {
            let end = StackEnd::Truncated { needed };
            collector.count_end(EndOf { pid: 7, end, left_out: 0, innermost: None });
        }
        let profile = collector.finish();
        assert_eq!(profile.losses().needed_stack_bytes, 9000);
        assert_eq!(
            profile.losses().incomplete_stacks,
            [(3, "the copy of the stack is too short".to_owned())]
        );
    }

    #[test]
    fn time_without_a_cpu_starts_at_the_wakeup() {
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut collector = Collector::new(resolver, ProfileBuilder::new().with_times());
        let events = collector.off_cpu_events(true);
        let (reason, wakeup) = (WaitReason::Blocked, Some(Wakeup { time: 130, waker: None }));
        let (pid, tid, cpu, start, end, waiter, is_finished) = (7, 7, Some(1), 100, 150, None, true);
        let wait = Wait { pid, tid, cpu, start, end, reason, waiter, wakeup, is_finished };
        collector.add_wait(events, &wait, false);
        let profile = collector.finish();
        let samples = profile.samples().iter().map(|sample| (sample.event, sample.time, sample.value));
        let expected = [(events.blocked, Some(100), 30), (events.runnable, Some(130), 20)];
        assert_eq!(samples.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn callchain_has_the_module_that_is_loaded_at_the_time_of_the_sample() {
        const MODULE: u64 = 0xffff_ffff_c000_0000;
        let (mut collector, event) = collector();
        let chain = [CallchainContext::KERNEL.0, MODULE + 8, MODULE + 16, CallchainContext::USER.0, 0x1000];
        for module in [b"[one]", b"[two]"] {
            let mmap = RecordBuilder::new(RecordType::MMAP, Misc::empty().with_cpu_mode(CpuMode::KERNEL));
            let mmap = mmap.pair(u32::MAX, 0).words(&[MODULE, 0x1000, 0]).string(module).finish();
            add(&mut collector, event, &mmap);
            add(&mut collector, event, &sample(1, &chain));
        }
        let profile = collector.finish();
        let innermost = |sample: &profile::Sample| profile.stack(sample.stack).next().unwrap();
        let innermost = profile.samples().iter().map(innermost);
        let objects: Vec<_> = innermost.map(|location| profile.locations().object_path(location)).collect();
        assert_eq!(objects, ["[one]", "[two]"]);
    }

    #[test]
    fn precise_sample_counts_for_its_address_and_its_callers() {
        let (mut collector, event) = collector();
        let [kernel, user] = [CallchainContext::KERNEL.0, CallchainContext::USER.0];
        for chain in
            [&[user, 0x1010, 0x2000][..], &[user, 0x1020, 0x2000], &[kernel, !0xfff, user, 0x1010, 0x2000]]
        {
            let sample = SampleBuilder::new(&attr()).misc(Misc::EXACT_IP.with_cpu_mode(CpuMode::USER));
            add(&mut collector, event, &sample.tid(7, 7).ip(0x1000).time(1).callchain(chain).finish());
        }
        let profile = collector.finish();
        let addresses = |stack| profile.stack(stack).map(|id| profile.locations().get(id).address);
        let stacks: Vec<_> = profile
            .samples()
            .iter()
            .map(|sample| (sample.count, addresses(sample.stack).collect()))
            .collect();
        assert_eq!(stacks, [(3, vec![0x1000, 0x1fff])]);
    }

    #[test]
    fn profiles_of_periods_have_each_sample_once_and_names_of_before() {
        let (mut collector, event) = collector();
        let comm = RecordBuilder::new(RecordType::COMM, Misc::COMM_EXEC).pair(7, 7).string(b"sort").finish();
        add(&mut collector, event, &comm);
        let user = CallchainContext::USER.0;
        for round in 1..4_u64 {
            for time in 0..round {
                add(&mut collector, event, &sample(10 * round + time, &[user, 0x1000, 0x2000]));
            }
            add(&mut collector, event, &sample(10 * round + 9, &[user, 0x1000, 0x3000]));
            collector.note_lost(LostCounts::new(0, round));
            let profile = collector.take().wait();
            let counts: Vec<u64> = profile.samples().iter().map(|sample| sample.count).collect();
            assert_eq!(counts, [round, 1]);
            assert_eq!(profile.total(event), 10 * (round + 1));
            assert_eq!(profile.thread_name(profile.samples()[0].thread), "sort");
            assert_eq!(profile.stack(profile.samples()[0].stack).count(), 2);
            assert_eq!(profile.locations().as_slice().len(), 3);
            let losses = profile.losses();
            assert_eq!(losses.lost, LostCounts::new(0, round));
            // Each profile counts each of the three addresses once: earlier counts are not
            // repeated.
            assert_eq!(losses.unnamed_addresses.iter().map(|(count, _)| count).sum::<u64>(), 3);
        }
        let rest = collector.finish();
        assert!(rest.samples().is_empty() && rest.losses().is_empty(), "{:?}", rest.losses());
    }

    #[test]
    fn ends_of_stacks_are_counted_by_reason() {
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let event = collector.event(Event::new("cpu-clock", &attr()));
        // Its callchains are cut off at four addresses.
        let short = collector.event(Event::new("cpu-clock", &attr().with_max_stack(4)));
        let mmap = RecordBuilder::new(RecordType::MMAP, Misc::empty().with_cpu_mode(CpuMode::USER));
        let mmap = mmap.pair(7, 7).words(&[0x1000, 0x1000, 0]).string(b"/no/such/file").finish();
        add(&mut collector, event, &mmap);
        let [kernel, user] = [CallchainContext::KERNEL, CallchainContext::USER].map(|marker| marker.0);
        let chains: [(EventId, &[u64]); 9] = [
            (event, &[user, 0x1000, 0x1100]),
            (event, &[kernel, 0x10]),
            (event, &[user, 0x1000, 0x5000, 0x6000]),
            (event, &[kernel, 0x10, user, 0x1000, 0x5000]),
            (event, &[user, 0x1000, 0x1100, 0x1100, 0x1100]),
            (short, &[user, 0x1000, 0x1100, 0x1100, 0x1100]),
            (short, &[user, 0x1000, 0x5000, 0x5000, 0x5000]),
            (short, &[user, 0x1000, 0x1100]),
            (event, &[]),
        ];
        for (event, chain) in chains {
            add(&mut collector, event, &sample(1, chain));
        }
        let profile = collector.finish();
        let losses = profile.losses();
        let reason = |end: StackEnd| end.reason().to_string();
        let expected = [
            (2, reason(StackEnd::NoFramePointer)),
            (1, reason(StackEnd::Limit { max_stack: 4 })),
            (1, reason(StackEnd::FramePointerLoop)),
        ];
        assert_eq!(losses.incomplete_stacks, expected);
        assert_eq!((losses.complete_stacks, losses.unverified_stacks), (0, 4));
        assert_eq!(losses.left_out_addresses, 2 + 1 + 3);
        // Addresses that were left out are not locations, whose names would be missing.
        assert!(losses.unnamed_addresses.iter().all(|(_, reason)| !reason.contains("nothing was mapped")));
        let longest = profile.samples().iter().map(|sample| profile.stack(sample.stack).count()).max();
        assert_eq!(longest, Some(4));
    }
}
