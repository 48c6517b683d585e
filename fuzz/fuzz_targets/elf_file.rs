//! Opens any bytes as an ELF file in memory, and asks for an address, the sections and the place of a mapping. Input: two
//! words for the mapping, then the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_symbols::{MappedObject, Mapping, ObjectFile};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let (start, offset) = (input.word(), input.word());
    let bytes = bytes.get(16..).unwrap_or_default();
    match ObjectFile::from_memory("fuzzed", bytes.into()) {
        Ok(file) => {
            let mapping =
                Mapping::new(start..start.saturating_add(0x1000), offset, MappedObject::new(b"fuzzed"));
            for addr in [start, start.saturating_add(0xfff), u64::MAX] {
                let _ = file.address_of(&mapping, addr);
            }
            let _ = (file.base_of(&mapping), file.build_id(), file.has_code());
            for name in ["", ".text", ".eh_frame", ".dynsym"] {
                if let Ok(Some(section)) = file.section(name) {
                    assert!(section.bytes.len() <= bytes.len());
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
