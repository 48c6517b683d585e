//! Programs with randomly changed bytes: each address has a name or a reason, in bounded time.

use std::collections::BTreeMap;

use perf_symbols::{AddressSpaces, FileFinder, NoLines, ObjectFile, Query, StackFrame, Symbolizer, Unnamed};

use crate::names::map;
use crate::programs::Programs;

const FILES: u64 = 150;

/// A deterministic random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

#[test]
fn damaged_programs_have_names_or_reasons() {
    let programs = Programs::empty("damaged");
    let Some(path) = programs.compile("whole", "inlines.cpp", &["-g", "-O2"]) else { return };
    let whole = std::fs::read(&path).expect("the program");
    let text = ObjectFile::open(&path).expect("the program").section_addresses(".text");
    let text = text.expect("code");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut spaces = AddressSpaces::new();
    for number in 0..FILES {
        let mut bytes = whole.clone();
        // Change few or many bytes in the headers, in the tables at the end, or anywhere.
        for _ in 0..=random.below(40) {
            let end = match random.below(3) {
                0 => 0x400,
                _ => bytes.len() as u64,
            };
            let at = random.below(end) as usize;
            bytes[at] = random.below(256) as u8;
        }
        if random.below(5) == 0 {
            bytes.truncate(random.below(whole.len() as u64) as usize);
        }
        let path = programs.path(&number.to_string());
        std::fs::write(&path, bytes).expect("a file");
        let range = [0x10_0000 * (number + 1), 0x8000, 0x1000];
        map(&mut spaces, perf_abi::CpuMode::USER, 1, range, format!("/{number}").as_bytes());
    }
    let finder = FileFinder::remote().with_symfs(programs.path(""));
    let symbolizer = Symbolizer::new(finder).expect("a thread");
    let mut queries = Vec::new();
    for number in 0..FILES {
        for address in text.clone().step_by(397) {
            let address = 0x10_0000 * (number + 1) + (address - 0x1000);
            let frame = StackFrame { mode: perf_abi::CpuMode::USER, address, is_return_address: true };
            queries.push(Query::new(&spaces, 1, &frame));
        }
    }
    let found = symbolizer.symbolize(&queries);
    assert_eq!(found.len(), queries.len());
    let counts = symbolizer.counts();
    println!("{} named, {} panics, {:?}", counts.named, counts.panics, counts.reasons());
    let by_reason: BTreeMap<_, _> =
        counts.reasons().into_iter().map(|(count, reason)| (reason, count)).collect();
    assert_eq!(counts.named + by_reason.values().sum::<u64>(), queries.len() as u64);
    assert!(counts.named > queries.len() as u64 / 10, "most damage is elsewhere");
}

#[test]
fn file_that_claims_too_many_symbols_is_refused() {
    let programs = Programs::empty("too-large");
    let Some(path) = programs.compile("whole", "inlines.cpp", &["-g", "-gz=zlib", "-O2"]) else { return };
    let whole = std::fs::read(&path).expect("the program");
    let number = |at: u64| {
        u64::from_le_bytes(*whole.get(at as usize..).and_then(<[u8]>::first_chunk).expect("in the file"))
    };
    let (table, count) = (number(40), number(56) >> 32 & 0xffff);
    let mut spaces = AddressSpaces::new();
    let text = ObjectFile::open(&path).expect("the program").section_addresses(".text").expect("code");
    let (mut queries, mut expected) = (Vec::new(), Vec::new());
    for index in 0..count {
        // The fields of an entry: name and type, flags, address, offset, size.
        let entry = table + index * 64;
        let (kind, flags, offset) = (number(entry) >> 32, number(entry + 8), number(entry + 24));
        let (is_compressed, is_symtab) = (flags & 0x800 != 0, kind == 2);
        if !is_compressed && !is_symtab {
            continue;
        }
        let mut bytes = whole.clone();
        let at = if is_compressed { offset + 8 } else { entry + 32 } as usize;
        bytes[at..at + 8].copy_from_slice(&(1_u64 << 45).to_le_bytes());
        std::fs::write(programs.path(&index.to_string()), bytes).expect("a file");
        let start = 0x10_0000 * (index + 1);
        map(&mut spaces, perf_abi::CpuMode::USER, 1, [start, 0x1000, 0x1000], format!("/{index}").as_bytes());
        let frame = StackFrame {
            mode: perf_abi::CpuMode::USER,
            address: start + text.start - 0x1000,
            is_return_address: false,
        };
        queries.push(Query::new(&spaces, 1, &frame));
        // Without the lines, the names are still found.
        expected.push(if is_compressed { Ok(Some(NoLines::TooLarge)) } else { Err(Unnamed::TooLarge) });
    }
    assert!(queries.len() > 1, "no compressed sections");
    let finder = FileFinder::remote().with_symfs(programs.path(""));
    let found = Symbolizer::new(finder).expect("a thread").symbolize(&queries);
    let found: Vec<_> = found
        .iter()
        .map(|found| found.as_ref().map(|symbols| symbols.no_lines).map_err(|reason| *reason))
        .collect();
    let mut differences = found.iter().zip(&expected).filter(|(found, expected)| found != expected);
    // `.debug_loclists` is not read.
    assert_eq!(differences.next().map(|(found, _)| *found), Some(Ok(None)), "{found:?}");
    assert_eq!(differences.next(), None);
}
