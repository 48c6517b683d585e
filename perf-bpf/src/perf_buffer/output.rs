use perf_sys::{RawRecord, Sample, SampleLayout};

/// One record of a ring.
#[derive(Clone, Copy, Debug)]
pub enum PerfBufferRecord<'b> {
    /// A sample: the bytes that a program has written.
    Sample(PerfBufferSample<'b>),
    /// The number of records that were lost before this one because the ring was full.
    Lost(u64),
    /// A record of another kind, which is counted as unknown.
    Other(RawRecord<'b>),
}

/// The bytes that a program has written, borrowed from the ring, with the fields that the kernel added.
#[derive(Clone, Copy, Debug)]
pub struct PerfBufferSample<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) record: RawRecord<'b>,
    pub(super) layout: &'b SampleLayout,
}

impl<'b> PerfBufferSample<'b> {
    /// Returns the bytes, in one piece, aligned to 4.
    ///
    /// The kernel pads them: after the program's bytes there are up to 7 bytes of an older record, so that
    /// the length plus 4 is a multiple of 8. With
    /// [`payload_size`](super::PerfBufferOptions::payload_size) they are removed.
    #[inline]
    pub const fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    /// Returns the record, also with the padding.
    pub const fn record(&self) -> RawRecord<'b> {
        self.record
    }

    /// Decodes the fields that were added by
    /// [`sample_type`](super::PerfBufferOptions::sample_type), such as the time.
    ///
    /// # Errors
    ///
    /// The record is malformed.
    pub fn decode(&self) -> Result<Sample<'b>, perf_sys::decode::Error> {
        Sample::parse(self.record, self.layout)
    }
}
