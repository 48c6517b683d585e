//! The choice among sources by time, against a naive one.

#![allow(clippy::indexing_slicing, reason = "a test's helpers may fail it")]

use crate::support::arbitrary::cases;
use crate::support::arbitrary::framing::streams;
use perf_decode::{Head, Heads};
use proptest::collection::vec;
use proptest::prelude::*;

/// One call.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Adds a source, unless its number is already in use.
    Insert(usize, u64),
    /// Replaces the first source's time, or removes it.
    Advance(Option<u64>),
    Clear,
}

fn steps(sources: usize) -> impl Strategy<Value = Vec<Step>> {
    let time = prop_oneof![8 => 0..50_u64, 1 => Just(u64::MAX), 1 => u64::MAX - 2..u64::MAX];
    let step = prop_oneof![
        20 => (0..sources, time.clone()).prop_map(|(source, time)| Step::Insert(source, time)),
        40 => time.prop_map(|time| Step::Advance(Some(time))),
        5 => Just(Step::Advance(None)),
        1 => Just(Step::Clear),
    ];
    vec(step, 0..200)
}

/// The sources, in any order.
#[derive(Debug, Default)]
struct Naive(Vec<(u64, usize)>);

impl Naive {
    fn first(&self) -> Option<(u64, usize)> {
        self.0.iter().copied().min()
    }

    /// Whether the first source is still the first with another time.
    fn stays_first_with(&self, time: u64) -> bool {
        let Some(first) = self.first() else { return false };
        self.0.iter().all(|&other| other == first || (time, first.1) < other)
    }
}

fn check(steps: &[Step], slots: usize) {
    let (mut heads, mut naive) = (Heads::new(vec![Head::default(); slots]), Naive::default());
    for step in steps {
        match *step {
            Step::Insert(source, time) if naive.0.iter().all(|&(_, other)| other != source) => {
                let has_slot = naive.0.len() <= slots;
                assert_eq!(heads.insert(source, time), has_slot);
                naive.0.extend(has_slot.then_some((time, source)));
            }
            Step::Insert(..) => {}
            Step::Advance(next) => {
                heads.advance(next);
                if let Some(first) = naive.first() {
                    naive.0.retain(|&other| other != first);
                    naive.0.extend(next.map(|time| (time, first.1)));
                }
            }
            Step::Clear => {
                heads.clear();
                naive.0.clear();
            }
        }
        assert_eq!(heads.time().zip(heads.first()), naive.first(), "{step:?}");
        if naive.first().is_some() {
            let bound = heads.bound();
            assert!(naive.stays_first_with(bound), "{step:?}: {bound}");
            assert!(bound == u64::MAX || !naive.stays_first_with(bound + 1), "{step:?}: {bound}");
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn few_sources_are_chosen_as_by_a_naive_search(steps in steps(6), slots in 0..8_usize) {
        check(&steps, slots);
    }

    #[test]
    fn many_sources_are_chosen_as_by_a_naive_search(steps in steps(40)) {
        check(&steps, 40);
    }

    #[test]
    fn streams_in_order_are_merged_as_by_a_stable_sort(mut streams in streams()) {
        for times in &mut streams {
            times.sort_unstable();
        }
        let (merged, sorted) = merged_and_sorted(&streams);
        prop_assert_eq!(merged, sorted);
    }
}

/// A record as its time, its source, and its number in the source.
type Item = (u64, usize, usize);

/// Merges streams in the order of their times, and sorts all their records.
fn merged_and_sorted(streams: &[Vec<u64>]) -> (Vec<Item>, Vec<Item>) {
    let mut heads = Heads::new(vec![Head::default(); streams.len()]);
    let mut next = vec![0; streams.len()];
    for (source, times) in streams.iter().enumerate().filter(|(_, times)| !times.is_empty()) {
        assert!(heads.insert(source, times[0]));
    }
    let mut merged = vec![];
    while let (Some(source), Some(time)) = (heads.first(), heads.time()) {
        merged.push((time, source, next[source]));
        next[source] += 1;
        heads.advance(streams[source].get(next[source]).copied());
    }
    let item = |source| move |(index, &time): (usize, &u64)| (time, source, index);
    let items = streams.iter().enumerate();
    let mut sorted: Vec<_> =
        items.flat_map(|(source, times)| times.iter().enumerate().map(item(source))).collect();
    sorted.sort_by_key(|&(time, ..)| time);
    (merged, sorted)
}

#[test]
fn two_rings_of_up_to_four_records_are_merged_in_all_orders() {
    // Eight times are enough for every order of eight records, with and without equal times.
    let mut rings = vec![vec![]];
    for len in 0..4 {
        let longest: Vec<_> = rings.iter().filter(|times: &&Vec<u64>| times.len() == len).cloned().collect();
        for times in longest {
            let after = times.last().copied().unwrap_or(0);
            rings.extend((after..8).map(|time| [&times[..], &[time]].concat()));
        }
    }
    assert_eq!(rings.iter().filter(|times| times.len() == 4).count(), 330);
    for first in &rings {
        for second in &rings {
            let (merged, sorted) = merged_and_sorted(&[first.clone(), second.clone()]);
            assert_eq!(merged, sorted);
        }
    }
}
