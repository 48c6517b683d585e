//! Random streams, compared with a sort of all records.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// A simple generator of random numbers (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Writes records of one time slot a round into random rings, some of them in the wrong order
/// within a ring, and some a round later than their time; checks that each is delivered once, in
/// order if it was written in its own slot.
fn deliver(seed: u64, stragglers: bool) -> u64 {
    let mut random = Random(seed | 1);
    let rings = 1 + random.below(5) as usize;
    let (mut set, mut kernels) = set(rings, 1000);
    let (mut written, mut delivered) = (vec![], vec![]);
    for slot in 0..60 {
        let mut times: Vec<_> = (0..random.below(30)).map(|n| slot * 1000 + n * 10).collect();
        for _ in 0..times.len() / 8 {
            let at = random.below(times.len() as u64 - 1) as usize;
            times.swap(at, at + 1);
        }
        for time in times {
            let is_late = stragglers && random.below(20) == 0;
            let time = if is_late { time.saturating_sub(2000) } else { time };
            write(&mut kernels[random.below(rings as u64) as usize], time, written.len() as u64);
            written.push(time);
        }
        drain(&mut set, &mut delivered, random.below(4) == 0);
    }
    set.flush_sorted(|record| delivered.push((seconds(&record), record.raw().words()[2]))).unwrap();

    let mut latest = 0;
    let late = delivered.iter().filter(|&&(time, _)| {
        let is_late = time < latest;
        latest = latest.max(time);
        is_late
    });
    assert_eq!(late.count() as u64, set.late(), "{seed}");
    let mut numbers: Vec<_> = delivered.iter().map(|&(_, number)| number as usize).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..written.len()), "{seed}: each once");
    assert!(delivered.iter().all(|&(time, number)| written[number as usize] == time));
    set.late()
}

/// Reads a round, in two parts if `interrupted`.
fn drain(set: &mut RingSet<usize>, delivered: &mut Vec<(u64, u64)>, interrupted: bool) {
    let mut left = if interrupted { 3 } else { usize::MAX };
    let (_, flow) = set
        .try_drain_sorted(|record| {
            delivered.push((seconds(&record), record.raw().words()[2]));
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    if flow.is_break() {
        set.drain_sorted(|record| delivered.push((seconds(&record), record.raw().words()[2]))).unwrap();
    }
}

#[test]
fn records_of_neighbouring_rounds_are_delivered_once_and_in_order() {
    for seed in 0..200 {
        assert_eq!(deliver(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), false), 0, "{seed}");
    }
}

#[test]
fn stragglers_are_delivered_once_and_counted() {
    let late: u64 = (0..200).map(|seed| deliver(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), true)).sum();
    assert!(late > 0);
}

/// Calls a round whose callback panics at the record `after` that many others.
fn panic_after(set: &mut RingSet<usize>, delivered: &mut Vec<(u64, u64)>, after: u64) {
    let before = delivered.len() as u64;
    let round = catch_unwind(AssertUnwindSafe(|| {
        set.drain_sorted(|record| {
            delivered.push((seconds(&record), record.raw().words()[2]));
            if delivered.len() as u64 - before > after {
                std::panic::resume_unwind(Box::new(())); // without the hook, which prints
            }
        })
    }));
    assert_eq!(round.is_err(), delivered.len() as u64 - before > after);
}

#[test]
fn records_after_a_panic_are_delivered_once_and_in_order() {
    for seed in 1..100 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let rings = 1 + random.below(5) as usize;
        let (mut set, mut kernels) = set_of_pages(rings, 0, 4);
        // Pairs in the wrong order, as interrupts write them.
        let times: Vec<_> = (0..400_u64).map(|n| 10 * (n ^ u64::from(n % 7 == 0))).collect();
        // Both of a pair are in one ring, so that no record is late.
        for (number, pair) in times.chunks(2).enumerate() {
            let kernel = &mut kernels[random.below(rings as u64) as usize];
            pair.iter().zip(2 * number as u64..).for_each(|(&time, number)| write(kernel, time, number));
        }
        let (mut delivered, mut tails) = (vec![], 0);
        for _ in 0..random.below(8) {
            panic_after(&mut set, &mut delivered, random.below(150));
            // A ring's tail is not after a record that was not delivered.
            tails = kernels.iter().map(Kernel::tail).sum();
            assert!(tails <= 24 * delivered.len() as u64, "{seed}");
            assert_eq!(set.sort.delivered.records, delivered.len() as u64, "{seed}");
        }
        let rest =
            set.flush_sorted(|record| delivered.push((seconds(&record), record.raw().words()[2]))).unwrap();
        assert!(rest.records > 0 || tails == 24 * 400);
        assert!(delivered.is_sorted_by_key(|&(time, _)| time) && set.late() == 0, "{seed}");
        let mut numbers: Vec<_> = delivered.iter().map(|&(_, number)| number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..400), "{seed}: each once");
        assert_eq!(kernels.iter().map(Kernel::tail).sum::<u64>(), 24 * 400, "{seed}: all are released");
    }
}
