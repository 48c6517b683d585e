use perf_decode::{Layout, Record, SampleLayout, Scratch, Window};
use perfkit_benches_readers::by_hand::Pointers;
use perfkit_benches_readers::collector::Elsewhere;
use perfkit_benches_readers::ours::{self, Constant};
use perfkit_benches_readers::{Frames, Peer, Sum, Touch, Workload};

use super::Shape;

/// Iterator adaptors: `filter_map` over what can be decoded, then `fold`.
pub struct Adaptors;

impl Shape for Adaptors {
    const NAME: &'static str = "f adaptors";

    #[inline(always)]
    fn by_hand<W: Elsewhere<T>, T: Touch>(words: &[u64]) -> u64 {
        let sum = Pointers::new(words).fold(Sum::default(), |mut sum, record| {
            // SAFETY: the words are whole records of this workload.
            unsafe { W::read::<T>(&mut sum, record) }
            sum
        });
        sum.0
    }

    #[inline(always)]
    fn run_time<W: Elsewhere<T>, T: Touch>(
        window: Window<'_>,
        scratch: &mut Scratch,
        layout: &SampleLayout,
    ) -> u64 {
        read::<W, T, _>(window, scratch, layout)
    }

    #[inline(always)]
    fn constant<W: Elsewhere<T>, T: Touch>(window: Window<'_>, scratch: &mut Scratch) -> u64 {
        read::<W, T, _>(window, scratch, Constant::<W>::LAYOUT)
    }

    #[inline(always)]
    fn peer<P: Peer, W: Elsewhere<T>, T: Touch>(bytes: &[u8], config: &P::Config) -> u64 {
        let sum = Frames::new(bytes).filter_map(|frame| P::decode(frame, config)).fold(
            Sum::default(),
            |mut sum, record| {
                P::read::<W, T>(&mut sum, &record);
                sum
            },
        );
        sum.0
    }
}

#[inline(always)]
fn read<W: Workload, T: Touch, L: Layout>(window: Window<'_>, scratch: &mut Scratch, layout: L) -> u64 {
    let records = window.records(scratch).filter_map(|raw| raw.ok()?.decode(layout).ok());
    let sum = records.fold(Sum::default(), |mut sum, record| {
        match record {
            Record::Sample(sample) => ours::sample::<W, T, L>(&mut sum, &sample),
            other => ours::other::<W, T, L>(&mut sum, &other),
        }
        sum
    });
    sum.0
}
