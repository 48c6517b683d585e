//! The functions in the symbol table of a file.

use std::cmp::Reverse;
use std::collections::HashMap;
#[cfg(feature = "disassembly")]
use std::ops::Range;
use std::sync::Arc;

use super::super::demangle::demangled;
use crate::file::{ElfError, ObjectFile};

/// The functions of a file by address. If an address has several symbols, the name is the one that
/// the perf tool prefers, so that both tools print the same.
pub(super) struct SymbolTable {
    /// `.symtab` first, then `.dynsym` for functions that the former lacks.
    tables: Vec<Table>,
    /// Demangled names, by index of the table and first address.
    names: HashMap<(usize, u64), Option<Arc<str>>>,
}

struct Table {
    strings: &'static str,
    /// Sorted by address, then by preference.
    functions: Box<[Function]>,
    /// For each function, the greatest end of this function and all before it. A search that walks
    /// back can stop there, although a function can contain others.
    ends: Box<[u64]>,
}

/// A function. Kept small because tables have hundreds of thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    start: u64,
    /// Preference, lower is better: the rank above the position in the table.
    order: u32,
    /// Offset in the string section.
    name: u32,
    /// Exclusive.
    end: u64,
}

/// Maximum length of a name in bytes. C++ templates have some thousand.
const MAX_NAME: u64 = 1 << 16;
/// Maximum number of nested symbols to look at. Functions in assembly language have some hundred
/// labels.
const MAX_NESTED: usize = 4096;
/// Number of symbols that are read at a time.
const PIECE: usize = 2048;
/// Number of low bits in [`Function::order`] for the position in the table.
const POSITION: u32 = 28;
/// The bit of the rank for symbols of size 0.
const WITHOUT_LENGTH: u32 = 1 << 2;

impl Function {
    fn rank(&self) -> u32 {
        self.order >> POSITION
    }

    fn is_without_length(&self) -> bool {
        self.rank() & WITHOUT_LENGTH != 0
    }
}

impl SymbolTable {
    /// Reads the symbols of a file. `is_complete` means that `.symtab` has all functions.
    pub(super) fn read(file: &ObjectFile, is_complete: bool) -> Result<Self, ElfError> {
        let mut tables = Vec::new();
        for (symbols, strings) in [(".symtab", ".strtab"), (".dynsym", ".dynstr")] {
            let mut reader = Reader {
                is_64: file.is_64(),
                is_little: file.is_little_endian(),
                has_marks: MACHINES_WITH_MARKS.contains(&file.machine()),
                ..Reader::default()
            };
            if file.read_pieces(symbols, PIECE * reader.symbol_len(), |piece| reader.add(piece))?.is_some() {
                // `.dynsym` has only exported symbols, so that the next one does not bound a symbol
                // of size 0.
                tables.push(Table::new(reader.functions, strings, is_complete && symbols == ".symtab"));
            }
        }
        Ok(Self { tables, names: HashMap::new() })
    }

    /// Returns the first address and the demangled name of the function at an address. `file` is
    /// the one that was read.
    pub(super) fn find(&mut self, file: &ObjectFile, address: u64) -> Option<(u64, Arc<str>)> {
        (0..self.tables.len()).find_map(|index| {
            let start = self.tables.get(index)?.function_at(address)?.start;
            // A symbol of size 0, such as `_init`, does not extend into the next section.
            if !file.is_in_one_section(start, address) {
                return None;
            }
            let tables = &self.tables;
            let name = self.names.entry((index, start));
            let name = name.or_insert_with(|| tables.get(index)?.name(file, start).map(Arc::from));
            Some((start, name.clone()?))
        })
    }

    /// Returns the addresses of the function at an address.
    #[cfg(feature = "disassembly")]
    pub(super) fn range_of(&self, file: &ObjectFile, address: u64) -> Option<Range<u64>> {
        let functions = self.tables.iter().filter_map(|table| table.function_at(address));
        let mut in_section = functions.filter(|function| file.is_in_one_section(function.start, address));
        in_section.next().map(|function| function.start..function.end)
    }
}

impl Table {
    fn new(mut functions: Vec<Function>, strings: &'static str, is_complete: bool) -> Self {
        functions.sort_unstable();
        // A symbol of size 0, such as a function in assembly language, ends where the next one
        // begins.
        let mut next = None;
        for index in (0..functions.len()).rev() {
            let after = functions.get(index + 1).map(|function| function.start);
            let Some(function) = functions.get_mut(index) else { break };
            if after.is_some_and(|after| after > function.start) {
                next = after;
            }
            if function.end <= function.start {
                function.end =
                    if is_complete { next.unwrap_or(u64::MAX) } else { function.start.saturating_add(1) };
            }
        }
        let (mut greatest, mut end_of_functions) = (0, 0);
        let ends = functions.iter_mut().map(|function| {
            if !function.is_without_length() {
                end_of_functions = function.end.max(end_of_functions);
            } else if function.start < end_of_functions {
                // A label ends with the function that contains it.
                function.end = function.end.min(end_of_functions);
            }
            greatest = function.end.max(greatest);
            greatest
        });
        let ends = ends.collect();
        Self { strings, functions: functions.into(), ends }
    }

    /// Returns the innermost function at an address. A label of size 0 does not hide the function
    /// that contains it.
    fn function_at(&self, address: u64) -> Option<&Function> {
        let count = self.functions.partition_point(|function| function.start <= address);
        let before = self.functions.get(..count)?.iter().zip(self.ends.get(..count)?).rev();
        let may_contain = before.take_while(|(_, greatest)| **greatest > address).take(MAX_NESTED);
        let mut label = None;
        for (function, _) in may_contain.filter(|(function, _)| function.end > address) {
            if !function.is_without_length() {
                return Some(function);
            }
            label = label.or(Some(function));
        }
        label
    }

    /// Returns the name of the function that begins at an address: among the symbols with the best
    /// rank, the name with the fewest leading underscores, then the longest.
    fn name(&self, file: &ObjectFile, start: u64) -> Option<String> {
        let first = self.functions.partition_point(|function| function.start < start);
        let same = self.functions.get(first..)?.iter().take_while(|function| function.start == start);
        let best = same.clone().next().map(Function::rank);
        let best = same.take_while(|function| Some(function.rank()) == best);
        let names = best.filter_map(|function| {
            let name = file.string_at(self.strings, function.name.into(), MAX_NAME);
            let name = name.filter(|name| !name.is_empty())?;
            Some(match String::from_utf8(name) {
                Ok(name) => demangled(&name).into_owned(),
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            })
        });
        names.min_by_key(|name| rank(name.as_bytes()))
    }
}

/// Returns the sort key of a name among symbols of equal rank: fewest leading underscores, then the
/// longest.
pub(in crate::name) fn rank(name: &[u8]) -> (usize, Reverse<usize>) {
    (name.iter().take_while(|&&byte| byte == b'_').count(), Reverse(name.len()))
}

/// `e_machine` of arm, arm64 and RISC-V.
const MACHINES_WITH_MARKS: [u16; 3] = [40, 183, 243];
const NOTYPE: u8 = 0;
const FUNC: u8 = 2;
const IFUNC: u8 = 10;
const GLOBAL: u8 = 1;
const WEAK: u8 = 2;
/// `st_shndx` of a symbol that another file defines, and of a symbol that is a plain number.
const UNDEFINED: u16 = 0;
const ABSOLUTE: u16 = 0xfff1;

/// Collects the functions of a symbol table.
#[derive(Default)]
struct Reader {
    is_64: bool,
    is_little: bool,
    /// True if local labels can be mapping symbols, which mark code and data on some machines.
    has_marks: bool,
    functions: Vec<Function>,
    /// Number of symbols so far.
    count: u32,
}

impl Reader {
    /// Returns the size of a symbol in bytes.
    fn symbol_len(&self) -> usize {
        if self.is_64 { 24 } else { 16 }
    }

    /// Adds the functions of a piece that has complete symbols only.
    fn add(&mut self, symbols: &[u8]) {
        for symbol in symbols.chunks_exact(self.symbol_len()) {
            self.functions.extend(self.function(symbol));
            self.count = self.count.saturating_add(1);
        }
    }

    fn function(&self, symbol: &[u8]) -> Option<Function> {
        let number = |at: usize, len: usize| {
            let bytes = symbol.get(at..at + len)?;
            let append = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
            Some(if self.is_little {
                bytes.iter().rev().fold(0, append)
            } else {
                bytes.iter().fold(0, append)
            })
        };
        // 64-bit: name, type, other, section, address, size. 32-bit: name, address, size, type,
        // other, section.
        let (address, size, info, section) = if self.is_64 {
            (number(8, 8)?, number(16, 8)?, number(4, 1)?, number(6, 2)?)
        } else {
            (number(4, 4)?, number(8, 4)?, number(12, 1)?, number(14, 2)?)
        };
        let (name, info, section) = (number(0, 4)? as u32, info as u8, section as u16);
        let (binding, kind) = (info >> 4, info & 0xf);
        // Labels in assembly language have no type.
        let is_function = match kind {
            FUNC | IFUNC => true,
            NOTYPE => section != ABSOLUTE && !(self.has_marks && binding != GLOBAL),
            _ => false,
        };
        if !is_function || section == UNDEFINED || name == 0 {
            return None;
        }
        let is_label = kind == NOTYPE;
        let rank = u32::from(is_label) << 3
            | if size == 0 { WITHOUT_LENGTH } else { 0 }
            | u32::from(binding == WEAK) << 1
            | u32::from(binding != GLOBAL);
        let order = rank << POSITION | self.count & ((1 << POSITION) - 1);
        Some(Function { start: address, order, name, end: address.saturating_add(size) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{FileFinder, MappedObject, Mapping};

    const LOCAL: u8 = 0;

    /// Builds a table from 64-bit symbols: binding and type, address, size, and offset of the name.
    fn table(symbols: &[(u8, u8, u64, u64, u32)], is_complete: bool) -> Table {
        let mut reader = Reader { is_64: true, is_little: true, ..Reader::default() };
        for (binding, kind, address, size, name) in symbols {
            let mut symbol = name.to_le_bytes().to_vec();
            symbol.extend([binding << 4 | kind, 0, 1, 0]);
            symbol.extend(address.to_le_bytes());
            symbol.extend(size.to_le_bytes());
            reader.add(&symbol);
        }
        Table::new(reader.functions, ".strtab", is_complete)
    }

    #[test]
    fn functions_are_found_by_their_ends() {
        let symbols = [
            (GLOBAL, FUNC, 0x1000, 0x100, 1),
            // Inside the first function.
            (LOCAL, FUNC, 0x1040, 0x10, 1),
            (LOCAL, NOTYPE, 0x1048, 0, 1),
            (LOCAL, NOTYPE, 0x2000, 0, 1),
            (GLOBAL, FUNC, 0x2100, 0x10, 1),
            (GLOBAL, FUNC, 0x3000, 0, 1),
            // A variable.
            (GLOBAL, 1, 0x2050, 8, 1),
            // No name.
            (LOCAL, NOTYPE, 0x2080, 0, 0),
        ];
        let all = table(&symbols, true);
        for (address, start) in [
            (0xfff, None),
            (0x1000, Some(0x1000)),
            (0x103f, Some(0x1000)),
            (0x1040, Some(0x1040)),
            (0x1050, Some(0x1000)),
            (0x10ff, Some(0x1000)),
            (0x1100, None),
            (0x2000, Some(0x2000)),
            (0x20ff, Some(0x2000)),
            (0x2110, None),
            (0x9000, Some(0x3000)),
        ] {
            assert_eq!(all.function_at(address).map(|function| function.start), start, "{address:#x}");
        }
        let exported = table(&symbols, false);
        let start = |address| exported.function_at(address).map(|function| function.start);
        assert_eq!((start(0x2000), start(0x2001)), (Some(0x2000), None));
    }

    #[test]
    fn symbols_of_32_bits_and_of_the_other_byte_order_are_read() {
        let mut little = Reader { is_little: true, ..Reader::default() };
        little.add(&[1, 0, 0, 0, 0, 0x10, 0, 0, 0x20, 0, 0, 0, GLOBAL << 4 | FUNC, 0, 1, 0]);
        let mut big = Reader::default();
        big.add(&[0, 0, 0, 1, 0, 0, 0x10, 0, 0, 0, 0, 0x20, GLOBAL << 4 | FUNC, 0, 0, 1]);
        assert_eq!(little.functions, big.functions);
        assert_eq!(little.functions[0], Function { start: 0x1000, order: 0, name: 1, end: 0x1020 });
    }

    /// Returns the preferred name of symbols at one address: binding, size and name.
    fn name_of(symbols: &[(u8, u64, &str)]) -> Option<String> {
        let mut names = vec![0];
        let symbols: Vec<_> = symbols
            .iter()
            .map(|(binding, size, name)| {
                let at = names.len() as u32;
                names.extend_from_slice(name.as_bytes());
                names.push(0);
                (*binding, FUNC, 0x1000, *size, at)
            })
            .collect();
        let file = crate::file::made::with_bytes(".strtab", &names);
        table(&symbols, true).name(&file, 0x1000)
    }

    #[test]
    fn name_is_the_one_that_the_perf_tool_takes() {
        let read = [(LOCAL, 157, "__GI___libc_read"), (GLOBAL, 157, "read"), (GLOBAL, 157, "__read")];
        assert_eq!(name_of(&read).unwrap(), "read");
        let free = [(GLOBAL, 257, "free"), (GLOBAL, 257, "cfree@GLIBC_2.2.5"), (LOCAL, 257, "__free")];
        assert_eq!(name_of(&free).unwrap(), "cfree@GLIBC_2.2.5");
        let weak = [(WEAK, 834, "qsort_r"), (LOCAL, 834, "__qsort_r"), (LOCAL, 834, "__GI___qsort_r")];
        assert_eq!(name_of(&weak).unwrap(), "__GI___qsort_r");
        assert_eq!(name_of(&[(GLOBAL, 0, "start"), (LOCAL, 8, "local")]).unwrap(), "local");
        assert_eq!(name_of(&[(LOCAL, 8, "a"), (LOCAL, 8, "b")]).unwrap(), "a");
        // The demangled names are compared, here of u64 and usize.
        let fmt = [
            (GLOBAL, 8, "_RNvXsi_NtNtNtCs1_4core3fmt3num3impyNtB9_7Display3fmt"),
            (GLOBAL, 8, "_RNvXsj_NtNtNtCs1_4core3fmt3num3impjNtB9_7Display3fmt"),
        ];
        assert_eq!(name_of(&fmt).unwrap(), "<usize as core::fmt::Display>::fmt");
        assert_eq!(name_of(&[(GLOBAL, 8, "single")]).unwrap(), "single");
        assert_eq!((name_of(&[]), name_of(&[(GLOBAL, 8, "")])), (None, None));
        assert_eq!(name_of(&[(GLOBAL, 8, &"x".repeat(MAX_NAME as usize + 1))]), None);
    }

    #[test]
    fn vdso_of_this_process_has_functions() {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the mappings");
        let Some(line) = maps.lines().find(|line| line.ends_with("[vdso]")) else {
            eprintln!("skipped: this kernel has no vdso");
            return;
        };
        let (range, _) = line.split_once(' ').expect("a range");
        let (start, end) = range.split_once('-').expect("a range");
        let hex = |text| u64::from_str_radix(text, 16).expect("a number");
        let vdso = |range| Mapping::new(range, 0, MappedObject::new(b"[vdso]"));
        let (start, end) = (hex(start), hex(end));
        let finder = FileFinder::local();
        let found = finder.find(1, &vdso(start..end), None).expect("the vdso");
        assert!(found.object().is_memory());
        let text = found.object().section_addresses(".text").expect("code");
        let file = found.object();
        let mut symbols = SymbolTable::read(file, true).expect("symbols");
        let functions: BTreeMap<_, _> =
            text.clone().filter_map(|address| symbols.find(file, address)).collect();
        assert!(functions.len() > 2 && functions.keys().all(|start| text.contains(start)), "{functions:?}");
        assert!(functions.values().any(|name| name.ends_with("clock_gettime")), "{functions:?}");
        assert_eq!(symbols.find(file, 0), None);
        // 32-bit programs have their own path of the same length.
        if cfg!(target_pointer_width = "64") {
            let low = vdso(0xf7f0_0000..0xf7f0_0000 + (end - start));
            assert!(finder.find(1, &low, None).is_err());
        }
    }
}
