//! A profile whose names are looked up in the background.

use std::fmt;
use std::time::Instant;

use perf_symbols::{NameCounts, Query, Symbolizer, Symbols, Unnamed};

use super::resolver::Requested;
use crate::profile::{LocationId, Locations, Losses, Profile, ProfileBuilder};

/// A profile whose functions are not named yet: returned by
/// [`Collector::take`](crate::Collector::take).
///
/// It can move to another thread, which waits for the names while the collector continues.
#[must_use]
pub struct PendingProfile {
    pub(super) builder: ProfileBuilder,
    pub(super) locations: Locations,
    pub(super) names: PendingNames,
    pub(super) losses: Losses,
}

/// The requested names of locations, and the queries that were not sent yet.
pub(crate) struct PendingNames {
    pub(crate) requested: Requested,
    pub(crate) unasked: Vec<(LocationId, Query)>,
    pub(crate) symbolizer: Symbolizer,
}

/// Number of locations to name at once.
const BATCH: usize = 256;

impl PendingNames {
    /// Requests the remaining names.
    fn ask(&mut self) {
        for batch in std::mem::take(&mut self.unasked).chunks(BATCH) {
            let (ids, queries) = batch.iter().cloned().unzip();
            self.requested.push_back((ids, self.symbolizer.request(queries)));
        }
    }
}

impl PendingProfile {
    /// Waits for the names, and returns the profile.
    pub fn wait(mut self) -> Profile {
        self.names.ask();
        while let Some((ids, request)) = self.names.requested.pop_front() {
            set_names(&mut self.locations, ids, request.wait());
        }
        finish(self.builder, self.locations, self.losses)
    }

    /// Waits for the names until `end`. Returns whether all are complete.
    pub fn wait_until(&mut self, end: Instant) -> bool {
        self.names.ask();
        while let Some((ids, request)) = self.names.requested.pop_front() {
            match request.wait_until(end) {
                Ok(named) => set_names(&mut self.locations, ids, named),
                Err(request) => {
                    self.names.requested.push_front((ids, request));
                    return false;
                }
            }
        }
        true
    }

    /// Returns the profile with the names found so far by [`wait_until`](Self::wait_until). The
    /// remaining addresses are no longer looked up, so they have neither a function nor a reason.
    pub fn so_far(self) -> Profile {
        finish(self.builder, self.locations, self.losses)
    }

    /// Returns the number of addresses whose names are pending.
    pub fn waiting(&self) -> usize {
        let requested: usize = self.names.requested.iter().map(|(ids, _)| ids.len()).sum();
        requested + self.names.unasked.len()
    }

    /// Returns the profile without its names, and these.
    pub(crate) fn into_parts(self) -> (Profile, PendingNames) {
        (finish(self.builder, self.locations, self.losses), self.names)
    }
}

fn set_names(locations: &mut Locations, ids: Vec<LocationId>, named: Vec<Result<Symbols, Unnamed>>) {
    for (id, symbols) in ids.into_iter().zip(named) {
        locations.set_symbols(id, &symbols);
    }
}

fn finish(mut builder: ProfileBuilder, locations: Locations, mut losses: Losses) -> Profile {
    let mut counts = NameCounts::default();
    for reason in locations.as_slice().iter().filter_map(|location| location.unnamed) {
        *counts.unnamed.entry(reason).or_default() += 1;
    }
    for reason in locations.as_slice().iter().filter_map(|location| location.no_lines) {
        *counts.without_lines.entry(reason).or_default() += 1;
    }
    losses.unnamed_addresses = counts.reasons();
    losses.addresses_without_lines = counts.line_reasons();
    let is_unnamed = |location| locations.get(location).unnamed.is_some();
    losses.unnamed_samples = losses.unnamed_samples.saturating_add(builder.count_samples(is_unnamed));
    builder.losses(losses);
    builder.finish(locations)
}

impl fmt::Debug for PendingProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingProfile").field("losses", &self.losses).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver};
    use std::time::{Duration, Instant};

    use perf_abi::regs::Architecture;
    use perf_abi::{Attr, AttrFlags, CpuMode, Misc, RecordType, SampleType, Software};
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
    use perf_decode::{RawRecord, Record, SampleLayout};
    use perf_symbols::{FileFinder, FileSymbols, Function, Symbolizer, Symbols, Unwinder};

    use crate::{Collector, Event, EventId, Profile, ProfileBuilder, Resolver};

    fn add(collector: &mut Collector, attr: &Attr, event: EventId, words: &[u64]) {
        let layout = SampleLayout::new(attr);
        let record = RawRecord::from_words(words).unwrap().decode(&layout).unwrap();
        collector.update(&record);
        if let Record::Sample(sample) = &record {
            collector.add(event, sample);
        }
    }

    #[test]
    fn each_interval_has_its_samples_and_what_earlier_records_named() {
        let fields = SampleType::IP | SampleType::TID | SampleType::PERIOD;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields);
        let attr = attr.with_flags(AttrFlags::SAMPLE_ID_ALL);
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap().without_waiting();
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let event = collector.event(Event::new("cpu-clock", &attr));
        let user = Misc::empty().with_cpu_mode(CpuMode::USER);
        let trailer = SampleIdValues::default();
        let comm = RecordBuilder::new(RecordType::COMM, user).pair(7, 7).string(b"sort");
        add(&mut collector, &attr, event, &comm.with_trailer(&attr, &trailer).finish());
        let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(7, 7).words(&[0x1000, 0x1000, 0]);
        let mmap = mmap.string(b"/nonexistent/sort");
        add(&mut collector, &attr, event, &mmap.with_trailer(&attr, &trailer).finish());
        for (ip, value) in [(0x1010, 5), (0x1010, 7), (0x9000, 11)] {
            let sample = SampleBuilder::new(&attr).misc(user).tid(7, 7).ip(ip).period(value).finish();
            add(&mut collector, &attr, event, &sample);
            let profile = collector.take().wait();
            assert_eq!((profile.samples().len(), profile.total(event)), (1, value));
            let sample = profile.samples()[0];
            assert_eq!(profile.thread_name(sample.thread), "sort");
            assert_eq!(profile.locations().as_slice().len(), 1);
            let location = profile.stack(sample.stack).next().unwrap();
            let expected = if ip == 0x1010 { "/nonexistent/sort" } else { crate::UNKNOWN };
            assert_eq!(profile.locations().object_path(location), expected);
            assert_eq!(profile.losses().unnamed_addresses.len(), 1, "{:?}", profile.losses());
        }
        let rest = collector.finish();
        assert_eq!((rest.samples().len(), rest.events().len()), (0, 1));
        assert_eq!(rest.losses().missing_files.len(), 1);
    }

    /// Names each address when it is permitted to.
    struct Late(Receiver<()>);

    impl FileSymbols for Late {
        fn symbolize(&mut self, _: u64) -> Option<Symbols> {
            self.0.recv().ok()?;
            Some(Symbols::new([Function { name: "late".into(), source: None }], 0))
        }
    }

    #[test]
    fn profile_is_there_with_and_without_its_names() {
        let fields = SampleType::IP | SampleType::TID;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields);
        let (permit, permitted) = mpsc::channel();
        let finder = FileFinder::local();
        let mut late = Some(Late(permitted));
        let open = move |_| Ok(Box::new(late.take().unwrap()) as Box<dyn FileSymbols>);
        let symbolizer = Symbolizer::with_file_symbols(finder.clone(), open).unwrap();
        let resolver = Resolver::with_symbolizer(Unwinder::new(Architecture::NATIVE, finder), symbolizer);
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let event = collector.event(Event::new("cpu-clock", &attr));
        let user = Misc::empty().with_cpu_mode(CpuMode::USER);
        let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(7, 7).words(&[0x10_0000, 0x1000, 0]);
        let program = std::env::current_exe().unwrap();
        add(&mut collector, &attr, event, &mmap.string(program.as_os_str().as_encoded_bytes()).finish());
        let sample = SampleBuilder::new(&attr).misc(user).tid(7, 7).ip(0x10_0040).finish();
        add(&mut collector, &attr, event, &sample);

        let mut pending = collector.take();
        let name = |profile: &Profile| {
            let location = profile.stack(profile.samples()[0].stack).next().unwrap();
            let frame = profile.locations().frames(location).first().copied();
            frame.map(|frame| profile.locations().function_name(frame.function).to_owned())
        };
        assert!(!pending.wait_until(Instant::now()));
        assert_eq!(pending.waiting(), 1);
        assert_eq!(name(&pending.so_far()), None);

        add(&mut collector, &attr, event, &sample);
        let mut pending = collector.take();
        permit.send(()).unwrap();
        permit.send(()).unwrap();
        assert!(pending.wait_until(Instant::now() + Duration::from_secs(60)));
        assert_eq!(pending.waiting(), 0);
        assert_eq!(name(&pending.so_far()), Some("late".to_owned()));
    }

    #[test]
    fn collector_asks_for_no_names_once_it_was_stopped() {
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP | SampleType::TID);
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap().without_waiting();
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let event = collector.event(Event::new("cpu-clock", &attr));
        let user = Misc::empty().with_cpu_mode(CpuMode::USER);
        for is_stopped in [false, true] {
            if is_stopped {
                collector.stop_naming();
            }
            for ip in 0..1000 {
                let sample = SampleBuilder::new(&attr).misc(user).tid(7, 7).ip(0x1000 + ip).finish();
                add(&mut collector, &attr, event, &sample);
            }
            let mut pending = collector.take();
            assert_eq!((pending.waiting(), pending.names.unasked.len() == 1000), (1000, is_stopped));
            assert!(pending.wait_until(Instant::now() + Duration::from_secs(60)));
            assert_eq!((pending.waiting(), pending.so_far().losses().unnamed_addresses.len()), (0, 1));
        }
    }
}
