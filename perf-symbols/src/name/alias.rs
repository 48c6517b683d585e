//! The name of a function whose address has several symbols.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::Path;

use super::demangle::demangled;
use crate::file::ObjectFile;

/// The names of the addresses of a file that have several symbols of functions: of each address the one that the perf tool
/// takes, so that both have the same.
pub(super) struct Aliases {
    file: ObjectFile,
    strings: &'static str,
    /// Addresses, ascending, and where the names that come into question begin in the section of strings.
    candidates: Box<[(u64, u32)]>,
}

impl Aliases {
    /// Reads the symbol table of a file; `None` if it has none, or one of another machine.
    pub(super) fn read(path: &Path, functions: &mut Functions) -> Option<Self> {
        let file = ObjectFile::open(path).ok().filter(ObjectFile::has_native_layout)?;
        let mut table = |symbols: &str, strings: &'static str| {
            functions.clear();
            file.read_pieces(symbols, PIECE, |piece| functions.add(piece)).ok()??;
            Some((functions.candidates(), strings))
        };
        let (candidates, strings) = table(".symtab", ".strtab").or_else(|| table(".dynsym", ".dynstr"))?;
        Some(Self { file, strings, candidates })
    }

    /// Returns whether the file has the symbols of all functions, and not only of those that it exports.
    pub(super) fn has_all_symbols(&self) -> bool {
        self.strings == ".strtab"
    }

    /// Returns the demangled name of the function that begins at an address, if that has several.
    pub(super) fn name(&self, start: u64) -> Option<String> {
        let first = self.candidates.partition_point(|(address, _)| *address < start);
        let same = self.candidates.iter().skip(first).take_while(|(address, _)| *address == start);
        let names = same.filter_map(|(_, name)| self.file.string_at(self.strings, (*name).into()));
        preferred(names)
    }
}

/// A symbol of 64 bits of this machine: name, type, other, section, address, size.
const SYMBOL: usize = 24;
const FUNC: u8 = 2;
const IFUNC: u8 = 10;
const GLOBAL: u8 = 1;
const WEAK: u8 = 2;

/// Bytes of symbols that are read at a time.
const PIECE: usize = 2048 * SYMBOL;

/// The functions of a symbol table: address, order among those of the same address, and name. Tables have hundreds of
/// thousands, so that each is small.
///
/// Use one for all files: large memory that is taken and freed again and again, between names that stay, leaves holes which
/// the allocator does not return to the system.
#[derive(Default)]
pub(super) struct Functions {
    functions: Vec<(u64, u32, u32)>,
    /// Symbols up to now.
    count: u32,
}

/// Bits of the order below the rank: the position in the table.
const POSITION: u32 = 29;

impl Functions {
    fn clear(&mut self) {
        self.functions.clear();
        self.count = 0;
    }

    /// Adds whole symbols.
    fn add(&mut self, symbols: &[u8]) {
        for symbol in symbols.chunks_exact(SYMBOL) {
            self.functions.extend(self.function(symbol));
            self.count += 1;
        }
    }

    fn function(&self, symbol: &[u8]) -> Option<(u64, u32, u32)> {
        let [n0, n1, n2, n3, info, _, s0, s1, rest @ ..] = symbol else { return None };
        let (address, size) =
            rest.split_first_chunk().map(|(first, rest)| (u64::from_ne_bytes(*first), rest))?;
        let has_size = size.iter().any(|&byte| byte != 0);
        let (binding, kind) = (info >> 4, info & 0xf);
        let is_defined = [*s0, *s1] != [0, 0];
        let name = u32::from_ne_bytes([*n0, *n1, *n2, *n3]);
        let is_function = matches!(kind, FUNC | IFUNC) && is_defined && name != 0;
        let rank = u32::from(!has_size) << 2 | u32::from(binding == WEAK) << 1 | u32::from(binding != GLOBAL);
        is_function.then_some((address, rank << POSITION | self.count, name))
    }

    /// Returns the names of each address with several functions, by address: those with a size, that are not weak, and that
    /// are global, as far as there are such.
    fn candidates(&mut self) -> Box<[(u64, u32)]> {
        self.functions.sort_unstable();
        let groups = self.functions.chunk_by(|(a, ..), (b, ..)| a == b).filter(|group| group.len() > 1);
        let best = groups.flat_map(|group| {
            let best = group.first().map(|(_, order, _)| order >> POSITION);
            let is_best = move |function: &&(u64, u32, u32)| Some(function.1 >> POSITION) == best;
            group.iter().take_while(is_best).map(|&(address, _, name)| (address, name))
        });
        best.collect()
    }
}

/// Ranks names of equal bindings: first the one with the fewest underscores before it; of several, the longest.
pub(super) fn rank(name: &[u8]) -> (usize, Reverse<usize>) {
    (name.iter().take_while(|&&byte| byte == b'_').count(), Reverse(name.len()))
}

/// Returns the demangled name that is ranked first.
fn preferred(names: impl Iterator<Item = Vec<u8>>) -> Option<String> {
    let names = names.map(|name| match String::from_utf8_lossy(&name) {
        Cow::Borrowed(name) => demangled(name).into_owned(),
        Cow::Owned(name) => name,
    });
    names.min_by_key(|name| rank(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: u8 = 0;

    /// Returns the preferred name of symbols of one address: binding, size and name.
    fn name_of(symbols: &[(u8, u64, &str)]) -> Option<String> {
        let (mut table, mut names) = (vec![0; SYMBOL], vec![0]);
        for (binding, size, name) in symbols {
            table.extend_from_slice(&u32::try_from(names.len()).unwrap().to_ne_bytes());
            table.extend_from_slice(&[binding << 4 | FUNC, 0, 1, 0]);
            table.extend_from_slice(&0x1000_u64.to_ne_bytes());
            table.extend_from_slice(&size.to_ne_bytes());
            names.extend_from_slice(name.as_bytes());
            names.push(0);
        }
        // Data, an undefined function and the first bytes of a symbol do not count.
        table.extend_from_slice(&[1, 0, 0, 0, GLOBAL << 4 | 1, 0, 1, 0]);
        table.extend_from_slice(&[0; 16]);
        table.extend_from_slice(&[1, 0, 0, 0, GLOBAL << 4 | FUNC, 0, 0, 0]);
        table.extend_from_slice(&[0; 16 + 5]);
        let mut functions = Functions::default();
        functions.add(&table);
        let found = functions.candidates();
        assert!(found.iter().all(|(address, _)| *address == 0x1000));
        let text = |offset: u32| names[offset as usize..].split(|&byte| byte == 0).next().unwrap().to_vec();
        preferred(found.iter().map(|(_, name)| text(*name)))
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
        // The demangled names are compared: those of u64 and usize.
        let fmt = [
            (GLOBAL, 8, "_RNvXsi_NtNtNtCs1_4core3fmt3num3impyNtB9_7Display3fmt"),
            (GLOBAL, 8, "_RNvXsj_NtNtNtCs1_4core3fmt3num3impjNtB9_7Display3fmt"),
        ];
        assert_eq!(name_of(&fmt).unwrap(), "<usize as core::fmt::Display>::fmt");
        assert_eq!(name_of(&[(GLOBAL, 8, "single")]), None);
        assert_eq!(name_of(&[]), None);
    }
}
