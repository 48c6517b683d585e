//! The samples of each function by the address of their instruction.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::profile::{EventId, FunctionId, LocationId, ObjectId, Profile, StringId};

/// The samples in a function itself, without its callees, by address. Functions that are inlined
/// into it are a part of it.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{Event, Locations, ProfileBuilder, SampledFunction};
///
/// let mut locations = Locations::new();
/// let address = locations.add(None, 0x1234);
/// let mut builder = ProfileBuilder::new();
/// let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
/// let thread = builder.thread(7, 7, locations.intern("sort"));
/// let stack = builder.stack(&[address]);
/// builder.sample(event, thread, stack, 1_000_000);
/// // An address without a name is in no function.
/// assert!(SampledFunction::all(&builder.finish(locations), event).is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledFunction {
    /// The function, as its symbol names it.
    pub name: StringId,
    /// The object that it is in.
    pub object: ObjectId,
    /// Address of its first instruction according to the object's first mapping.
    pub start: u64,
    /// The functions that are inlined at the sampled addresses, ascending and each once.
    pub inlined: Vec<FunctionId>,
    /// The samples, by their distance in bytes from the start.
    pub by_offset: BTreeMap<u64, AddressSamples>,
    /// All samples in it.
    pub total: AddressSamples,
    /// A process that has the object mapped.
    pub pid: u32,
}

/// Samples at an address, or in a range of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddressSamples {
    /// Sum of the periods in the unit of the event, saturating at `u64::MAX`.
    pub value: u64,
    /// Number of samples.
    pub count: u64,
}

impl AddressSamples {
    fn add(&mut self, value: u64, count: u64) {
        self.value = self.value.saturating_add(value);
        self.count = self.count.saturating_add(count);
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.add(other.value, other.count);
        self
    }
}

impl SampledFunction {
    /// Returns the functions with samples of an event, the hottest first. Addresses without a name
    /// are left out.
    pub fn all(profile: &Profile, event: EventId) -> Vec<Self> {
        let locations = profile.locations();
        // Each address once, because many samples share it.
        let mut by_location = FxHashMap::<LocationId, (AddressSamples, u32)>::default();
        for sample in profile.samples().iter().filter(|sample| sample.event == event) {
            let Some((location, _)) = sample.stack.and_then(|stack| profile.innermost(stack)) else {
                continue;
            };
            let pid = profile.thread(sample.thread).map_or(0, |thread| thread.pid);
            by_location
                .entry(location)
                .or_insert((AddressSamples::default(), pid))
                .0
                .add(sample.value, sample.count);
        }
        let mut functions = FxHashMap::<(ObjectId, u64, StringId), Self>::default();
        for (id, (samples, pid)) in by_location {
            let location = locations.get(id);
            let frames = locations.frames(id);
            let Some(((outermost, inlined), object)) = frames.split_last().zip(location.object) else {
                continue;
            };
            let Some(function) = locations.function(outermost.function) else { continue };
            let offset = location.function_offset;
            let (start, name) = (location.address.wrapping_sub(offset), function.name);
            let function = functions.entry((object, start, name)).or_insert_with(|| Self {
                name,
                object,
                start,
                inlined: Vec::new(),
                by_offset: BTreeMap::new(),
                total: AddressSamples::default(),
                pid,
            });
            function.inlined.extend(inlined.iter().map(|frame| frame.function));
            function.by_offset.entry(offset).or_default().add(samples.value, samples.count);
            function.total.add(samples.value, samples.count);
        }
        let mut functions: Vec<_> = functions.into_values().collect();
        for function in &mut functions {
            function.inlined.sort_unstable();
            function.inlined.dedup();
        }
        // A total order, so that the result does not depend on the map.
        functions.sort_by_key(|function| {
            (std::cmp::Reverse(function.total.value), function.object, function.start, function.name)
        });
        functions
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Software};
    use proptest::prelude::*;

    use super::*;
    use crate::profile::{Event, Frame, Function, Locations, Object, ProfileBuilder};

    /// Builds a profile of these samples: function, offset in it, value.
    fn profile(samples: &[(usize, u64, u64)]) -> (Profile, EventId) {
        let mut locations = Locations::new();
        let path = locations.intern("/bin/a");
        let object = locations.add_object(Object::new(path));
        let ids = ["a", "b", "inlined"].map(|name| {
            let name = locations.intern(name);
            locations.add_function(Function { name, file: None })
        });
        let mut builder = ProfileBuilder::new();
        let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
        let thread = builder.thread(7, 7, path);
        let mut known = std::collections::HashMap::new();
        for &(function, offset, value) in samples {
            let location = *known.entry((function, offset)).or_insert_with(|| {
                let location = locations.add(Some(object), 0x1000 * (function as u64 + 1) + offset);
                let frame = |function| Frame { function, line: 0, column: 0 };
                // At odd offsets, code of another function is inlined.
                let inlined = (offset % 2 == 1).then(|| frame(ids[2]));
                let symbols = inlined.into_iter().chain([frame(ids[function])]);
                locations.set_frames(location, symbols);
                locations.set_offset(location, offset);
                location
            });
            let stack = builder.stack(&[location]);
            builder.sample(event, thread, stack, value);
        }
        let nowhere = locations.add(None, 0x9999);
        let stack = builder.stack(&[nowhere]);
        builder.sample(event, thread, stack, 5);
        (builder.finish(locations), event)
    }

    #[test]
    fn inlined_functions_are_part_of_the_function_around_them() {
        let (profile, event) = profile(&[(0, 4, 10), (1, 3, 20), (0, 4, 10), (1, 0, 2)]);
        let functions = SampledFunction::all(&profile, event);
        let name = |id| profile.locations().string(id);
        let found: Vec<_> = functions
            .iter()
            .map(|function| {
                let inlined = function.inlined.iter().map(|id| profile.locations().function_name(*id));
                (name(function.name), function.start, function.total.value, inlined.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(found, [("b", 0x2000, 22, vec!["inlined"]), ("a", 0x1000, 20, vec![])]);
        assert_eq!(functions[1].by_offset[&4], AddressSamples { value: 20, count: 2 });
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_samples(
            samples in prop::collection::vec((0..2_usize, 0..9_u64, 1..100_u64), 0..40),
        ) {
            let (profile, event) = profile(&samples);
            let functions = SampledFunction::all(&profile, event);
            let mut naive = BTreeMap::<(u64, u64), u64>::new();
            for (function, offset, value) in samples {
                *naive.entry((0x1000 * (function as u64 + 1), offset)).or_default() += value;
            }
            let found = functions.iter().flat_map(|function| {
                function.by_offset.iter().map(|(offset, samples)| ((function.start, *offset), samples.value))
            });
            prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), naive);
            prop_assert!(functions.is_sorted_by_key(|function| std::cmp::Reverse(function.total.value)));
        }
    }
}
