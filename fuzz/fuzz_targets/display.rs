//! Any words as one record of an event with any attr, printed. Input: an attr, then the record.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_decode::{RawRecord, SampleLayout};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let layout = SampleLayout::new(&input.attr());
    let words = input.record();
    let Ok(raw) = RawRecord::from_words(&words) else { return };
    let line = raw.display(&layout).to_string();
    assert!(!line.chars().any(char::is_control), "not one line: {line:?}");
    if let Ok(record) = raw.decode(&layout) {
        assert_eq!(record.to_string(), line);
        let fields: String = record.fields().map(|field| format!(" {field}")).collect();
        assert!(line.contains(&fields), "{fields:?} in {line:?}");
    }
    let dump = format!("{:#}", raw.display(&layout));
    assert!(dump.starts_with(&line));
    assert_eq!(dump.lines().count(), 1 + raw.size().div_ceil(16));
});
