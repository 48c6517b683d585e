use std::hint::black_box;

use perf_decode::{Layout, Record, Result, SampleLayout, Scratch, Window};
use perfkit_benches_readers::by_hand::{Pointer, Pointers};
use perfkit_benches_readers::collector::Elsewhere;
use perfkit_benches_readers::ours::{self, Constant};
use perfkit_benches_readers::{Frames, Peer, Sum, Touch, Workload};

use super::{Shape, or_refused};

/// A function that takes `&mut dyn FnMut(&Record)`.
///
/// Each callback goes through [`black_box`], for with one caller in sight the optimizer finds out
/// whom the `dyn` hides.
pub struct Callback;

impl Shape for Callback {
    const NAME: &'static str = "d dyn FnMut";

    #[inline(always)]
    fn by_hand<W: Elsewhere<T>, T: Touch>(words: &[u64]) -> u64 {
        let mut sum = Sum::default();
        // SAFETY: the words are whole records of this workload.
        let mut each = |record: Pointer| unsafe { W::read::<T>(&mut sum, record) };
        for_each_by_hand(words, black_box(&mut each));
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
        let mut each = |record: &P::Record<'_>| P::read::<W, T>(&mut sum, record);
        let read = for_each_of_peer::<P>(bytes, config, black_box(&mut each));
        or_refused(read.map(|()| sum.0).ok_or(()))
    }
}

#[inline(always)]
fn read<W: Workload, T: Touch, L: Layout>(window: Window<'_>, scratch: &mut Scratch, layout: L) -> u64 {
    let mut sum = Sum::default();
    let mut each = |record: &Record<'_, L>| match record {
        Record::Sample(sample) => ours::sample::<W, T, L>(&mut sum, sample),
        other => ours::other::<W, T, L>(&mut sum, other),
    };
    let read = for_each(window, scratch, layout, black_box(&mut each));
    or_refused(read.map(|()| sum.0))
}

// No `inline` attributes from here on: the compiler decides, as it does for a user's helper.

fn for_each<L: Layout>(
    window: Window<'_>,
    scratch: &mut Scratch,
    layout: L,
    each: &mut dyn FnMut(&Record<'_, L>),
) -> Result<()> {
    for raw in window.records(scratch) {
        each(&raw?.decode(layout)?);
    }
    Ok(())
}

fn for_each_by_hand(words: &[u64], each: &mut dyn FnMut(Pointer)) {
    for record in Pointers::new(words) {
        each(record);
    }
}

fn for_each_of_peer<P: Peer>(
    bytes: &[u8],
    config: &P::Config,
    each: &mut dyn FnMut(&P::Record<'_>),
) -> Option<()> {
    for frame in Frames::new(bytes) {
        each(&P::decode(frame, config)?);
    }
    Some(())
}
