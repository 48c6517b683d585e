//! The places of functions in ELF files.

use std::fs::File;
use std::path::Path;

use object::read::{Object, ObjectSegment, ObjectSymbol, ReadCache};
use object::{SymbolFlags, SymbolKind, elf};

use super::ProbeError;
use crate::names::nearest;
use crate::system::FileError;

/// Returns the offset of the function's first instruction in the file, in bytes.
pub(super) fn function_offset(path: &Path, function: &str) -> Result<u64, ProbeError> {
    offset(path, function, SymbolKind::Text)
}

/// Returns the offset of the variable in the file, in bytes.
pub(super) fn variable_offset(path: &Path, variable: &str) -> Result<u64, ProbeError> {
    offset(path, variable, SymbolKind::Data)
}

/// A symbol that has the wanted name and kind.
struct Candidate {
    address: u64,
    is_local: bool,
    is_indirect: bool,
}

fn offset(path: &Path, symbol: &str, kind: SymbolKind) -> Result<u64, ProbeError> {
    let file = File::open(path).map_err(|error| FileError::io(path.to_owned(), error))?;
    // Reads only the needed parts, because programs with debug information are large.
    let cache = ReadCache::new(file);
    let file = object::File::parse(&cache)
        .map_err(|error| FileError::malformed(path.to_owned(), "an ELF file", error.to_string()))?;
    // Exported symbols first: they are few, and other files can name only these.
    let exported = candidates(file.dynamic_symbols(), symbol, kind);
    let found = if exported.is_empty() { candidates(file.symbols(), symbol, kind) } else { exported };
    // Programs may have a local function of the same name in several source files.
    let has_global = found.iter().any(|candidate| !candidate.is_local);
    let found: Vec<_> = found.into_iter().filter(|candidate| !(has_global && candidate.is_local)).collect();
    let symbol_of = || (path.to_owned(), symbol.to_owned());
    if found.iter().any(|candidate| candidate.is_indirect) {
        let (path, symbol) = symbol_of();
        return Err(ProbeError::Indirect { path, symbol });
    }
    // Aliases of a function are one.
    let mut addresses: Vec<_> = found.iter().map(|candidate| candidate.address).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let mut offsets = addresses.iter().map(|address| {
        let offset = file_offset(&file, *address);
        let (path, symbol) = symbol_of();
        offset.ok_or(ProbeError::NotInFile { path, symbol, address: *address })
    });
    match (offsets.next(), addresses.len()) {
        (Some(offset), 1) => offset,
        (Some(first), _) => {
            let offsets = std::iter::once(first).chain(offsets).collect::<Result<_, _>>()?;
            let (path, symbol) = symbol_of();
            Err(ProbeError::Ambiguous { path, symbol, offsets })
        }
        (None, _) => {
            let symbols = file.dynamic_symbols().chain(file.symbols());
            let names: Vec<_> = symbols.filter(|it| it.kind() == kind && it.is_definition()).collect();
            let nearest = nearest(symbol, names.iter().filter_map(|symbol| symbol.name().ok()));
            let (path, symbol) = symbol_of();
            Err(ProbeError::NoSymbol { path, symbol, nearest })
        }
    }
}

fn candidates<'d, S: ObjectSymbol<'d>>(
    symbols: impl Iterator<Item = S>,
    name: &str,
    kind: SymbolKind,
) -> Vec<Candidate> {
    let named = symbols.filter(|symbol| {
        symbol.kind() == kind && !symbol.is_undefined() && symbol.name_bytes() == Ok(name.as_bytes())
    });
    let candidate = |symbol: S| Candidate {
        address: symbol.address(),
        is_local: symbol.is_local(),
        is_indirect: matches!(
            symbol.flags(),
            SymbolFlags::Elf { st_info, .. } if st_info.st_type() == elf::STT_GNU_IFUNC
        ),
    };
    named.map(candidate).collect()
}

/// Returns the place of a virtual address in the file, `None` if no segment loads it from there.
fn file_offset<'d>(file: &impl Object<'d>, address: u64) -> Option<u64> {
    file.segments().find_map(|segment| {
        let (start, len) = segment.file_range();
        let within = address.checked_sub(segment.address()).filter(|within| *within < len)?;
        start.checked_add(within)
    })
}
