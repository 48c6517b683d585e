//! The fixed fields at the start of a sample.

use crate::error::Result;
use crate::fixed::head_accessors;
use crate::layout::{Layout, SampleLayout};
use crate::raw::RawRecord;
use crate::schema::words::HEAD;

use super::sample_error;

/// The fixed fields at the start of a sample, after one check of its length.
///
/// For code that needs no other fields. Nothing after the head is read or validated.
/// [`Sample`](crate::Sample) has the same accessors and more.
///
/// ```
/// use perf_abi::{Attr, SampleType, Software};
/// use perf_decode::{RawRecord, SampleLayout, testing::builder::SampleBuilder};
///
/// let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP | SampleType::CALLCHAIN);
/// let words = SampleBuilder::new(&attr).ip(0x401000).callchain(&[0x401000, 0x402000]).finish();
/// let layout = SampleLayout::new(&attr);
/// let head = RawRecord::from_words(&words)?.sample_head(&layout)?;
/// assert_eq!(head.ip(), Some(0x401000));
/// assert_eq!(head.time(), None);
/// # Ok::<(), perf_decode::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SampleHead<'a, L = &'a SampleLayout> {
    words: &'a [u64],
    layout: L,
}

impl<'a> RawRecord<'a> {
    /// Views the fixed fields of this SAMPLE record. The result for another kind has no meaning.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`](crate::Error::Truncated) with the first field that does not fit, or
    /// [`Error::UnknownBits`](crate::Error::UnknownBits).
    #[inline(always)]
    pub fn sample_head<L: Layout>(self, layout: L) -> Result<SampleHead<'a, L>> {
        let words = self.words();
        if words.len() < usize::from(layout.sample_layout().head_words) {
            return Err(sample_error(words, layout.sample_layout()));
        }
        Ok(SampleHead { words, layout })
    }
}

impl<L: Layout> SampleHead<'_, L> {
    /// Returns the word of a row of the head.
    #[inline(always)]
    fn word(&self, row: usize) -> Option<u64> {
        self.layout.sample_layout().head.get(row)?.of(self.words)
    }
}

head_accessors!(SampleHead);

impl<L: Layout> core::fmt::Debug for SampleHead<'_, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SampleHead")
            .field("sample_type", &self.sample_type())
            .field("ip", &self.ip())
            .field("pid", &self.pid())
            .field("tid", &self.tid())
            .field("time", &self.time())
            .field("cpu", &self.cpu())
            .finish_non_exhaustive()
    }
}
