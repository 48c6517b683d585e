//! Rings of any content at any position: written records are framed, and malformed ones are
//! refused. Streams of any times: a merge loses nothing.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test's helpers may fail it"
)]

mod support;

use perf_decode::testing::builder::ring;
use perf_decode::{BackwardRecords, Error, Merge, Scratch, Source, Window};
use proptest::prelude::*;
use support::arbitrary::cases;
use support::arbitrary::framing::{position, random_ring, records, streams};

/// Words of the smallest ring that holds `records`, times a power of two.
fn ring_words(records: &[Vec<u64>], spare: u32) -> usize {
    let needed: usize = records.iter().map(Vec::len).sum();
    needed.next_power_of_two() << spare
}

/// A `write_backward` ring with these records in it, the last written first, and its head.
fn backward_ring(records: &[Vec<u64>], words: usize) -> (Vec<u64>, u64) {
    let (mut data, mut head) = (vec![0; words], 0_u64);
    for record in records {
        head = head.wrapping_sub(record.len() as u64 * 8);
        for (index, word) in record.iter().enumerate() {
            data[((head / 8) as usize + index) % words] = *word;
        }
    }
    (data, head)
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn records_are_framed_at_every_position(
        written in records(),
        spare in 0..3_u32,
        start in position(),
    ) {
        let (data, tail, head) = ring(&written, ring_words(&written, spare), start);
        let mut scratch = Scratch::new();
        let window = Window::new(&data, tail, head).unwrap();
        prop_assert_eq!(window.len() as u64, head.wrapping_sub(tail));
        let mut records = window.records(&mut scratch);
        let mut position = 0;
        for expected in &written {
            let record = records.next().unwrap().unwrap();
            prop_assert_eq!(record.words(), &expected[..]);
            position += record.size() as u64;
            prop_assert_eq!(records.position(), position);
        }
        prop_assert_eq!(records.next(), None);
        prop_assert_eq!(position, head.wrapping_sub(tail));
    }

    #[test]
    fn records_of_a_window_live_together(written in records(), start in position()) {
        let (data, tail, head) = ring(&written, ring_words(&written, 0), start);
        let mut scratch = Scratch::new();
        let records = Window::new(&data, tail, head).unwrap().records(&mut scratch);
        let together: Vec<_> = records.map(Result::unwrap).collect();
        prop_assert!(together.iter().map(|record| record.words()).eq(&written));
    }

    #[test]
    fn random_ring_is_not_read_past_its_end(
        data in random_ring(),
        start in position(),
        used in 0..1500_u64,
    ) {
        let mut scratch = Scratch::new();
        let Ok(window) = Window::new(&data, start, start.wrapping_add(used)) else { return Ok(()) };
        let (len, words) = (window.len() as u64, window.len() / 8);
        let mut records = window.records(&mut scratch);
        let mut position = 0;
        let mut malformed = false;
        for _ in 0..=words {
            let Some(record) = records.next() else { break };
            prop_assert!(!malformed, "no record follows a malformed one");
            match record {
                Ok(record) => position += record.size() as u64,
                Err(error) => {
                    malformed = true;
                    let at = match error {
                        Error::SizeBelowHeader { at, size: 0..8 } => at,
                        Error::UnalignedSize { at, size } if size % 8 != 0 => at,
                        Error::SizePastEnd { at, size, available } => {
                            prop_assert!(u64::from(size) > available);
                            prop_assert_eq!(at + available, len);
                            at
                        }
                        other => return Err(TestCaseError::fail(format!("{other:?}"))),
                    };
                    prop_assert_eq!(at, position);
                }
            }
            prop_assert_eq!(records.position(), position);
        }
        prop_assert_eq!(records.next(), None);
        prop_assert_eq!(malformed, position != len);
    }

    #[test]
    fn random_backward_ring_is_not_read_past_its_end(
        data in random_ring(),
        written in position(),
    ) {
        let mut scratch = Scratch::new();
        let Ok(mut records) = BackwardRecords::new(&data, written.wrapping_neg(), &mut scratch) else { return Ok(()) };
        let size = (data.len() as u64 * 8).min(written);
        let mut steps = 0;
        while records.next().is_some() {
            steps += 1;
            prop_assert!(steps <= data.len() + 1);
        }
        prop_assert!(records.position() + records.cut() <= size);
        prop_assert!(records.next().is_none());
    }

    #[test]
    fn backward_ring_has_the_newest_records_and_leaves_out_the_cut_one(
        written in records(),
        power in 0..11_u32,
    ) {
        let words = 1 << power;
        // A record must fit into the ring, or the kernel would not have written it.
        let written: Vec<_> = written.into_iter().filter(|record| record.len() <= words).collect();
        let (data, head) = backward_ring(&written, words);
        let mut room = words;
        let newest = written.iter().rev();
        let whole: Vec<_> = newest
            .take_while(|record| room.checked_sub(record.len()).map(|left| room = left).is_some())
            .collect();
        let mut scratch = Scratch::new();
        let mut records = BackwardRecords::new(&data, head, &mut scratch).unwrap();
        for expected in &whole {
            prop_assert_eq!(records.next().unwrap().unwrap().words(), &expected[..]);
        }
        prop_assert!(records.next().is_none());
        let cut = if whole.len() < written.len() { room as u64 * 8 } else { 0 };
        prop_assert_eq!(records.cut(), cut);
    }
}

/// A thing to merge: its stream, and its number there.
type Thing = (usize, usize);

/// Merges `streams` and returns what came out, and how much of it was late and how much early.
fn merged(streams: &[Vec<u64>], room: usize, lateness: u64) -> (Vec<(u64, Thing)>, u64, u64) {
    let timed = |(stream, times): (usize, &Vec<u64>)| {
        let things: Vec<_> = times.iter().enumerate().map(|(index, time)| (*time, (stream, index))).collect();
        Source::new(things.into_iter())
    };
    let mut sources: Vec<_> = streams.iter().enumerate().map(timed).collect();
    let mut waiting = vec![None; room];
    let mut merge = Merge::new(&mut sources, &mut waiting, lateness);
    let all = merge.by_ref().collect();
    (all, merge.late(), merge.early())
}

/// How far behind an earlier one of its stream a time is, at most.
fn largest_inversion(streams: &[Vec<u64>]) -> u64 {
    let of_stream = |times: &Vec<u64>| {
        let latest = times.iter().scan(0, |latest, time| {
            *latest = (*latest).max(*time);
            Some(*latest - time)
        });
        latest.max().unwrap_or(0)
    };
    streams.iter().map(of_stream).max().unwrap_or(0)
}

/// Everything there is to merge, in a defined order.
fn everything(streams: &[Vec<u64>]) -> Vec<(u64, Thing)> {
    let of_stream = |(stream, times): (usize, &Vec<u64>)| {
        times.iter().enumerate().map(move |(index, time)| (*time, (stream, index))).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = streams.iter().enumerate().flat_map(of_stream).collect();
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_merge_with_lateness_and_room_enough_is_sorted(streams in streams(), more in 0..100_u64) {
        let all = everything(&streams);
        let (mut found, late, early) = merged(&streams, all.len(), largest_inversion(&streams) + more);
        prop_assert_eq!((late, early), (0, 0));
        prop_assert!(found.is_sorted_by_key(|(time, _)| time));
        for stream in 0..streams.len() {
            let of_stream = found.iter().filter(|(_, thing)| thing.0 == stream);
            prop_assert!(of_stream.is_sorted_by_key(|&(time, (_, index))| (time, index)));
        }
        found.sort_unstable();
        prop_assert_eq!(found, all);
    }

    #[test]
    fn a_merge_in_any_room_loses_nothing_and_counts_what_is_late(
        streams in streams(),
        room in 0..40_usize,
        lateness in 0..200_u64,
    ) {
        let (mut found, late, _) = merged(&streams, room, lateness);
        let mut latest = 0;
        let behind = found.iter().filter(|(time, _)| {
            let is_behind = *time < latest;
            latest = latest.max(*time);
            is_behind
        });
        prop_assert_eq!(behind.count() as u64, late);
        found.sort_unstable();
        prop_assert_eq!(found, everything(&streams));
    }
}
