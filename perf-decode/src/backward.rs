//! Records of overwritten rings, newest first.

use core::iter::FusedIterator;

use crate::error::{Error, Result};
use crate::raw::RawRecord;
use crate::records::Records;
use crate::window::Window;

/// The records of an overwritten ring (`write_backward`), newest first.
///
/// Flight recorders use such a ring. The kernel writes it from its end towards its start and does
/// not wait for a reader. `data_head` decreases from 0 and is the start of the newest record; older
/// records follow it. The newest record usually overwrites a part of the oldest one. That one is
/// left out, and [`BackwardRecords::truncated_len`] returns the number of its remaining bytes.
///
/// Pause the ring before reading it, because the kernel continues to overwrite the oldest records.
/// Since Linux 4.7.
///
/// ```
/// use perf_decode::{BackwardRecords, Scratch};
/// # use perf_decode::testing::builder::RecordBuilder;
/// # use perf_abi::{Misc, RecordType};
/// # let record = |time| RecordBuilder::new(RecordType::THROTTLE, Misc::empty()).words(&[time, 1, 1]).finish();
/// # let data: Vec<u64> = [vec![0; 8], record(20), record(10)].concat();
/// # let data_head = 0_u64.wrapping_sub(64);
///
/// let mut scratch = Scratch::new();
/// let snapshot = BackwardRecords::new(&data, data_head, &mut scratch)?;
/// let times: Vec<_> = snapshot.map(|record| Ok(record?.words()[1])).collect::<Result<_, perf_decode::Error>>()?;
/// assert_eq!(times, [20, 10]);
/// # Ok::<(), perf_decode::Error>(())
/// ```
#[derive(Debug)]
pub struct BackwardRecords<'a> {
    records: Records<'a>,
    /// Whether more was written than the ring holds, so that its oldest record can be truncated.
    full: bool,
    truncated_len: u64,
}

impl<'a> BackwardRecords<'a> {
    /// Iterates over `data`, a ring's whole data area, from `head`, its `data_head`.
    ///
    /// # Errors
    ///
    /// The errors of [`Window::new`] for a size or head that is impossible.
    ///
    /// `scratch` as for [`Window::records`].
    pub fn new(data: &'a [u64], head: u64, scratch: &'a mut [u64]) -> Result<Self> {
        let size = data.len() as u64 * 8;
        // The head decreases from 0, so that its negation is the number of bytes ever written.
        let written = 0_u64.wrapping_sub(head);
        let window = Window::new(data, head, head.wrapping_add(written.min(size)))?;
        Ok(Self { records: window.records(scratch), full: written > size, truncated_len: 0 })
    }

    /// Returns the number of bytes that remain of a partly overwritten oldest record.
    ///
    /// It is 0 until the iteration has ended, and if no record is overwritten in part.
    pub fn truncated_len(&self) -> u64 {
        self.truncated_len
    }

    /// Returns the bytes of the records yielded so far: the distance of the next one from
    /// `data_head`.
    pub fn position(&self) -> u64 {
        self.records.position()
    }
}

impl<'a> Iterator for BackwardRecords<'a> {
    type Item = Result<RawRecord<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.records.next()? {
            // Only a full ring has a partly overwritten record; elsewhere this size is damage.
            Err(Error::SizePastEnd { available, .. }) if self.full => {
                self.truncated_len = available;
                None
            }
            next => Some(next),
        }
    }
}

impl FusedIterator for BackwardRecords<'_> {}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use perf_abi::{Header, Misc, RecordType};

    use super::*;
    use crate::scratch::Scratch;
    use crate::testing::builder::RecordBuilder;

    /// Writes records of these lengths in words the way the kernel does; the body counts them.
    fn written(lens: &[usize], size: usize) -> (Vec<u64>, u64) {
        let (mut data, mut head) = (vec![0; size], 0_u64);
        for (number, len) in lens.iter().enumerate() {
            let body = vec![number as u64; len - 1];
            let record = RecordBuilder::new(RecordType(99), Misc::empty()).words(&body).finish();
            head = head.wrapping_sub(*len as u64 * 8);
            for (index, word) in record.iter().enumerate() {
                data[((head / 8) as usize + index) % size] = *word;
            }
        }
        (data, head)
    }

    /// Returns the numbers in the records' bodies, and the bytes that remain of the oldest record.
    fn read(data: &[u64], head: u64) -> (Vec<u64>, u64) {
        let mut scratch = Scratch::new();
        let mut backward = BackwardRecords::new(data, head, &mut scratch).unwrap();
        let numbers = backward.by_ref().map(|record| record.unwrap().words()[1]).collect();
        (numbers, backward.truncated_len())
    }

    #[test]
    fn newest_record_is_first() {
        let (data, head) = written(&[2, 3, 2], 16);
        assert_eq!(read(&data, head), (vec![2, 1, 0], 0));
    }

    #[test]
    fn oldest_record_is_left_out_if_it_is_truncated() {
        for lens in [[5, 5, 5, 5], [2, 7, 4, 6], [6, 3, 7, 2]] {
            let (data, head) = written(&lens, 16);
            let (numbers, cut) = read(&data, head);
            let whole: usize = numbers.iter().map(|number| lens[*number as usize]).sum();
            assert_eq!(whole * 8 + cut as usize, 16 * 8, "{lens:?}");
            assert!(numbers.is_sorted_by(|a, b| a > b) && numbers[0] == 3, "{numbers:?}");
        }
    }

    #[test]
    fn exactly_full_ring_has_no_truncated_record() {
        let (data, head) = written(&[2, 8, 8], 16);
        assert_eq!(read(&data, head), (vec![2, 1], 0));
    }

    #[test]
    fn unwritten_ring_has_no_records() {
        assert_eq!(read(&[0; 8], 0), (vec![], 0));
    }

    /// Returns a header with this size.
    fn sized(size: u16) -> u64 {
        Header { kind: RecordType(99), misc: Misc::empty(), size }.to_word()
    }

    /// Returns the last item of the iteration, and the bytes that remain of the oldest record.
    fn last(data: &[u64], head: u64) -> (Option<Result<usize>>, u64) {
        let mut scratch = Scratch::new();
        let mut backward = BackwardRecords::new(data, head, &mut scratch).unwrap();
        let last = backward.by_ref().last().map(|record| record.map(RawRecord::size));
        assert!(backward.next().is_none());
        (last, backward.truncated_len())
    }

    #[test]
    fn malformed_last_record_of_a_ring_that_was_never_full_is_an_error() {
        let (mut data, head) = written(&[2, 2], 16);
        data[14] = sized(800);
        let error = Error::SizePastEnd { at: 16, size: 800, available: 16 };
        assert_eq!(last(&data, head), (Some(Err(error)), 0));
    }

    #[test]
    fn malformed_last_record_of_an_exactly_full_ring_is_an_error() {
        let (mut data, head) = written(&[8, 8], 16);
        data[8] = sized(72);
        let error = Error::SizePastEnd { at: 64, size: 72, available: 64 };
        assert_eq!(last(&data, head), (Some(Err(error)), 0));
    }

    #[test]
    fn one_record_more_than_fits_truncates_the_oldest() {
        // Three records of 6 words. The ring still has 4 words of the oldest one.
        let (data, head) = written(&[6, 6, 6], 16);
        assert_eq!(read(&data, head), (vec![2, 1], 32));
        let (data, head) = written(&[1, 8, 8], 16);
        assert_eq!(read_sizes(&data, head), (vec![64, 64], 0));
    }

    fn read_sizes(data: &[u64], head: u64) -> (Vec<usize>, u64) {
        let mut scratch = Scratch::new();
        let mut backward = BackwardRecords::new(data, head, &mut scratch).unwrap();
        let sizes = backward.by_ref().map(|record| record.unwrap().size()).collect();
        (sizes, backward.truncated_len())
    }

    #[test]
    fn size_of_zero_in_a_full_ring_is_an_error() {
        for size in [0, 4, 12] {
            let (mut data, head) = written(&[5, 5, 5, 5], 16);
            // The second newest record.
            let at = ((head.wrapping_add(40) / 8) % 16) as usize;
            data[at] = sized(size);
            let error = match size {
                12 => Error::UnalignedSize { at: 40, size },
                _ => Error::SizeBelowHeader { at: 40, size },
            };
            assert_eq!(last(&data, head), (Some(Err(error)), 0), "{size}");
        }
    }
}
