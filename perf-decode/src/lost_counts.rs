//! The numbers of lost records and samples, with the one text that reports them.

use core::fmt;
use core::ops::AddAssign;

use perf_abi::ReadFormat;

use crate::layout::Layout;
use crate::record::Record;

/// The numbers of records and samples that are missing in a ring or a recording.
///
/// [`note`](Self::note) adds what `LOST` and `LOST_SAMPLES` records report. Sums that do not fit
/// are [`u64::MAX`].
///
/// ```
/// use perf_decode::{Layout, LostCounts, Record};
///
/// fn lost<'r, L: Layout>(records: impl Iterator<Item = Record<'r, L>>) -> LostCounts {
///     let mut lost = LostCounts::new(0, 0);
///     records.for_each(|record| lost.note(&record));
///     lost
/// }
///
/// # assert_eq!(lost(std::iter::empty::<Record<'_>>()).to_string(), "none lost");
/// assert_eq!(LostCounts::new(406, 0).to_string(), "406 records lost");
/// assert_eq!(LostCounts::new(406, 1).to_string(), "406 records and 1 sample lost");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostCounts {
    /// By `LOST` records.
    reported: u64,
    /// By the events themselves, which count what `LOST` records report, too.
    counted: u64,
    samples: u64,
}

impl LostCounts {
    /// Returns these numbers.
    pub const fn new(records: u64, samples: u64) -> Self {
        Self { reported: records, counted: 0, samples }
    }

    /// Returns the number of records of any kind: samples may be among them.
    pub const fn records(self) -> u64 {
        if self.reported > self.counted { self.reported } else { self.counted }
    }

    /// Returns the number of records that were samples for certain.
    pub const fn samples(self) -> u64 {
        self.samples
    }

    /// Adds what a record reports; nothing if it is not of kind `LOST` or `LOST_SAMPLES`.
    ///
    /// The kernel writes `LOST_SAMPLES` for samples that the PMU lost. A recorder writes the same
    /// kind for what an event with [`ReadFormat::LOST`] has counted. So its number is one of
    /// records if the event has this bit, because the kernel counts lost records of all kinds
    /// there, with those that `LOST` records report: the larger sum is the number of records.
    pub fn note<L: Layout>(&mut self, record: &Record<'_, L>) {
        *self += match record {
            Record::Lost(lost) => Self::new(lost.lost(), 0),
            Record::LostSamples(lost) if lost.read_format().contains(ReadFormat::LOST) => {
                Self { counted: lost.lost(), ..Self::new(0, 0) }
            }
            Record::LostSamples(lost) => Self::new(0, lost.lost()),
            _ => return,
        };
    }

    /// Returns the sum. A sample is a record.
    pub const fn total(self) -> u64 {
        self.records().saturating_add(self.samples)
    }

    /// Returns whether nothing is missing.
    pub const fn is_empty(self) -> bool {
        self.total() == 0
    }

    /// Returns what was added since `earlier`, an earlier value of the same counts.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            reported: self.reported.saturating_sub(earlier.reported),
            counted: self.counted.saturating_sub(earlier.counted),
            samples: self.samples.saturating_sub(earlier.samples),
        }
    }
}

impl AddAssign for LostCounts {
    fn add_assign(&mut self, other: Self) {
        self.reported = self.reported.saturating_add(other.reported);
        self.counted = self.counted.saturating_add(other.counted);
        self.samples = self.samples.saturating_add(other.samples);
    }
}

/// Prints `none lost`, `406 records lost`, `1 sample lost` or `406 records and 1 sample lost`.
impl fmt::Display for LostCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.records(), self.samples) {
            (0, 0) => f.write_str("none lost"),
            (records, 0) => write!(f, "{} lost", Counted(records, "record")),
            (0, samples) => write!(f, "{} lost", Counted(samples, "sample")),
            (records, samples) => {
                write!(f, "{} and {} lost", Counted(records, "record"), Counted(samples, "sample"))
            }
        }
    }
}

/// A number and its noun.
struct Counted(u64, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, noun) = *self;
        // A sum that does not fit.
        let least = if count == u64::MAX { "at least " } else { "" };
        let ending = if count == 1 { "" } else { "s" };
        write!(f, "{least}{count} {noun}{ending}")
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Misc, RecordType};
    use std::string::ToString as _;

    use super::*;
    use crate::layout::SampleLayout;
    use crate::raw::RawRecord;
    use crate::testing::builder::RecordBuilder;

    /// Returns what a `LOST` record of 3 and a `LOST_SAMPLES` record of 5 report, of an event with
    /// this format.
    fn noted(read_format: ReadFormat) -> LostCounts {
        let layout = SampleLayout::new(&Attr::default().with_read_format(read_format));
        let mut counts = LostCounts::default();
        for (kind, body) in [(RecordType::LOST, &[7, 3][..]), (RecordType::LOST_SAMPLES, &[5])] {
            let words = RecordBuilder::new(kind, Misc::empty()).words(body).finish();
            counts.note(&RawRecord::from_words(&words).unwrap().decode(&layout).unwrap());
        }
        counts
    }

    #[test]
    fn losses_that_an_event_counts_are_records_and_not_counted_twice() {
        assert_eq!(noted(ReadFormat::empty()), LostCounts::new(3, 5));
        // 3 of the 5 are those of the `LOST` record.
        let counted = noted(ReadFormat::LOST);
        assert_eq!((counted.records(), counted.samples()), (5, 0));
    }

    #[test]
    fn text_has_the_numbers_that_are_known() {
        let text = |records, samples| LostCounts::new(records, samples).to_string();
        assert_eq!(text(0, 0), "none lost");
        assert_eq!((text(1, 0), text(2, 0)), ("1 record lost".to_string(), "2 records lost".to_string()));
        assert_eq!((text(0, 1), text(0, 2)), ("1 sample lost".to_string(), "2 samples lost".to_string()));
        assert_eq!(text(1, 2), "1 record and 2 samples lost");
        assert_eq!(text(u64::MAX, 0), "at least 18446744073709551615 records lost");
    }

    #[test]
    fn counts_are_added_and_subtracted_without_overflow() {
        let mut counts = LostCounts::new(u64::MAX, 1);
        counts += LostCounts::new(1, 2);
        assert_eq!(counts, LostCounts::new(u64::MAX, 3));
        assert_eq!(counts.since(LostCounts::new(0, 1)), LostCounts::new(u64::MAX, 2));
        assert_eq!(LostCounts::default().since(counts), LostCounts::default());
        assert!(counts.total() == u64::MAX && !counts.is_empty() && LostCounts::default().is_empty());
    }
}
