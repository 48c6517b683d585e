//! Parses any text as the bits of a PMU's term, and moves a value into the bits and back. Input: the value as
//! a little-endian word, then the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_session::ConfigField;
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let value = Input::new(bytes).word();
    let text = String::from_utf8_lossy(bytes.get(8..).unwrap_or_default());
    let field = match text.parse::<ConfigField>() {
        Ok(field) => field,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert_eq!(field.to_string().parse(), Ok(field));
    assert!(field.word() <= 4 && (1..=64).contains(&field.width()));
    assert_eq!(field.insert(field.max()), Some(field.mask()));
    match field.insert(value) {
        Some(word) => {
            assert_eq!(word & !field.mask(), 0);
            assert_eq!(field.extract(word | !field.mask()), value);
        }
        None => assert!(value > field.max()),
    }
    assert!(field.extract(value) <= field.max());
});
