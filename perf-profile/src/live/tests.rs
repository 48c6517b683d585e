use std::collections::BTreeMap;

use perf_abi::{Attr, Software};
use proptest::prelude::*;

use super::*;
use crate::profile::{Event, Frame, Function, Locations, Object, ProfileBuilder};

/// A sample: event, process, thread, stack of addresses in two objects, and value.
type Added = (usize, u32, u32, Vec<u64>, u64);
/// The key of a sum: event, process, thread, functions from the innermost one.
type Key = (usize, u32, u32, Vec<String>);

/// Returns the name of the function at an address: each has two addresses, and one address has no function.
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
        // Each process is another one, as those of a shell.
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
    // The name is that of the thread's id here.
    live.add(&interval(&[(0, 1, 5, vec![0], 8), (0, 2, 5, vec![0], 8), (0, 2, 6, vec![0], 8)]));
    live.add(&interval(&[(0, 3, 5, vec![0], 8)]));
    let mut found: Vec<_> =
        live.profile().samples().iter().map(|sample| (sample.value, sample.count)).collect();
    found.sort_unstable();
    assert_eq!(found, [(8, 1), (24, 3)]);
    assert!(live.profile().threads().iter().all(|thread| (thread.pid, thread.tid) == (0, 0)));
}
