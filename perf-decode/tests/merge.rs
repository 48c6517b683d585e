//! Merges of any streams, left and continued at any item, against a naive merge.

#![allow(clippy::indexing_slicing, reason = "a test's helpers may fail it")]

mod support;

use std::collections::VecDeque;
use std::ops::ControlFlow;

use perf_decode::{Buffered, Merge, Source};
use proptest::collection::vec;
use proptest::prelude::*;
use support::arbitrary::cases;
use support::arbitrary::framing::streams;

/// A stream and the index of the item in it.
type Id = (usize, usize);

/// A stream that can be refilled.
#[derive(Clone, Debug, Default)]
struct Queue(VecDeque<(u64, Id)>);

impl Iterator for Queue {
    type Item = (u64, Id);

    fn next(&mut self) -> Option<(u64, Id)> {
        self.0.pop_front()
    }
}

type Queues = Merge<Queue, Vec<Source<Queue>>, Vec<Option<Buffered<Id>>>>;

/// The items that a merge delivers, and the numbers of late and of early ones.
type Outcome = (Vec<(u64, Id)>, u64, u64);

fn items(stream: usize, times: &[u64]) -> Queue {
    Queue(times.iter().enumerate().map(|(index, time)| (*time, (stream, index))).collect())
}

fn queues(streams: &[Vec<u64>]) -> Vec<Queue> {
    streams.iter().enumerate().map(|(stream, times)| items(stream, times)).collect()
}

fn merge(streams: Vec<Queue>, slots: usize, lateness: u64) -> Queues {
    Merge::new(streams.into_iter().map(Source::new).collect(), vec![None; slots], lateness)
}

/// The documented order by searches and insertions, without any structure that could be wrong.
fn naive(mut streams: Vec<Queue>, slots: usize, lateness: u64) -> Outcome {
    let mut latest = vec![0; streams.len()];
    let (mut buffer, mut outcome) = (Vec::<(u64, Id)>::new(), Outcome::default());
    let mut deliver = |item: (u64, Id), is_early: bool| {
        outcome.1 += u64::from(outcome.0.iter().any(|(time, _)| *time > item.0));
        outcome.2 += u64::from(is_early);
        outcome.0.push(item);
    };
    loop {
        let keys = |streams: &[Queue], latest: &[u64]| {
            let key = |index: usize| Some((streams[index].0.front()?.0.max(latest[index]), index));
            (0..streams.len()).filter_map(key).min()
        };
        let certain = |time: u64, key: Option<(u64, usize)>| {
            key.is_none_or(|(key, _)| u128::from(time) + u128::from(lateness) <= u128::from(key))
        };
        let key = keys(&streams, &latest);
        if buffer.first().is_some_and(|(time, _)| certain(*time, key)) {
            deliver(buffer.remove(0), false);
            continue;
        }
        let Some((key, index)) = key else { return outcome };
        let item = streams[index].next().unwrap_or_default();
        latest[index] = key;
        buffer.insert(buffer.partition_point(|(time, _)| *time <= item.0), item);
        if buffer.len() > slots {
            let first = buffer.remove(0);
            deliver(first, !certain(first.0, keys(&streams, &latest)));
        }
    }
}

/// One step of a tracer with the next items.
#[derive(Clone, Copy, Debug)]
enum Step {
    Next,
    Peek,
    NextIf(bool),
    Drain(usize),
    /// Replaces the merge by a new one of its sources and its buffer.
    Rebuild,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Next),
        1 => Just(Step::Peek),
        1 => any::<bool>().prop_map(Step::NextIf),
        1 => (1..9_usize).prop_map(Step::Drain),
        1 => Just(Step::Rebuild),
    ];
    vec(step, 1..60)
}

/// Merges in these steps, over and over.
fn stepwise(mut merge: Queues, lateness: u64, steps: &[Step]) -> Outcome {
    let mut outcome = Outcome::default();
    for step in steps.iter().cycle() {
        match *step {
            Step::Next => match merge.next() {
                Some(item) => outcome.0.push(item),
                None => break,
            },
            Step::Peek => assert_eq!(merge.peek().copied(), merge.clone().next()),
            Step::NextIf(is_taken) => outcome.0.extend(merge.next_if(|_| is_taken)),
            Step::Drain(count) => {
                let until = outcome.0.len() + count;
                let flow = merge.drain(|item| {
                    outcome.0.push(item);
                    if outcome.0.len() < until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
                if flow.is_continue() {
                    break;
                }
            }
            Step::Rebuild => {
                outcome.1 += merge.late();
                outcome.2 += merge.early();
                let (sources, buffer) = merge.into_parts();
                merge = Merge::new(sources, buffer, lateness);
            }
        }
        if matches!(steps, [Step::Peek | Step::NextIf(false) | Step::Rebuild]) {
            outcome.0.extend(merge.next());
        }
    }
    outcome.0.extend(merge.by_ref());
    (outcome.0, outcome.1 + merge.late(), outcome.2 + merge.early())
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn a_merge_agrees_with_a_naive_one(
        streams in streams(),
        slots in 0..40_usize,
        lateness in prop_oneof![Just(0), 0..200_u64, Just(u64::MAX)],
    ) {
        let expected = naive(queues(&streams), slots, lateness);
        let mut next = merge(queues(&streams), slots, lateness);
        let found: Vec<_> = next.by_ref().collect();
        prop_assert_eq!(&(found, next.late(), next.early()), &expected);
        let fold = merge(queues(&streams), slots, lateness);
        prop_assert_eq!(fold.fold(vec![], |mut all, item| { all.push(item); all }), expected.0);
    }

    #[test]
    fn a_merge_that_is_left_early_loses_nothing(
        streams in streams(),
        slots in 0..40_usize,
        lateness in prop_oneof![Just(0), 0..200_u64],
        steps in steps(),
    ) {
        let steps: Vec<_> =
            steps.into_iter().filter(|step| !matches!(step, Step::Rebuild)).chain([Step::Next]).collect();
        let found = stepwise(merge(queues(&streams), slots, lateness), lateness, &steps);
        prop_assert_eq!(found, naive(queues(&streams), slots, lateness));
    }

    #[test]
    fn a_merge_that_is_rebuilt_keeps_the_order(
        streams in vec(vec(0..200_u64, 0..40), 0..6),
        steps in steps(),
        lateness in 0..2_u64,
    ) {
        let sorted = |mut times: Vec<u64>| { times.sort_unstable(); times };
        let streams: Vec<_> = streams.into_iter().map(sorted).collect();
        let steps: Vec<_> = steps.into_iter().chain([Step::Next]).collect();
        let found = stepwise(merge(queues(&streams), 300, lateness), lateness, &steps);
        prop_assert_eq!(found, naive(queues(&streams), 300, lateness));
    }

    #[test]
    fn rounds_keep_the_order(
        streams in vec(vec(0..200_u64, 0..40), 0..6),
        rounds in vec((1..60_u64, 0..4_usize, 0..6_usize), 1..12),
        lateness in prop_oneof![Just(0), 0..20_u64],
    ) {
        let sorted = |mut times: Vec<u64>| { times.sort_unstable(); times };
        let streams: Vec<_> = streams.into_iter().map(sorted).collect();
        let mut expected: Vec<_> = queues(&streams).into_iter().flatten().collect();
        expected.sort_by_key(|(time, (stream, _))| (*time, *stream));
        let mut unread = queues(&streams);
        let mut merge = merge(vec![Queue::default(); streams.len()], 300, lateness);
        let (mut until, mut found) = (0, Vec::new());
        for (step, more, leave) in rounds {
            until += step;
            for (queue, source) in unread.iter_mut().zip(merge.sources_mut()) {
                let complete = queue.0.partition_point(|(time, _)| *time <= until);
                let count = (complete + more).min(queue.0.len());
                source.stream_mut().0.extend(queue.0.drain(..count));
            }
            merge.start_round(until);
            found.extend(merge.by_ref().take(leave));
            if leave % 2 == 0 {
                found.extend(merge.by_ref());
                prop_assert_eq!(found.len(), expected.partition_point(|(time, _)| *time <= until));
            }
        }
        for (queue, source) in unread.into_iter().zip(merge.sources_mut()) {
            source.stream_mut().0.extend(queue.0);
        }
        merge.start_round(u64::MAX);
        found.extend(merge.by_ref());
        prop_assert!(found.is_sorted_by_key(|(time, _)| *time));
        // Among items of the same time, those of an earlier round may be first.
        found.sort_by_key(|(time, (stream, _))| (*time, *stream));
        prop_assert_eq!(found, expected);
        prop_assert_eq!((merge.late(), merge.early()), (0, 0));
    }
}
