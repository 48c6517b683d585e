//! Any words as an overwritten ring, read from any position. Input: head, then the data area.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_decode::{BackwardRecords, Scratch};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let head = input.mostly(0xffff).wrapping_neg();
    let data = input.words();
    let mut scratch = Scratch::new();
    let Ok(mut records) = BackwardRecords::new(&data, head, &mut scratch) else { return };

    let (mut read, mut damaged) = (0, false);
    for _ in 0..=data.len() {
        match records.next() {
            Some(Ok(record)) => {
                assert!(!damaged, "something was found after damage");
                read += record.size() as u64;
                let start = (head.wrapping_add(read) / 8) as usize;
                // The record is what lies below this place, across the end of the area if need be.
                for (distance, word) in (1..).zip(record.words().iter().rev()) {
                    assert_eq!(*word, data[start.wrapping_sub(distance) % data.len()]);
                }
            }
            Some(Err(_)) => damaged = true,
            None => break,
        }
        assert_eq!(records.position(), read);
    }
    assert!(records.next().is_none(), "more records than words");
    assert!(read + records.truncated_len() <= data.len() as u64 * 8);
});
