//! Parses any bytes as kallsyms, as a perf map and as a jitdump, and looks up addresses. Input: a word, an address; then the
//! file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_symbols::{Jitdump, Kallsyms, PerfMap};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let addr = Input::new(bytes).word();
    let bytes = bytes.get(8..).unwrap_or_default();
    match Kallsyms::parse(bytes.to_vec()) {
        Ok(kallsyms) => {
            // Also of several names of its address.
            let first = kallsyms.iter().next().expect("a function");
            assert_eq!(kallsyms.find(first.address), Some(first));
            assert!(kallsyms.find(addr).is_none_or(|function| function.address <= addr));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let map = PerfMap::parse(bytes.to_vec());
    assert!(map.find(addr).is_none_or(|(start, name)| start <= addr && !name.is_empty()));
    match Jitdump::read(std::io::Cursor::new(bytes)) {
        Ok(mut jitdump) => {
            for time in [None, Some(0), Some(addr)] {
                assert!(jitdump.find(addr, time).is_none_or(|(start, _)| start <= addr));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
