use perf_abi::SampleType;

use super::refuse_head;
use crate::slot::Slot;
use crate::{RawRecord, Result, SampleLayout, word};

/// The fixed fields that begin a sample, after one check of its length.
///
/// For consumers who want no more than these: it costs no walk over the parts that follow, and says
/// nothing about them. [`Sample`](crate::Sample) has the same accessors and proves the rest too.
///
/// ```
/// use perf_abi::{Attr, SampleType, Software};
/// use perf_decode::{RawRecord, SampleHead, SampleLayout, testing::builder::SampleBuilder};
///
/// let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP | SampleType::CALLCHAIN);
/// let words = SampleBuilder::new(&attr).ip(0x401000).callchain(&[0x401000, 0x402000]).finish();
/// let layout = SampleLayout::new(&attr);
/// let head = SampleHead::parse(RawRecord::from_words(&words)?, &layout)?;
/// assert_eq!(head.ip(), Some(0x401000));
/// assert_eq!(head.time(), None);
/// # Ok::<(), perf_decode::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct SampleHead<'a> {
    raw: RawRecord<'a>,
    /// The record up to the end of its fixed fields.
    head: &'a [u64],
    layout: &'a SampleLayout,
}

impl<'a> SampleHead<'a> {
    /// Checks that a SAMPLE record is long enough for the fixed fields of its layout.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`](crate::Error::Truncated) with the first field that does not fit, or
    /// [`Error::UnknownSampleType`](crate::Error::UnknownSampleType).
    #[inline(always)]
    pub fn parse(raw: RawRecord<'a>, layout: &'a SampleLayout) -> Result<Self> {
        match raw.words().get(..usize::from(layout.head_words)) {
            Some(head) => Ok(Self { raw, head, layout }),
            None => Err(refuse_head(raw.words(), layout)),
        }
    }

    /// The record that this is a view of: for its `misc`, its size, or its bytes.
    #[inline]
    #[must_use]
    pub fn record(&self) -> RawRecord<'a> {
        self.raw
    }

    /// The layout that it was checked against.
    #[inline]
    #[must_use]
    pub fn layout(&self) -> &'a SampleLayout {
        self.layout
    }

    #[inline]
    pub(super) fn words(&self) -> &'a [u64] {
        self.raw.words()
    }

    /// A field's word. The slot and the head's length are the layout's, so a loop over samples of one layout
    /// compares them once.
    #[inline(always)]
    fn field(&self, slot: Slot) -> Option<u64> {
        slot.get(self.head)
    }

    /// Id of the opened event, always the first field (since Linux 3.12).
    #[inline]
    #[must_use]
    pub fn identifier(&self) -> Option<u64> {
        self.field(self.layout.head.identifier)
    }

    /// Instruction pointer. It is the very instruction that caused the event if the record's misc has
    /// [`EXACT_IP`](perf_abi::Misc::EXACT_IP).
    #[inline]
    #[must_use]
    pub fn ip(&self) -> Option<u64> {
        self.field(self.layout.head.ip)
    }

    /// Process, as the opener's pid namespace sees it; `0xffffffff` if it does not, 0 for the idle task.
    #[inline]
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.field(self.layout.head.tid).map(|word| word::halves(word)[0])
    }

    /// Thread, as the opener's pid namespace sees it.
    #[inline]
    #[must_use]
    pub fn tid(&self) -> Option<u32> {
        self.field(self.layout.head.tid).map(|word| word::halves(word)[1])
    }

    /// Nanoseconds of the event's clock.
    #[inline]
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        self.field(self.layout.head.time)
    }

    /// Data address: of the fault, the watched memory or the sampled access; 0 if the event has none.
    #[inline]
    #[must_use]
    pub fn addr(&self) -> Option<u64> {
        self.field(self.layout.head.addr)
    }

    /// Id of the opened event: an inherited copy reports its parent's.
    #[inline]
    #[must_use]
    pub fn id(&self) -> Option<u64> {
        self.field(self.layout.head.id)
    }

    /// Id of the event or of the inherited copy that fired.
    #[inline]
    #[must_use]
    pub fn stream_id(&self) -> Option<u64> {
        self.field(self.layout.head.stream_id)
    }

    /// CPU that wrote the sample.
    #[inline]
    #[must_use]
    pub fn cpu(&self) -> Option<u32> {
        self.field(self.layout.head.cpu).map(|word| word::halves(word)[0])
    }

    /// Events since the last sample; nanoseconds for the clocks in frequency mode.
    #[inline]
    #[must_use]
    pub fn period(&self) -> Option<u64> {
        self.field(self.layout.head.period)
    }

    /// The fields that the event samples.
    #[inline]
    #[must_use]
    pub fn sample_type(&self) -> SampleType {
        self.layout.sample_type()
    }
}

impl core::fmt::Debug for SampleHead<'_> {
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
