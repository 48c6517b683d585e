//! Parses any text as a tracepoint's `format`, and reads and prints its fields in any payload. Input:
//! the text up to a NUL, then the payload.
#![no_main]

use std::hint::black_box;

use libfuzzer_sys::fuzz_target;
use perf_tracepoint::{Fields, Format};

/// Every line that is printed: no control character, no Unicode line separator or bidi override.
fn check_line(line: &str) {
    assert!(line.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{line:?}");
}

fuzz_target!(|bytes: &[u8]| {
    let (text, raw) = match bytes.iter().position(|byte| *byte == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[][..]),
    };
    let text = String::from_utf8_lossy(text);
    if let Err(error) = Fields::parse(&text) {
        check_line(&error.to_string());
    }
    match Format::parse(&text) {
        Ok(format) => {
            check_line(&format.display(raw).to_string());
            black_box(format!("{format:?}"));
            for field in format.common.iter().chain(format.fields.iter()) {
                check_line(&field.value(raw).to_string());
                match field.integer() {
                    Ok(integer) => _ = black_box((integer.read_u64(raw), integer.read_i64(raw))),
                    Err(error) => check_line(&error.to_string()),
                }
                if let Ok(text) = field.text() {
                    assert!(text.read(raw).is_none_or(|text| text.len() <= raw.len()));
                }
                if let Ok(array) = field.array() {
                    assert!(array.read(raw).is_none_or(|elements| elements.count() <= raw.len()));
                }
            }
        }
        Err(error) => check_line(&error.to_string()),
    }
});
