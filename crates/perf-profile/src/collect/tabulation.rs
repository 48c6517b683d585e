//! Stacks that wait for the names of their functions before they enter a table.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

use super::last_stacks::Slot;
use super::resolver::Resolver;
use crate::profile::{self, EventId, LocationId, ProfileBuilder, ThreadId};
use crate::view::{Adder, Column, Names, NewNames, TableSums};

/// Sums the samples of a table in parts, as a pipeline: while a part is read, one thread looks up
/// the names of the part before it, and another thread adds the part before that.
///
/// A part has so few stacks that they stay in the caches, and the memory does not grow with the
/// different stacks.
#[derive(Debug)]
pub(super) struct Tabulation {
    names: Names,
    current: Part,
    waiting: VecDeque<Waiting>,
    to_add: SyncSender<(Part, NewNames)>,
    /// Parts that were added: their memory is used again.
    added: Receiver<Part>,
    thread: JoinHandle<Adder>,
}

/// Samples and their stacks.
#[derive(Debug, Default)]
struct Part {
    /// By the number of the slot.
    slots: Vec<Stream>,
    /// Samples and locations of all slots.
    len: usize,
}

/// The samples of a slot, each with the frames in which its stack differs from the one before.
#[derive(Debug, Default)]
struct Stream {
    samples: Vec<Sample>,
    /// The locations of these frames, of each sample the outermost first.
    locations: Vec<LocationId>,
    /// The sum of the last samples, which are of one event and thread, for the profile.
    sum: Option<profile::Sample>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    event: EventId,
    thread: ThreadId,
    value: u64,
    kept: u32,
    /// The end of its locations.
    end: u32,
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

/// Samples and locations of a part.
const MAX_LEN: usize = if cfg!(test) { 16 } else { 1 << 18 };

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
                part.add_to(&mut adder);
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
            to_add,
            added,
            thread,
        })
    }

    /// Adds one sample. Its stack has the first `kept` frames of the one before in this slot and
    /// part, which was of the same event and thread, and then these locations, the outermost first.
    /// The profile gets it at the end of the part, at the latest.
    pub(super) fn add(
        &mut self,
        builder: &mut ProfileBuilder,
        sample: &profile::Sample,
        slot: Slot,
        kept: usize,
        locations: &[LocationId],
    ) {
        let Part { slots, len } = &mut self.current;
        if slots.len() <= slot.index() {
            slots.resize_with(slot.index() + 1, Stream::default);
        }
        let Some(samples) = slots.get_mut(slot.index()) else { return };
        *len += 1 + locations.len();
        samples.locations.extend_from_slice(locations);
        let &profile::Sample { event, thread, value, .. } = sample;
        let (kept, end) = (kept as u32, samples.locations.len() as u32);
        samples.samples.push(Sample { event, thread, value, kept, end });
        match &mut samples.sum {
            Some(sum) if (sum.event, sum.thread) == (event, thread) => sum.add(value, 1),
            sum => sum.replace(*sample).into_iter().for_each(|sum| builder.add(sum)),
        }
    }

    /// Returns whether the part has to be [ended](Self::end_part).
    pub(super) fn is_full(&self) -> bool {
        self.current.len >= MAX_LEN
    }

    /// Ends a part. The next stack of each slot keeps no frames.
    pub(super) fn end_part(&mut self, resolver: &mut Resolver, builder: &mut ProfileBuilder) {
        let sums = self.current.slots.iter_mut().filter_map(|samples| samples.sum.take());
        sums.for_each(|sum| builder.add(sum));
        let (requests, named) = resolver.request();
        if self.waiting.len() >= MAX_WAITING {
            self.add_waiting(resolver, builder);
        }
        let empty = self.added.try_recv().unwrap_or_default();
        let part = std::mem::replace(&mut self.current, empty);
        self.waiting.push_back(Waiting { part, requests, named });
    }

    /// Passes on the part that waits for the longest time. Returns whether there was one.
    fn add_waiting(&mut self, resolver: &mut Resolver, builder: &ProfileBuilder) -> bool {
        let Some(Waiting { part, requests, named }) = self.waiting.pop_front() else { return false };
        resolver.wait_for(requests);
        let names = self.names.add(builder.threads(), resolver.locations(), named);
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
    /// Adds its samples, one slot after the other.
    fn add_to(&self, adder: &mut Adder) {
        for Stream { samples, locations, .. } in &self.slots {
            let mut start = 0;
            for &Sample { event, thread, value, kept, end } in samples {
                let locations = locations.get(start..end as usize).unwrap_or_default();
                adder.add(event, thread, value, kept as usize, locations);
                start = end as usize;
            }
        }
    }

    /// Forgets all, and keeps the memory.
    fn clear(&mut self) {
        for Stream { samples, locations, .. } in &mut self.slots {
            samples.clear();
            locations.clear();
        }
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::Architecture;
    use perf_abi::{Attr, Software};
    use perf_symbols::FileFinder;
    use proptest::prelude::*;

    use super::super::last_stacks::{LastStacks, Source};
    use super::*;
    use crate::profile::{Event, Frame, Function, Sample};
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
                (0usize..2, 0u32..3, prop::collection::vec(0usize..12, 0..6), 0u64..9),
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
            let mut last_stacks = LastStacks::new();
            let mut ids = Vec::new();
            for (event, pid, stack, value) in samples {
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
                let source = Source { event, thread, pid, time: None };
                let next = last_stacks.replace(source, &stack);
                let locations = last_stacks.locations(next.slot);
                tabulation.add(&mut builder, &sample, next.slot, next.kept, locations);
                let stack = model.stack(&stack);
                model.add(Sample { stack, ..sample });
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
                let mut rows: Vec<_> = table.sorted(events[0], Order::ByTotal).rows.iter()
                    .map(|row| (row.entry.to_string(), events.map(|event| row.cost(event)))).collect();
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
