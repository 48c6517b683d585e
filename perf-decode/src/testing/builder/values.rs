//! Counts as in read(2), READ records and the READ field of samples.

use alloc::vec::Vec;
use perf_abi::ReadFormat;

/// The count of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadValue {
    /// The unscaled count.
    pub value: u64,
    /// Id of the event, with `PERF_FORMAT_ID`.
    pub id: u64,
    /// Lost samples, with `PERF_FORMAT_LOST`.
    pub lost: u64,
}

/// The counts of an event or of its group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadValues {
    /// Time enabled in ns.
    pub time_enabled: u64,
    /// Time running in ns.
    pub time_running: u64,
    /// The counts, leader first. Only the first is written without `PERF_FORMAT_GROUP`.
    pub values: Vec<ReadValue>,
}

impl ReadValues {
    /// Returns the words in the kernel's order for this format.
    ///
    /// ```
    /// use perf_abi::ReadFormat;
    /// use perf_decode::testing::builder::{ReadValue, ReadValues};
    ///
    /// let counter = ReadValue { value: 7, id: 3, lost: 0 };
    /// let values = ReadValues { time_enabled: 20, time_running: 10, values: vec![counter] };
    /// assert_eq!(values.words(ReadFormat::ID), [7, 3]);
    /// assert_eq!(values.words(ReadFormat::GROUP.union(ReadFormat::TOTAL_TIME_RUNNING)), [1, 10, 7]);
    /// ```
    pub fn words(&self, format: ReadFormat) -> Vec<u64> {
        let first = self.values.first().copied().unwrap_or_default();
        let group = format.contains(ReadFormat::GROUP);
        let mut words = Vec::new();
        words.push(if group { self.values.len() as u64 } else { first.value });
        if format.contains(ReadFormat::TOTAL_TIME_ENABLED) {
            words.push(self.time_enabled);
        }
        if format.contains(ReadFormat::TOTAL_TIME_RUNNING) {
            words.push(self.time_running);
        }
        if group {
            for entry in &self.values {
                words.push(entry.value);
                push_id_and_lost(&mut words, format, *entry);
            }
        } else {
            push_id_and_lost(&mut words, format, first);
        }
        words
    }
}

fn push_id_and_lost(words: &mut Vec<u64>, format: ReadFormat, entry: ReadValue) {
    if format.contains(ReadFormat::ID) {
        words.push(entry.id);
    }
    if format.contains(ReadFormat::LOST) {
        words.push(entry.lost);
    }
}
