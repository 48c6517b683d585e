//! Sums compared with a naive model, and the order in which names are requested.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use perf_abi::regs::Architecture;
use perf_abi::{Attr, CpuMode, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_symbols::{ElfError, FileFinder, FileSymbols, Symbolizer, Symbols, Unwinder};
use proptest::prelude::*;

use super::*;
use crate::profile::{Event, Frame, Function, Locations, Object, ProfileBuilder, UNKNOWN};
use crate::{Collector, Resolver};

/// A sample: event, process, thread, stack of addresses in two objects, and value.
type Added = (usize, u32, u32, Vec<u64>, u64);
/// The key of a sum: event, process, thread, functions from the innermost one.
type Key = (usize, u32, u32, Vec<String>);

/// Returns the name of the function at an address: each has two addresses, and one address has no
/// function.
fn function(address: u64) -> Option<String> {
    (address < 6).then(|| format!("f{}", address / 2))
}

fn text(address: u64) -> String {
    format!("{}@{}", function(address).unwrap_or_default(), address % 2)
}

fn interval(added: &[Added]) -> Profile {
    let mut locations = Locations::new();
    let objects = ["/a", "/b"].map(|path| {
        let path = locations.intern(path);
        locations.add_object(Object::new(path))
    });
    let mut builder = ProfileBuilder::new();
    let attr = Attr::software(Software::PAGE_FAULTS);
    let events = [builder.event(Event::new("a", &attr)), builder.event(Event::new("b", &attr))];
    for (event, pid, tid, stack, value) in added {
        let stack: Vec<_> = stack
            .iter()
            .map(|&address| {
                let location = locations.add(Some(objects[address as usize % 2]), address);
                if let Some(name) = function(address) {
                    let name = locations.intern(&name);
                    let function = locations.add_function(Function { name, file: None });
                    locations.set_frames(location, [Frame { function, line: 0, column: 0 }]);
                }
                location
            })
            .collect();
        let name = locations.intern(&format!("t{tid}"));
        let thread = builder.thread(*pid, *tid, name);
        let stack = builder.stack(&stack);
        builder.sample(events[*event], thread, stack, *value);
    }
    builder.finish(locations)
}

fn sums(profile: &Profile) -> BTreeMap<Key, (u64, u64)> {
    let mut sums = BTreeMap::new();
    for sample in profile.samples() {
        let thread = profile.thread(sample.thread).unwrap();
        let locations = profile.locations();
        let stack = profile.stack(sample.stack).map(|location| {
            let name =
                locations.frames(location).first().map(|frame| locations.function_name(frame.function));
            let object = u8::from(locations.object_path(location) == "/b");
            format!("{}@{object}", name.unwrap_or_default())
        });
        assert_eq!(profile.thread_name(sample.thread), format!("t{}", thread.tid));
        let key = (sample.event.index(), thread.pid, thread.tid, stack.collect());
        assert_eq!(sums.insert(key, (sample.value, sample.count)), None, "a sum is there twice");
    }
    sums
}

proptest! {
    #[test]
    fn sums_are_those_of_a_naive_model(
        eighths in 0u8..=8,
        intervals in prop::collection::vec(
            prop::collection::vec(
                (0usize..2, 0u32..2, 0u32..3, prop::collection::vec(0u64..8, 0..3), 1u64..200),
                0..12,
            ),
            0..12,
        ),
    ) {
        let mut live = LiveProfile::new().keeping_eighths(eighths);
        let mut model = BTreeMap::<Key, (u64, u64)>::new();
        let mut means = [1; 2];
        for added in intervals {
            live.add(&interval(&added));
            for (event, mean) in means.iter_mut().enumerate() {
                let values: Vec<u64> = added.iter().filter(|added| added.0 == event).map(|added| added.4).collect();
                if !values.is_empty() {
                    *mean = values.iter().sum::<u64>() / values.len() as u64;
                }
            }
            if eighths < 8 {
                for (value, count) in model.values_mut() {
                    *value = *value * u64::from(eighths) / 8;
                    *count = *count * u64::from(eighths) / 8;
                }
                model.retain(|key, (value, _)| *value > 0 && *value * 16 >= means[key.0]);
            }
            for (event, pid, tid, stack, value) in added {
                let stack = stack.into_iter().map(text).collect();
                let sum = model.entry((event, pid, tid, stack)).or_default();
                *sum = (sum.0 + value, sum.1 + 1);
            }
            prop_assert_eq!(sums(live.profile()), model.clone());
        }
    }

    #[test]
    fn largest_sums_are_kept(values in prop::collection::vec(1u64..1000, 0..60), most in 0usize..40) {
        let added: Vec<Added> = values.iter().zip(0..).map(|(&value, tid)| (0, 1, tid, vec![0], value)).collect();
        let mut live = LiveProfile::new().with_max_sums(most);
        live.add(&interval(&added));
        let mut kept: Vec<u64> = live.profile().samples().iter().map(|sample| sample.value).collect();
        kept.sort_unstable();
        let mut largest = values.clone();
        largest.sort_unstable();
        prop_assert_eq!(&kept, &largest[values.len().saturating_sub(most)..]);
        prop_assert_eq!(live.left_out(), values.len().saturating_sub(most) as u64);
    }
}

#[test]
fn tables_have_no_more_than_the_sums_use() {
    let mut live = LiveProfile::new();
    for round in 0..200 {
        // Each interval has a new process, as under a shell.
        live.add(&interval(&[(0, round, round, vec![u64::from(round) % 6], 8)]));
    }
    // 8 * (7/8)^n is below 1 after 14 rounds of integers at the latest.
    let profile = live.profile();
    assert!(profile.samples().len() < 30, "{}", profile.samples().len());
    assert!(profile.threads().len() <= profile.samples().len());
    assert!(profile.locations().as_slice().len() <= 6);
    assert!(profile.locations().strings().len() < 50);
}

#[test]
fn threads_of_one_name_are_one_if_their_ids_do_not_count() {
    let mut live = LiveProfile::new().keeping_eighths(8).by_thread_name();
    // Here, the thread's id is its name.
    live.add(&interval(&[(0, 1, 5, vec![0], 8), (0, 2, 5, vec![0], 8), (0, 2, 6, vec![0], 8)]));
    live.add(&interval(&[(0, 3, 5, vec![0], 8)]));
    let mut found: Vec<_> =
        live.profile().samples().iter().map(|sample| (sample.value, sample.count)).collect();
    found.sort_unstable();
    assert_eq!(found, [(8, 1), (24, 3)]);
    assert!(live.profile().threads().iter().all(|thread| (thread.pid, thread.tid) == (0, 0)));
}

/// Names each address by its last digits, and reports it. If it has permissions, each address needs
/// one.
struct Asked {
    addresses: Sender<u64>,
    permissions: Option<Arc<Mutex<Receiver<()>>>>,
}

impl FileSymbols for Asked {
    fn symbolize(&mut self, address: u64) -> Option<Symbols> {
        // Nobody receives it at the end of a test.
        let _ = self.addresses.send(address);
        if let Some(permissions) = &self.permissions {
            permissions.lock().unwrap().recv().ok()?;
        }
        let name = format!("f{}", address % 0x100 / 4).into();
        Some(Symbols::new([perf_symbols::Function { name, source: None }], 0))
    }
}

/// The collector of one event of programs that have this test as their file.
struct Sampled {
    attr: Attr,
    collector: Collector,
    event: EventId,
    asked: Receiver<u64>,
}

/// The address at which the file is mapped.
const START: u64 = 0x10_0000;

impl Sampled {
    fn new(permissions: Option<Receiver<()>>, waits: bool) -> Self {
        let fields = SampleType::IP | SampleType::TID | SampleType::CALLCHAIN;
        let attr = Attr::software(Software::PAGE_FAULTS).with_sample_type(fields);
        let (addresses, asked) = mpsc::channel();
        let finder = FileFinder::local();
        let permissions = permissions.map(|permissions| Arc::new(Mutex::new(permissions)));
        let symbols = move |_| -> Result<Box<dyn FileSymbols>, ElfError> {
            Ok(Box::new(Asked { addresses: addresses.clone(), permissions: permissions.clone() }))
        };
        let symbolizer = Symbolizer::with_file_symbols(finder.clone(), symbols).unwrap();
        let mut resolver = Resolver::with_symbolizer(Unwinder::new(Architecture::NATIVE, finder), symbolizer);
        if !waits {
            resolver = resolver.without_waiting();
        }
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let event = collector.event(Event::new("page-faults", &attr));
        let mut sampled = Self { attr, collector, event, asked };
        let program = std::env::current_exe().unwrap();
        for pid in 1..4 {
            let map = RecordBuilder::new(RecordType::MMAP2, user()).pair(pid, pid);
            // With an inode, of a device that this machine has not.
            let map = map.words(&[START, 0x1000, 0, 0x63 << 32 | 0x63, 1, 0]).u32s(&[5, 2]);
            sampled.add(&map.string(program.as_os_str().as_encoded_bytes()).finish());
        }
        sampled
    }

    fn add(&mut self, words: &[u64]) {
        let layout = SampleLayout::new(&self.attr);
        let record = RawRecord::from_words(words).unwrap().decode(&layout).unwrap();
        self.collector.update(&record);
        if let Record::Sample(sample) = &record {
            self.collector.add(self.event, sample);
        }
    }

    /// Samples a stack of addresses in the file, the innermost first.
    fn sample(&mut self, pid: u32, stack: &[u64]) {
        let chain: Vec<u64> = [perf_abi::CallchainContext::USER.0]
            .into_iter()
            // The byte before a return address is looked up.
            .chain(stack.iter().enumerate().map(|(depth, address)| START + address + u64::from(depth > 0)))
            .collect();
        let sample = SampleBuilder::new(&self.attr).misc(user()).tid(pid, pid).ip(START + stack[0]);
        self.add(&sample.callchain(&chain).finish());
    }
}

fn user() -> Misc {
    Misc::empty().with_cpu_mode(CpuMode::USER)
}

/// More than any test needs.
fn later() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

/// Returns the values of each process and stack of names.
fn by_name(profile: &Profile) -> BTreeMap<(u32, Vec<String>), u64> {
    let mut sums = BTreeMap::new();
    for sample in profile.samples() {
        let locations = profile.locations();
        let name = |location| {
            let frame = locations.frames(location).first();
            frame.map_or(UNKNOWN, |frame| locations.function_name(frame.function)).to_owned()
        };
        let stack = profile.stack(sample.stack).map(name).collect();
        *sums.entry((profile.thread(sample.thread).unwrap().pid, stack)).or_default() += sample.value;
    }
    sums
}

#[test]
fn names_of_the_largest_values_are_asked_for_first() {
    let (permit, permissions) = mpsc::channel();
    let mut sampled = Sampled::new(Some(permissions), false);
    let mut live = LiveProfile::new();
    // 1 sample of the first address, 2 of the second, and so on.
    for address in 0..40 {
        (0..=address).for_each(|_| sampled.sample(1, &[4 * address]));
    }
    live.add_pending(sampled.collector.take());
    assert_eq!(live.waiting(), 40);
    // Two requests were made. Those after them are in the order of the new values, while a file is
    // read.
    assert_eq!(sampled.asked.recv().unwrap(), 4 * 36);
    for _ in 0..100 {
        sampled.sample(1, &[4 * 50, 4 * 7]);
    }
    live.add_pending(sampled.collector.take());
    assert!(!live.name_until(Instant::now()));
    (0..100).for_each(|_| permit.send(()).unwrap());
    assert!(live.name_until(later()));
    let asked: Vec<_> = sampled.asked.try_iter().map(|address| address / 4).collect();
    assert_eq!(asked[..11], [37, 38, 39, 32, 33, 34, 35, 7, 30, 31, 50]);
    // The first address has no value left.
    assert_eq!((live.waiting(), asked.len()), (0, 39));
    assert!(by_name(live.profile()).keys().all(|(_, stack)| stack.iter().all(|name| name != UNKNOWN)));
}

#[test]
fn names_of_addresses_that_are_gone_are_not_looked_up() {
    let (permit, permissions) = mpsc::channel();
    let mut sampled = Sampled::new(Some(permissions), false);
    let mut live = LiveProfile::new().keeping_eighths(0);
    for round in 0..50 {
        for address in 0..30 {
            sampled.sample(1, &[4 * (address + 30 * (round % 2))]);
        }
        live.add_pending(sampled.collector.take());
        // The addresses of two requests, whose answers are on the way, and of this interval.
        assert!(live.waiting() <= 30 + 8, "{}", live.waiting());
    }
    (0..100).for_each(|_| permit.send(()).unwrap());
    assert!(live.name_until(later()));
    let looked_up = sampled.asked.try_iter().count();
    assert!((30..=38).contains(&looked_up), "{looked_up}");
}

#[test]
fn names_that_wait_are_bounded() {
    let (permit, permissions) = mpsc::channel();
    let mut sampled = Sampled::new(Some(permissions), false);
    let mut live = LiveProfile::new();
    for address in 0..3000 {
        let samples = if address < 2950 { 1 } else { 20 };
        (0..samples).for_each(|_| sampled.sample(1, &[address]));
    }
    live.add_pending(sampled.collector.take());
    // The collector asks for some while it reads. The smallest of the others have no name.
    assert!(live.waiting() <= 100 + 8 + 512 + 256, "{}", live.waiting());
    (0..3000).for_each(|_| permit.send(()).unwrap());
    assert!(live.name_until(later()));
    let named = by_name(live.profile());
    let unknown = named.get(&(1, vec![UNKNOWN.to_owned()])).copied().unwrap();
    let profile = live.profile();
    let locations = profile.samples().iter().filter_map(|sample| profile.stack(sample.stack).next());
    let has_name = |address| {
        let mut locations = locations.clone();
        let id = locations.find(|id| profile.locations().get(*id).address == START + address);
        !profile.locations().frames(id.unwrap()).is_empty()
    };
    assert!(unknown > 0 && (2950..3000).all(has_name), "{unknown}");
}

#[test]
fn address_of_several_intervals_is_asked_for_once() {
    let (permit, permissions) = mpsc::channel();
    let mut sampled = Sampled::new(Some(permissions), false);
    let mut live = LiveProfile::new().keeping_eighths(8);
    for round in 0..20 {
        (0..3).for_each(|address| sampled.sample(1 + round % 3, &[4 * address, 4 * 9]));
        live.add_pending(sampled.collector.take());
    }
    let waiting = live.waiting();
    (0..1000).for_each(|_| permit.send(()).unwrap());
    assert!(live.name_until(later()));
    assert_eq!((waiting, sampled.asked.try_iter().count()), (4, 4));
    assert_eq!(by_name(live.profile()).len(), 3 * 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn names_that_come_later_are_those_that_were_waited_for(
        intervals in prop::collection::vec(
            (prop::collection::vec((1u32..4, prop::collection::vec(0u64..60, 1..4)), 0..12), any::<bool>()),
            0..10,
        ),
    ) {
        let (mut first, mut second) = (Sampled::new(None, false), Sampled::new(None, true));
        let mut live = LiveProfile::new().keeping_eighths(8);
        let mut model = LiveProfile::new().keeping_eighths(8);
        for (samples, waits) in intervals {
            for (pid, stack) in samples {
                first.sample(pid, &stack);
                second.sample(pid, &stack);
            }
            live.add_pending(first.collector.take());
            if waits {
                prop_assert!(live.name_until(later()));
            }
            model.add(&second.collector.take().wait());
        }
        prop_assert!(live.name_until(later()));
        prop_assert_eq!(live.waiting(), 0);
        prop_assert_eq!(by_name(live.profile()), by_name(model.profile()));
        prop_assert!(!by_name(live.profile()).keys().any(|(_, stack)| stack.iter().any(|name| name == UNKNOWN)));
    }
}
