use perf_decode::{Layout, Record, Result, SampleLayout, Scratch, Window};
use perfkit_benches_readers::by_hand::Pointers;
use perfkit_benches_readers::collector::Elsewhere;
use perfkit_benches_readers::ours::{self, Constant};
use perfkit_benches_readers::{Frames, Peer, Sum, Touch, Workload};

use super::{Shape, or_refused};

/// `let record = raw.decode(layout)?`, then `if let Record::Sample` and an `else`.
pub struct IfLet;

impl Shape for IfLet {
    const NAME: &'static str = "b ?, if let";

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
    for raw in window.records(scratch) {
        let record = raw?.decode(layout)?;
        if let Record::Sample(sample) = &record {
            ours::sample::<W, T, L>(&mut sum, sample);
        } else {
            ours::other::<W, T, L>(&mut sum, &record);
        }
    }
    Ok(sum.0)
}

#[inline(always)]
fn read_peer<P: Peer, W: Workload, T: Touch>(bytes: &[u8], config: &P::Config) -> Option<u64> {
    let mut sum = Sum::default();
    for frame in Frames::new(bytes) {
        let record = P::decode(frame, config)?;
        P::read::<W, T>(&mut sum, &record);
    }
    Some(sum.0)
}
