//! Any words as a ring, at any positions. Input: tail, head - tail, then the data area.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_decode::{Scratch, Window};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let tail = input.word();
    let head = tail.wrapping_add(input.mostly(0xffff));
    let data = input.words();

    let Ok(window) = Window::new(&data, tail, head) else {
        return;
    };
    assert_eq!(window.len() as u64, head.wrapping_sub(tail));

    let (first, second) = window.as_slices();
    let written = [first, second].concat();
    let mut scratch = Scratch::new();
    let mut records = window.records(&mut scratch);
    let mut delivered = Vec::new();
    let mut bytes_delivered = 0;
    // Each step but the last moves on by a word at least.
    for _ in 0..=written.len() {
        let position = records.position();
        match records.next() {
            Some(Ok(record)) => {
                assert!(record.size() >= 8);
                bytes_delivered += record.size() as u64;
                delivered.push(record);
            }
            Some(Err(_)) => {
                assert_eq!(records.position(), position, "damage moved the tail");
                assert!(records.next().is_none(), "something was found after damage");
            }
            None => break,
        }
        assert_eq!(records.position(), bytes_delivered);
    }
    assert!(records.next().is_none(), "more records than words");

    // All records are alive here, also the one in the scratch, and are together what was written.
    let read: Vec<u64> = delivered.iter().flat_map(|record| record.words()).copied().collect();
    assert!(written.starts_with(&read));
});
