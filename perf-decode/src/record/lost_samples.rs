//! The view of `LOST_SAMPLES` records.

use perf_abi::ReadFormat;

use crate::layout::Layout;

view! {
    /// The PMU lost samples before they reached the ring.
    ///
    /// Recorders write it, too, for the records that an event with `PERF_FORMAT_LOST` has lost: see
    /// [`LostCounts::note`](crate::LostCounts::note). Since Linux 4.2.
    #[doc(alias = "PERF_RECORD_LOST_SAMPLES")]
    LostSamples of LOST_SAMPLES {
        /// Returns the number of samples lost.
        lost: u64,
    }
}

impl<L: Layout> LostSamples<'_, L> {
    /// Returns the `read_format` of the event.
    pub(crate) fn read_format(&self) -> ReadFormat {
        self.0.read_format()
    }
}
