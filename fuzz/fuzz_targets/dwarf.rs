//! Names addresses by any symbol table and debug information. Input: the lengths of the sections, 16 bits each, in three
//! words; then the sections in the order of `SECTIONS`. Code is at 0x1000 to 0x2000.
#![no_main]

use std::sync::{Arc, Once};

use libfuzzer_sys::fuzz_target;
use perf_symbols::{ElfSymbols, FileFinder, FileSymbols, ObjectFile};
use perfkit_fuzz::Input;
use perfkit_fuzz::elf::elf;

const SECTIONS: [&str; 12] = [
    ".debug_abbrev",
    ".debug_info",
    ".debug_line",
    ".debug_str",
    ".debug_line_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_addr",
    ".debug_aranges",
    ".debug_str_offsets",
    ".symtab",
    ".strtab",
];

static HOOK: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    HOOK.call_once(|| {
        // Arithmetic of gimli and addr2line overflows, which panics here only, and is caught. All else aborts.
        let abort = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let file = panic.location().map_or("", |location| location.file());
            if !["/gimli-", "/addr2line-"].iter().any(|library| file.contains(library)) {
                abort(panic);
            }
        }));
    });
    let mut input = Input::new(bytes);
    let lens = [input.word(), input.word(), input.word()].map(u64::to_le_bytes).concat();
    let mut rest = bytes.get(24..).unwrap_or_default();
    let mut sections = Vec::new();
    for (name, len) in SECTIONS.iter().zip(lens.chunks_exact(2)) {
        let len = usize::from(u16::from_le_bytes([len[0], len[1]]));
        let (section, after) = rest.split_at(rest.len().min(len));
        sections.push((*name, 0, section));
        rest = after;
    }
    let file = ObjectFile::from_memory("fuzzed", elf(62, &sections).into()).expect("whole headers");
    let finder = FileFinder::remote().with_symfs("/nonexistent");
    let found = Arc::new(finder.find_debug_file(file));
    let Ok(mut symbols) = ElfSymbols::read(&finder, found, Some(1 << 20)) else { return };
    for address in (0x1000..0x2000).step_by(0x55) {
        let Some(found) = symbols.symbolize(address) else { continue };
        assert!(!found.functions.is_empty());
        assert!(found.functions.iter().all(|function| !function.name.is_empty()));
    }
});
