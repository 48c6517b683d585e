use perf_decode::{Layout, LayoutVisitor, SampleLayout, Scratch, Window};
use perfkit_benches_readers::{Touch, Workload};
use std::marker::PhantomData;

use super::for_match;

/// The loop of shape a with [`SampleLayout::specialize`]: at the speed of a constant layout if the
/// attr is one of the common ones, as those of side-band and mix are.
#[inline(always)]
pub(crate) fn specialized<W: Workload, T: Touch>(
    window: Window<'_>,
    scratch: &mut Scratch,
    layout: &SampleLayout,
) -> u64 {
    layout.specialize(ForMatch { window, scratch, reads: PhantomData::<(W, T)> })
}

struct ForMatch<'a, R> {
    window: Window<'a>,
    scratch: &'a mut Scratch,
    reads: PhantomData<R>,
}

impl<W: Workload, T: Touch> LayoutVisitor for ForMatch<'_, (W, T)> {
    type Output = u64;

    fn visit<L: Layout>(self, layout: L) -> u64 {
        for_match::read::<W, T, L>(self.window, self.scratch, layout)
    }
}
