//! The decoder against the naive one: they accept the same records and say the same of them. Input: an
//! attr, then the record.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_decode::testing::{reference, to_reference};
use perf_decode::{RawRecord, SampleLayout};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let attr = input.attr();
    let layout = SampleLayout::new(&attr);
    let words = input.record();
    let Ok(raw) = RawRecord::from_words(&words) else { return };
    match (to_reference(raw, &layout), reference::decode(&words, &attr)) {
        (Ok(decoded), Ok(expected)) => assert_eq!(decoded, expected),
        (Err(_), Err(_)) => {}
        (decoded, expected) => panic!("decoder: {decoded:?}\nreference: {expected:?}"),
    }
});
