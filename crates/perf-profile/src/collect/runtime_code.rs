//! Code that programs write at run time: an address may have several functions in turn.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use perf_symbols::{AddressSpaces, CodeChanges, MappedObject, Symbolizer};
use rustc_hash::FxHashMap;

use crate::profile::{LocationId, ObjectId};

/// The locations of addresses in the code that processes wrote, until that code changes.
///
/// A process that compiles names its code in a jitdump, with the time of each function. A change
/// costs a look for the addresses that were found before, and only if it has one are the addresses
/// of the process found again.
#[derive(Debug, Default)]
pub(super) struct RuntimeCode {
    processes: FxHashMap<u32, Process>,
    /// Code by the jitdump, which forked processes share.
    files: FxHashMap<MappedObject, Arc<File>>,
    /// The number of changes of addresses that were found before.
    versions: u64,
}

#[derive(Debug)]
struct File {
    changes: CodeChanges,
    /// The addresses at which several functions were in turn, sorted, without an overlap.
    reused: Vec<Range<u64>>,
}

#[derive(Debug)]
struct Process {
    jitdump: MappedObject,
    file: Arc<File>,
    /// The number of changes up to now.
    applied: usize,
    version: u64,
    known: BTreeMap<u64, (ObjectId, LocationId)>,
}

/// The state of a process at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeVersion {
    /// Equal versions of equal mappings have the same code at all addresses that were found before.
    pub(super) version: u64,
    /// The time of the next change, in ns.
    pub(super) until: u64,
}

/// Processes that are kept before those that have exited are looked for.
const MAX_PROCESSES: usize = 256;

impl File {
    fn new(changes: CodeChanges) -> Self {
        let reuses = changes.changes.iter().filter(|change| change.is_reuse);
        let mut reused: Vec<_> = reuses.map(|change| change.addresses.clone()).collect();
        reused.sort_unstable_by_key(|range| range.start);
        reused.dedup_by(|next, last| {
            let overlaps = next.start <= last.end;
            if overlaps {
                last.end = last.end.max(next.end);
            }
            overlaps
        });
        Self { changes, reused }
    }
}

impl RuntimeCode {
    /// The state of a process that names no code.
    pub(super) const NONE: CodeVersion = CodeVersion { version: 0, until: u64::MAX };

    /// Applies the changes up to a time.
    pub(super) fn at(
        &mut self,
        spaces: &AddressSpaces,
        symbolizer: &Symbolizer,
        pid: u32,
        time: Option<u64>,
    ) -> CodeVersion {
        self.open(spaces, symbolizer, pid);
        let Some(process) = self.processes.get_mut(&pid) else { return Self::NONE };
        let CodeChanges { changes, has_monotonic_time: true, .. } = &process.file.changes else {
            return Self::NONE;
        };
        let time = time.unwrap_or(0);
        let mut is_changed = false;
        while let Some(change) = changes.get(process.applied).filter(|next| next.time <= time) {
            process.applied += 1;
            let addresses = change.addresses.clone();
            // Each address that is removed was added by a look-up.
            while let Some((&address, _)) = process.known.range(addresses.clone()).next() {
                process.known.remove(&address);
                is_changed = true;
            }
        }
        let until = changes.get(process.applied).map_or(u64::MAX, |change| change.time);
        if is_changed {
            self.versions += 1;
            process.version = self.versions;
        }
        CodeVersion { version: process.version, until }
    }

    /// Returns the location of an address of an object that was found since its code has changed.
    pub(super) fn find(&self, pid: u32, object: ObjectId, address: u64) -> Option<LocationId> {
        let &(known, location) = self.processes.get(&pid)?.known.get(&address)?;
        (known == object).then_some(location)
    }

    /// Adds the location of an address. Returns whether its changes are followed; if so, other
    /// caches must not keep it.
    pub(super) fn add(&mut self, pid: u32, object: ObjectId, address: u64, location: LocationId) -> bool {
        let process = self.processes.get_mut(&pid).filter(|process| process.file.changes.has_monotonic_time);
        let Some(process) = process else { return false };
        process.known.insert(address, (object, location));
        true
    }

    /// Returns whether an address has several functions in turn, by the jitdump of the process.
    pub(super) fn is_reused(
        &mut self,
        spaces: &AddressSpaces,
        symbolizer: &Symbolizer,
        pid: u32,
        address: u64,
    ) -> bool {
        self.open(spaces, symbolizer, pid);
        let Some(process) = self.processes.get(&pid) else { return false };
        let reused = &process.file.reused;
        let after = reused.partition_point(|range| range.start <= address);
        after.checked_sub(1).and_then(|index| reused.get(index)).is_some_and(|range| range.contains(&address))
    }

    /// Forgets all, to read the jitdumps again: their programs may still write.
    pub(super) fn clear(&mut self) {
        self.processes.clear();
        self.files.clear();
    }

    /// Reads the jitdump of a process, if the process has opened a new one.
    fn open(&mut self, spaces: &AddressSpaces, symbolizer: &Symbolizer, pid: u32) {
        let Some(jitdump) = spaces.jitdump(pid) else {
            if !self.processes.is_empty() {
                self.processes.remove(&pid);
            }
            return;
        };
        if self.processes.get(&pid).is_none_or(|process| process.jitdump != *jitdump) {
            if self.processes.len() >= MAX_PROCESSES {
                // All that live stay. Memory is linear in what lives.
                self.processes.retain(|&pid, process| spaces.jitdump(pid) == Some(&process.jitdump));
                self.files.retain(|_, file| Arc::strong_count(file) > 1);
            }
            let read = || Arc::new(File::new(symbolizer.code_changes(pid, jitdump)));
            let file = Arc::clone(self.files.entry(jitdump.clone()).or_insert_with(read));
            self.versions += 1;
            let (jitdump, version, known) = (jitdump.clone(), self.versions, BTreeMap::new());
            self.processes.insert(pid, Process { jitdump, file, applied: 0, version, known });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    use perf_abi::regs::Architecture;
    use perf_abi::{Attr, CallchainContext, CpuMode, Misc, RecordType, SampleType, Software};
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
    use perf_decode::{RawRecord, Record, SampleLayout};
    use perf_symbols::{FileFinder, Symbolizer, Unwinder};
    use proptest::prelude::*;

    use crate::{Collector, Event, Profile, ProfileBuilder, Resolver};

    const PID: u32 = 7;
    const CODE: u64 = 0x6000_0000;

    /// Code that is written at a time: the address from [`CODE`], the length and the name.
    type Load<'a> = (u64, u64, u64, &'a str);

    /// The root of a machine with the jitdump of the process, removed on drop.
    struct Root(PathBuf);

    impl Root {
        fn new(flags: u64, loads: &[Load<'_>]) -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let mut bytes = Vec::new();
            let mut add =
                |numbers: &[u32]| bytes.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
            let halves = |number: u64| {
                let bytes = number.to_ne_bytes();
                [0, 4].map(|at| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap()))
            };
            add(&[0x4a69_5444, 1, 40, 62, 0, PID, 0, 0]);
            add(&halves(flags));
            for &(time, start, len, name) in loads {
                // The name with its end, a multiple of 4, and no code.
                let mut text = name.as_bytes().to_vec();
                text.resize(name.len() / 4 * 4 + 4, 0);
                let words: Vec<_> =
                    text.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect();
                add(&[0, 56 + text.len() as u32]);
                add(&halves(time));
                add(&[PID, PID]);
                for number in [CODE + start, CODE + start, len, 0] {
                    add(&halves(number));
                }
                add(&words);
            }
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let root = std::env::temp_dir().join(format!("perf-profile-{}-{number}", std::process::id()));
            fs::create_dir(&root).unwrap();
            fs::write(root.join(format!("jit-{PID}.dump")), bytes).unwrap();
            Self(root)
        }

        fn resolver(&self) -> Resolver {
            let finder = FileFinder::remote().with_symfs(&self.0);
            let symbolizer = Symbolizer::new(finder.clone()).unwrap();
            Resolver::with_symbolizer(Unwinder::new(Architecture::NATIVE, finder), symbolizer)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn attr() -> Attr {
        let fields = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CALLCHAIN;
        Attr::software(Software::CPU_CLOCK).with_sample_type(fields)
    }

    /// Returns the profile of callchains at times, each of addresses from [`CODE`].
    fn profile(resolver: Resolver, samples: &[(u64, Vec<u64>)]) -> Profile {
        let (attr, user) = (attr(), Misc::empty().with_cpu_mode(CpuMode::USER));
        let layout = SampleLayout::new(&attr);
        let mut collector = Collector::new(resolver, ProfileBuilder::new().with_times());
        let event = collector.event(Event::new("cpu-clock", &attr));
        let map = |start: u64, path: &str| {
            let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(PID, PID).words(&[start, 0x1000, 0]);
            mmap.string(path.as_bytes()).finish()
        };
        let maps = [map(CODE, "//anon"), map(0x1000, &format!("/jit-{PID}.dump"))];
        let samples = samples.iter().map(|(time, stack)| {
            let mut chain = vec![CallchainContext::USER.0];
            chain.extend(stack.iter().map(|address| CODE + address));
            let sample = SampleBuilder::new(&attr).misc(user).tid(PID, PID).ip(chain[1]);
            sample.time(*time).callchain(&chain).finish()
        });
        for words in maps.into_iter().chain(samples) {
            let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
            collector.update(&record);
            if let Record::Sample(sample) = &record {
                collector.add(event, sample);
            }
        }
        collector.finish()
    }

    /// Returns the names of the frames of each sample.
    fn names(profile: &Profile) -> Vec<Vec<String>> {
        let locations = profile.locations();
        let name = |location| match locations.frames(location).first() {
            Some(frame) => locations.function_name(frame.function).to_owned(),
            None => String::new(),
        };
        profile.samples().iter().map(|sample| profile.stack(sample.stack).map(name).collect()).collect()
    }

    const REUSED: &[Load<'_>] =
        &[(10, 0, 0x10, "first"), (20, 0x20, 0x10, "caller"), (30, 0, 0x10, "second")];

    #[test]
    fn function_is_the_one_of_the_time_of_the_sample() {
        let root = Root::new(0, REUSED);
        let stack = |time| (time, vec![4, 0x24]);
        let samples = [stack(9), stack(19), stack(29), stack(30), stack(31)];
        let found = profile(root.resolver().with_monotonic_time(true), &samples);
        let expected =
            [["", ""], ["first", ""], ["first", "caller"], ["second", "caller"], ["second", "caller"]];
        assert_eq!(names(&found), expected);
        assert_eq!(found.losses().reused_addresses, 0);
        // Samples between two changes have the same locations, and callers whose code stays have
        // theirs.
        assert_eq!(found.samples()[3].stack, found.samples()[4].stack);
        let caller = |sample: usize| found.stack(found.samples()[sample].stack).nth(1);
        assert_eq!(caller(2), caller(3));
    }

    #[test]
    fn addresses_with_the_last_of_several_names_are_counted_if_the_times_have_another_clock() {
        for (flags, is_monotonic) in [(0, false), (1, true)] {
            let root = Root::new(flags, REUSED);
            let samples = [(15, vec![4, 0x24]), (35, vec![8, 0x24])];
            let found = profile(root.resolver().with_monotonic_time(is_monotonic), &samples);
            assert_eq!(names(&found), [["second", "caller"], ["second", "caller"]]);
            assert_eq!(found.losses().reused_addresses, 2);
            let calls = profile(root.resolver().with_monotonic_time(is_monotonic), &[(35, vec![0x24])]);
            assert_eq!(calls.losses().reused_addresses, 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn names_are_those_of_a_naive_model(
            loads in prop::collection::vec((0_u64..20, 0_u64..12, 1_u64..8, 0_usize..4), 0..12),
            samples in prop::collection::vec((0_u64..20, prop::collection::vec(1_u64..16, 1..4)), 0..24),
        ) {
            let mut loads: Vec<Load<'_>> = loads
                .iter()
                .map(|&(time, start, len, name)| (time, start, len, ["a", "b", "c", "d"][name]))
                .collect();
            let root = Root::new(0, &loads);
            loads.sort_by_key(|load| load.0);
            let mut samples = samples;
            samples.sort_by_key(|sample| sample.0);
            let found = names(&profile(root.resolver().with_monotonic_time(true), &samples));
            for ((time, stack), found) in samples.iter().zip(found) {
                let expected = stack.iter().enumerate().map(|(index, address)| {
                    // In the call.
                    let address = address - u64::from(index > 0);
                    let is_there = |&&(at, start, len, _): &&Load<'_>| at <= *time && (start..start + len).contains(&address);
                    loads.iter().rev().find(is_there).map_or("", |&(.., name)| name)
                });
                prop_assert_eq!(found, expected.collect::<Vec<_>>(), "{:?} at {}", stack, time);
            }
        }
    }
}
