//! Records in a ring.

use alloc::vec::Vec;

/// The word in the unwritten parts of a ring. As a header it has an unknown kind and an unaligned
/// size of 42405 bytes, so that reading it is an error.
pub const STALE: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// Writes records one after the other into a ring of `data_words` words, the first at position
/// `start`, in bytes and a multiple of 8. A record wraps at the end of the ring.
///
/// Returns the data area, `data_tail` (which is `start`) and `data_head`. More records than fit
/// overwrite the first ones, and head is more than the ring's size ahead of tail: an overrun.
///
/// ```
/// use perf_decode::testing::builder::{STALE, ring};
///
/// let (data, tail, head) = ring(&[vec![1, 2, 3]], 4, 8 * 7);
/// assert_eq!(data, [2, 3, STALE, 1]);
/// assert_eq!((tail, head), (56, 80));
/// ```
pub fn ring(records: &[Vec<u64>], data_words: usize, start: u64) -> (Vec<u64>, u64, u64) {
    let mut data = alloc::vec![STALE; data_words];
    let mut head = start;
    for word in records.iter().flatten() {
        let index = (head / 8).checked_rem(data_words as u64).and_then(|index| usize::try_from(index).ok());
        if let Some(data) = index.and_then(|index| data.get_mut(index)) {
            *data = *word;
        }
        head = head.wrapping_add(8);
    }
    (data, start, head)
}
