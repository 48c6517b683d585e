//! Any text as a tracepoint's format, and what it finds in any payload. Input: the text up to a NUL,
//! then the payload.
#![no_main]

use std::hint::black_box;

use libfuzzer_sys::fuzz_target;
use perf_decode::tracepoint::Format;

fuzz_target!(|bytes: &[u8]| {
    let (text, raw) = match bytes.iter().position(|byte| *byte == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[][..]),
    };
    let text = String::from_utf8_lossy(text);
    match Format::parse(&text) {
        Ok(format) => {
            black_box(format!("{} {format:?}", format.display(raw)));
            for field in format.common.iter().chain(format.fields.iter()) {
                black_box(format!("{:?}", field.value(raw)));
                if let Ok(integer) = field.integer() {
                    black_box((integer.read_u64(raw), integer.read_i64(raw)));
                }
                if let Ok(text) = field.text() {
                    assert!(text.read(raw).is_none_or(|text| text.len() <= raw.len()));
                }
                if let Ok(array) = field.array() {
                    assert!(array.read(raw).is_none_or(|elements| elements.count() <= raw.len()));
                }
            }
        }
        Err(error) => _ = black_box(error.to_string()),
    }
});
