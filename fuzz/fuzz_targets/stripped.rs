//! Names addresses without symbols by any unwind information, stubs, Go table and `.gnu_debugdata`. Input: the lengths of
//! the sections, 16 bits each, in three words, and in the last 16 bits options (bit 0: arm64); then the sections in the
//! order of `SECTIONS`. Code is at 0x1000 to 0x2000.
#![no_main]

use std::sync::{Arc, Once};

use libfuzzer_sys::fuzz_target;
use perf_symbols::{ElfSymbols, FileFinder, FileSymbols, ObjectFile};
use perfkit_fuzz::Input;
use perfkit_fuzz::elf::elf;

const SECTIONS: [(&str, u64); 9] = [
    (".eh_frame", 0x1_0000),
    (".plt", 0x2000),
    (".rela.plt", 0x2_0000),
    (".rela.dyn", 0x3_0000),
    (".dynsym", 0x4_0000),
    (".dynstr", 0x5_0000),
    (".gopclntab", 0x6_0000),
    (".go.module", 0x7_0000),
    (".gnu_debugdata", 0),
];

static HOOK: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    HOOK.call_once(|| {
        // Arithmetic of these libraries overflows, which panics here only, and is caught. All else aborts.
        let abort = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let file = panic.location().map_or("", |location| location.file());
            if !["/gimli-", "/lzma-rust2-"].iter().any(|library| file.contains(library)) {
                abort(panic);
            }
        }));
    });
    let mut input = Input::new(bytes);
    let lens = [input.word(), input.word(), input.word()].map(u64::to_le_bytes).concat();
    let mut rest = bytes.get(24..).unwrap_or_default();
    let mut sections = Vec::new();
    for ((name, address), len) in SECTIONS.iter().zip(lens.chunks_exact(2)) {
        let len = usize::from(u16::from_le_bytes([len[0], len[1]]));
        let (section, after) = rest.split_at(rest.len().min(len));
        if !section.is_empty() {
            sections.push((*name, *address, section));
        }
        rest = after;
    }
    let machine = if lens[22] & 1 != 0 { 183 } else { 62 };
    let file = ObjectFile::from_memory("fuzzed", elf(machine, &sections).into()).expect("whole headers");
    let finder = FileFinder::remote().with_symfs("/nonexistent");
    let found = Arc::new(finder.find_debug_file(file));
    let Ok(mut symbols) = ElfSymbols::read(&finder, found, None) else { return };
    for address in (0x1000..0x2400).step_by(0x15) {
        match symbols.symbolize(address) {
            Some(found) => {
                assert!(found.offset <= address);
                assert!(found.functions.iter().all(|function| !function.name.is_empty()));
            }
            None => assert!(!symbols.no_symbol(address).to_string().is_empty()),
        }
    }
});
