use std::fmt;

/// The way in which records, samples or data were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// Records that the kernel dropped because the ring was full, by the `LOST` records of the ring: all
    /// but those after the last record that fitted. Of any event of the ring.
    #[doc(alias = "PERF_RECORD_LOST")]
    Lost,
    /// Records of an event that the kernel dropped, by reading the event: exact. Those of
    /// [`Lost`](Self::Lost) are among them. Since Linux 6.0.
    #[doc(alias = "PERF_FORMAT_LOST")]
    ReadLost,
    /// Samples that the PMU lost before they reached the ring, by the `LOST_SAMPLES` records.
    #[doc(alias = "PERF_RECORD_LOST_SAMPLES")]
    LostSamples,
    /// Times that an event was throttled: it overflowed too often and was stopped until the next tick.
    #[doc(alias = "PERF_RECORD_THROTTLE")]
    Throttled,
    /// Records that the program dropped unread.
    Discarded,
    /// Bytes of a ring that were skipped because they are no records.
    Damaged,
    /// Records that were delivered after one with a later time. Nothing is missing, but it is out of
    /// timestamp order.
    Late,
    /// Records of a hardware trace whose data was truncated or has gaps.
    #[doc(alias = "PERF_AUX_FLAG_TRUNCATED")]
    #[doc(alias = "PERF_AUX_FLAG_PARTIAL")]
    AuxTruncated,
    /// Records of a hardware trace whose data collided with another trace.
    #[doc(alias = "PERF_AUX_FLAG_COLLISION")]
    AuxCollision,
    /// Times that a CPU was without events because it was offline.
    Gap,
}

impl LossKind {
    /// Returns the noun that an amount of this kind counts.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Lost | Self::ReadLost | Self::Discarded | Self::Late => "records",
            Self::LostSamples => "samples",
            Self::Throttled | Self::Gap => "times",
            Self::Damaged => "bytes",
            Self::AuxTruncated | Self::AuxCollision => "parts of the trace",
        }
    }

    /// Returns whether data is missing. Only late records are complete.
    pub const fn is_loss(self) -> bool {
        !matches!(self, Self::Late)
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "dropped by the kernel, reported in the ring",
            Self::ReadLost => "dropped by the kernel, counted by the event",
            Self::LostSamples => "lost by the PMU",
            Self::Throttled => "throttled",
            Self::Discarded => "discarded unread",
            Self::Damaged => "skipped as damaged",
            Self::Late => "delivered late",
            Self::AuxTruncated => "truncated",
            Self::AuxCollision => "with a collision",
            Self::Gap => "without events while offline",
        })
    }
}
