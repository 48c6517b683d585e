use perf_decode::{Layout, Record, Result, SampleLayout, Scratch, Window};
use perfkit_benches_readers::by_hand::Pointers;
use perfkit_benches_readers::collector::Elsewhere;
use perfkit_benches_readers::ours::{self, Constant};
use perfkit_benches_readers::{Frames, Peer, Sum, Touch, Workload};

use super::{Shape, or_refused};

/// 64 records at a time, collected into a reused `Vec` and then read.
pub struct Collected;

const BATCH: usize = 64;

impl Shape for Collected {
    const NAME: &'static str = "e Vec of 64";
    const ALLOCATIONS: u64 = 1;

    #[inline(always)]
    fn by_hand<W: Elsewhere<T>, T: Touch>(words: &[u64]) -> u64 {
        let mut sum = Sum::default();
        let mut records = Pointers::new(words);
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            for record in records.by_ref().take(BATCH) {
                batch.push(record);
            }
            if batch.is_empty() {
                return sum.0;
            }
            for record in &batch {
                // SAFETY: the words are whole records of this workload.
                unsafe { W::read::<T>(&mut sum, *record) }
            }
        }
    }

    #[inline(always)]
    fn run_time<W: Elsewhere<T>, T: Touch>(
        window: Window<'_>,
        scratch: &mut Scratch,
        layout: &SampleLayout,
    ) -> u64 {
        or_refused(read::<W, T, _>(window, scratch, layout))
    }

    #[inline(always)]
    fn constant<W: Elsewhere<T>, T: Touch>(window: Window<'_>, scratch: &mut Scratch) -> u64 {
        or_refused(read::<W, T, _>(window, scratch, Constant::<W>::LAYOUT))
    }

    #[inline(always)]
    fn peer<P: Peer, W: Elsewhere<T>, T: Touch>(bytes: &[u8], config: &P::Config) -> u64 {
        or_refused(read_peer::<P, W, T>(bytes, config).ok_or(()))
    }
}

#[inline(always)]
fn read<W: Workload, T: Touch, L: Layout>(
    window: Window<'_>,
    scratch: &mut Scratch,
    layout: L,
) -> Result<u64> {
    let mut sum = Sum::default();
    let mut records = window.records(scratch);
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        batch.clear();
        for raw in records.by_ref().take(BATCH) {
            batch.push(raw?.decode(layout)?);
        }
        if batch.is_empty() {
            return Ok(sum.0);
        }
        for record in &batch {
            match record {
                Record::Sample(sample) => ours::sample::<W, T, L>(&mut sum, sample),
                other => ours::other::<W, T, L>(&mut sum, other),
            }
        }
    }
}

#[inline(always)]
fn read_peer<P: Peer, W: Workload, T: Touch>(bytes: &[u8], config: &P::Config) -> Option<u64> {
    let mut sum = Sum::default();
    let mut frames = Frames::new(bytes);
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        batch.clear();
        for frame in frames.by_ref().take(BATCH) {
            batch.push(P::decode(frame, config)?);
        }
        if batch.is_empty() {
            return Some(sum.0);
        }
        for record in &batch {
            P::read::<W, T>(&mut sum, record);
        }
    }
}
