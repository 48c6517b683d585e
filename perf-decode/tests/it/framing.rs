//! Rings of any content at any position: written records are framed, and malformed ones are
//! refused.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test's helpers may fail it"
)]

use crate::support::arbitrary::cases;
use crate::support::arbitrary::framing::{position, random_ring, records};
use perf_decode::testing::builder::ring;
use perf_decode::{BackwardRecords, Error, Scratch, Window};
use proptest::prelude::*;

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
        prop_assert!(records.position() + records.truncated_len() <= size);
        prop_assert!(records.next().is_none());
    }

    #[test]
    fn backward_ring_has_the_newest_records_and_leaves_out_the_truncated_one(
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
        prop_assert_eq!(records.truncated_len(), cut);
    }
}
