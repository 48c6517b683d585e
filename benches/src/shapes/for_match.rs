use perf_decode::{Layout, Record, SampleLayout, Scratch, Window};
use perfkit_benches_readers::by_hand::Pointers;
use perfkit_benches_readers::collector::Elsewhere;
use perfkit_benches_readers::ours::{self, Constant};
use perfkit_benches_readers::{Frames, Peer, Sum, Touch, Workload};

use super::Shape;

/// A `for` loop and one `match` over the results of `decode`.
pub struct ForMatch;

impl Shape for ForMatch {
    const NAME: &'static str = "a for, match";

    #[inline(always)]
    fn by_hand<W: Elsewhere<T>, T: Touch>(words: &[u64]) -> u64 {
        let mut sum = Sum::default();
        for record in Pointers::new(words) {
            // SAFETY: the words are whole records of this workload.
            unsafe { W::read::<T>(&mut sum, record) }
        }
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
        let mut sum = Sum::default();
        for frame in Frames::new(bytes) {
            match P::decode(frame, config) {
                Some(record) => P::read::<W, T>(&mut sum, &record),
                None => sum.refused(),
            }
        }
        sum.0
    }
}

#[inline(always)]
pub(super) fn read<W: Workload, T: Touch, L: Layout>(
    window: Window<'_>,
    scratch: &mut Scratch,
    layout: L,
) -> u64 {
    let mut sum = Sum::default();
    for raw in window.records(scratch) {
        let Ok(raw) = raw else {
            sum.refused();
            break;
        };
        match raw.decode(layout) {
            Ok(Record::Sample(sample)) => ours::sample::<W, T, L>(&mut sum, &sample),
            Ok(other) => ours::other::<W, T, L>(&mut sum, &other),
            Err(_) => sum.refused(),
        }
    }
    sum.0
}
