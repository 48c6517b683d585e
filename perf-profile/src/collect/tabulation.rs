//! Stacks on their way to a table: they wait for the names of their functions.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

use super::resolver::Resolver;
use crate::profile::{LocationId, ProfileBuilder, Sample, SampleIndex};
use crate::view::{Adder, Column, Names, NewNames, TableSums};

/// Sums the samples of a table, a part after the other: the names of one part are looked up by one thread and the part
/// before it is added by another one, while the next one is read.
///
/// A part has so few stacks that they stay in the caches, and the memory does not grow with the different stacks.
#[derive(Debug)]
pub(super) struct Tabulation {
    names: Names,
    current: Part,
    waiting: VecDeque<Waiting>,
    /// Parts that follow, in which no callchain is looked up.
    parts_without_look_up: u32,
    to_add: SyncSender<(Part, NewNames)>,
    /// Parts that were added: their memory is used again.
    added: Receiver<Part>,
    thread: JoinHandle<Adder>,
}

/// Stacks and their samples.
#[derive(Debug, Default)]
struct Part {
    samples: Vec<(Sample, Range<usize>)>,
    locations: Vec<LocationId>,
    /// Samples that were added to others of their callchain.
    repeated: u64,
}

/// A part whose names were asked for.
#[derive(Debug)]
struct Waiting {
    part: Part,
    /// The number of requests that must be answered before.
    requests: u64,
    /// The number of locations that have names then.
    named: usize,
}

/// Locations of a part.
const MAX_LOCATIONS: usize = if cfg!(test) { 16 } else { 1 << 18 };

/// A part whose callchains rarely repeat costs less without looking them up: so do this many parts after it, before the
/// next one shows whether that changed.
const WITHOUT_LOOK_UP: u32 = 15;

/// Parts that wait, at most.
const MAX_WAITING: usize = 2;

impl Tabulation {
    /// Starts the thread that adds.
    pub(super) fn new(columns: &[Column]) -> io::Result<Self> {
        let (to_add, parts) = mpsc::sync_channel::<(Part, NewNames)>(1);
        let (done, added) = mpsc::channel();
        let thread = std::thread::Builder::new().name("perf-profile".to_owned());
        let thread = thread.spawn(move || {
            let mut adder = Adder::default();
            for (mut part, names) in parts {
                adder.add_names(names);
                for (sample, range) in &part.samples {
                    adder.add(sample, part.locations.get(range.clone()).unwrap_or_default());
                }
                part.clear();
                // At the end, nobody waits for it.
                let _ = done.send(part);
            }
            adder
        })?;
        Ok(Self {
            names: Names::new(columns),
            current: Part::default(),
            waiting: VecDeque::new(),
            parts_without_look_up: 0,
            to_add,
            added,
            thread,
        })
    }

    /// Adds a sample with these locations. Returns its index in the part, for [`add_sum`](Self::add_sum).
    pub(super) fn add(&mut self, sample: Sample, locations: &[LocationId]) -> SampleIndex {
        let index = SampleIndex::new(self.current.samples.len());
        let start = self.current.locations.len();
        self.current.locations.extend_from_slice(locations);
        self.current.samples.push((sample, start..self.current.locations.len()));
        index
    }

    /// Adds samples with the stack of a sample of this part.
    pub(super) fn add_sum(&mut self, index: SampleIndex, value: u64, count: u64) {
        if let Some((sample, _)) = self.current.samples.get_mut(index.index()) {
            sample.add(value, count);
            self.current.repeated += count;
        }
    }

    /// Returns whether callchains of this part should be looked up, since they repeat.
    #[inline]
    pub(super) fn looks_up(&self) -> bool {
        self.parts_without_look_up == 0
    }

    /// Returns whether the part has to be [ended](Self::end_part).
    pub(super) fn is_full(&self) -> bool {
        self.current.locations.len() >= MAX_LOCATIONS || self.current.samples.len() >= MAX_LOCATIONS
    }

    /// Ends a part. All its samples were added, also those of [`add_sum`](Self::add_sum).
    pub(super) fn end_part(&mut self, resolver: &mut Resolver, builder: &mut ProfileBuilder) {
        let (requests, named) = resolver.request();
        self.parts_without_look_up = match self.parts_without_look_up {
            0 if self.current.repeated < self.current.samples.len() as u64 / 2 => WITHOUT_LOOK_UP,
            left => left.saturating_sub(1),
        };
        if self.waiting.len() >= MAX_WAITING {
            self.add_waiting(resolver, builder);
        }
        let empty = self.added.try_recv().unwrap_or_default();
        let part = std::mem::replace(&mut self.current, empty);
        self.waiting.push_back(Waiting { part, requests, named });
    }

    /// Passes on the part that waits for the longest time. Returns whether there was one.
    fn add_waiting(&mut self, resolver: &mut Resolver, builder: &mut ProfileBuilder) -> bool {
        let Some(Waiting { part, requests, named }) = self.waiting.pop_front() else { return false };
        resolver.wait_for(requests);
        let names = self.names.add(builder.threads(), resolver.locations(), named);
        for (sample, _) in &part.samples {
            builder.add(Sample { stack: None, ..*sample });
        }
        // It fails only if the thread panicked, which `finish` passes on.
        let _ = self.to_add.send((part, names));
        true
    }

    /// Adds what is left, and returns the sums.
    pub(super) fn finish(mut self, resolver: &mut Resolver, builder: &mut ProfileBuilder) -> TableSums {
        self.end_part(resolver, builder);
        while self.add_waiting(resolver, builder) {}
        drop(self.to_add);
        let adder = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.names.with_sums(adder)
    }
}

impl Part {
    /// Forgets all, and keeps the memory.
    fn clear(&mut self) {
        self.samples.clear();
        self.locations.clear();
        self.repeated = 0;
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::Architecture;
    use perf_abi::{Attr, Software};
    use perf_symbols::FileFinder;
    use proptest::prelude::*;

    use super::*;
    use crate::profile::{Event, Frame, Function};
    use crate::view::{Order, Table};

    const COLUMNS: &[Column] = &[Column::Pid, Column::Function];

    /// Locations with 0, 1 and 2 functions. Several have the same.
    fn add_location(resolver: &mut Resolver, index: usize) -> LocationId {
        let locations = resolver.locations_mut();
        let id = locations.add(None, index as u64);
        let frames: Vec<_> = (0..index % 3)
            .map(|inline| {
                let name = locations.intern(&format!("f{}", (index + inline) % 4));
                let function = locations.add_function(Function { name, file: None });
                Frame { function, line: 0, column: 0 }
            })
            .collect();
        locations.set_frames(id, frames);
        id
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn table_is_that_of_a_profile_with_stacks(
            samples in prop::collection::vec(
                (0usize..2, 0u32..3, prop::collection::vec(0usize..12, 0..6), 0u64..9, 0u64..3),
                0..60,
            )
        ) {
            let mut resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
            let attr = Attr::software(Software::CPU_CLOCK);
            let (mut builder, mut model) = (ProfileBuilder::new(), ProfileBuilder::new());
            let events = ["a", "b"].map(|name| {
                model.event(Event::new(name, &attr));
                builder.event(Event::new(name, &attr))
            });
            let mut tabulation = Tabulation::new(COLUMNS).unwrap();
            let mut ids = Vec::new();
            for (event, pid, stack, value, repeated) in samples {
                // Locations and threads come in the course of time.
                while stack.iter().any(|&index| index >= ids.len()) {
                    let next = ids.len();
                    ids.push(add_location(&mut resolver, next));
                }
                let stack: Vec<_> = stack.iter().map(|&index| ids[index]).collect();
                let name = resolver.locations_mut().intern("comm");
                model.thread(pid, pid, name);
                let thread = builder.thread(pid, pid, name);
                let event = events[event];
                let sample = Sample { event, thread, stack: None, value, count: 1, time: None, cpu: None };
                let index = tabulation.add(sample, &stack);
                tabulation.add_sum(index, 3 * repeated, repeated);
                let stack = model.stack(&stack);
                model.add(Sample { stack, value: value + 3 * repeated, count: 1 + repeated, ..sample });
                if tabulation.is_full() {
                    tabulation.end_part(&mut resolver, &mut builder);
                }
            }
            let sums = tabulation.finish(&mut resolver, &mut builder);
            resolver.name();
            let locations = resolver.locations().clone();
            let (profile, model) = (builder.finish(locations.clone()), model.finish(locations));
            prop_assert_eq!(sums.has_callers(), model.stacks().any(|(_, caller)| caller.is_some()));
            let (table, expected) = (sums.table(&profile), Table::new(&model, COLUMNS));
            let rows = |table: Table<'_>| {
                let mut rows: Vec<_> = table.sorted(events[0], Order::ByTotal).rows().iter()
                    .map(|row| (row.entry().to_string(), events.map(|event| row.cost(event)))).collect();
                rows.sort_by(|(a, _), (b, _)| a.cmp(b));
                rows
            };
            prop_assert_eq!(rows(table), rows(expected));
            for event in events {
                prop_assert_eq!(profile.total(event), model.total(event));
            }
        }
    }
}
