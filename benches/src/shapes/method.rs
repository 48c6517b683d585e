use perf_decode::{SampleLayout, Scratch, Window};
use perfkit_benches_readers::by_hand::Pointers;
use perfkit_benches_readers::collector::{Collector, Elsewhere};
use perfkit_benches_readers::ours::Constant;
use perfkit_benches_readers::{Frames, Peer, Touch};

use super::{Shape, or_refused};

/// A method of another crate that is never inlined, is handed a `RawRecord` and keeps the layout in `self`.
pub struct Method;

impl Shape for Method {
    const NAME: &'static str = "g method";

    #[inline(always)]
    fn by_hand<W: Elsewhere<T>, T: Touch>(words: &[u64]) -> u64 {
        let mut collector = Collector::new(());
        for record in Pointers::new(words) {
            W::by_hand(&mut collector, record);
        }
        collector.sum()
    }

    #[inline(always)]
    fn run_time<W: Elsewhere<T>, T: Touch>(
        window: Window<'_>,
        scratch: &mut Scratch,
        layout: &SampleLayout,
    ) -> u64 {
        let mut collector = Collector::new(*layout);
        for raw in window.records(scratch) {
            let Ok(raw) = raw else { return or_refused(Err(())) };
            W::run_time(&mut collector, raw);
        }
        collector.sum()
    }

    #[inline(always)]
    fn constant<W: Elsewhere<T>, T: Touch>(window: Window<'_>, scratch: &mut Scratch) -> u64 {
        let mut collector = Collector::new(Constant::LAYOUT);
        for raw in window.records(scratch) {
            let Ok(raw) = raw else { return or_refused(Err(())) };
            W::constant(&mut collector, raw);
        }
        collector.sum()
    }

    #[inline(always)]
    fn peer<P: Peer, W: Elsewhere<T>, T: Touch>(bytes: &[u8], config: &P::Config) -> u64 {
        let mut collector = Collector::new(config.clone());
        for frame in Frames::new(bytes) {
            W::peer::<P>(&mut collector, frame);
        }
        collector.sum()
    }
}
