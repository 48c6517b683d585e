//! The symbols of an ELF file: functions from its symbol table, lines and inlined functions from
//! its debug information.

mod dwarf;
mod go_functions;
mod limits;
mod linkage;
mod no_lines;
mod split;
mod starts;
mod stripped;
mod table;

use std::fmt;
#[cfg(feature = "disassembly")]
use std::ops::Range;
use std::sync::Arc;

pub use no_lines::NoLines;
pub(super) use table::rank;

use self::dwarf::{Chain, Dwarf, section_bytes};
use self::stripped::{Found, Stripped};
use self::table::SymbolTable;
use super::query::{Function, Symbols, Unnamed};
use super::symbolizer::FileSymbols;
use crate::file::{ElfError, FileFinder, FoundFile};

/// The symbol table and the DWARF (read by the crate addr2line) of an ELF file, as a
/// [`Symbolizer`](crate::Symbolizer) uses them.
///
/// No file is mapped, and the amount that is read is bounded: see [`NoLines`]. Panics of the
/// library are caught.
///
/// ```
/// use std::sync::Arc;
///
/// use perf_symbols::{ElfSymbols, FileFinder, FileSymbols, ObjectFile};
///
/// let program = ObjectFile::open(std::env::current_exe()?)?;
/// let code = program.section_addresses(".text").ok_or("no code")?;
/// let finder = FileFinder::local();
/// let found = Arc::new(finder.find_debug_file(program));
/// let mut symbols = ElfSymbols::read(&finder, found, None)?;
/// for function in symbols.symbolize(code.start).iter().flat_map(|symbols| &symbols.functions[..]) {
///     println!("{}", function.name);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ElfSymbols {
    found: Arc<FoundFile>,
    table: SymbolTable,
    /// `Err(None)` if there is no debug information or lines were not requested.
    dwarf: Result<Dwarf, Option<NoLines>>,
    /// For addresses without a symbol.
    stripped: Stripped,
}

impl ElfSymbols {
    /// Reads the symbols of a file that was found. With `max_bytes`, also reads lines and inlined
    /// functions, from up to this number of bytes of debug information, which take most of the time
    /// and memory.
    ///
    /// `finder` locates the parts of the debug information that are in other files.
    ///
    /// # Errors
    ///
    /// Returns [`ElfError`] if the symbol table is damaged.
    pub fn read(
        finder: &FileFinder,
        found: Arc<FoundFile>,
        max_bytes: Option<u64>,
    ) -> Result<Self, ElfError> {
        let dwarf = match max_bytes {
            Some(max_bytes) => Dwarf::read(finder, found.clone(), max_bytes),
            None => Err(None),
        };
        let table = SymbolTable::read(found.symbol_file(), true)?;
        Ok(Self { found, table, dwarf, stripped: Stripped::default() })
    }

    /// Returns the addresses of the function at an address: by its symbol, otherwise by its unwind
    /// information.
    #[cfg(feature = "disassembly")]
    pub(crate) fn function_range(&mut self, address: u64) -> Option<Range<u64>> {
        let by_symbol = self.table.range_of(self.found.symbol_file(), address);
        // A symbol of size 0 is not known to end.
        let by_symbol = by_symbol.filter(|range| range.end != u64::MAX);
        by_symbol.or_else(|| self.stripped.range(&self.found, address))
    }
}

impl fmt::Debug for ElfSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let no_lines = self.dwarf.as_ref().err();
        f.debug_struct("ElfSymbols").field("no_lines", &no_lines).finish_non_exhaustive()
    }
}

/// Estimates the memory in bytes that the symbols of a file take, including its debug information.
pub(super) fn kept_bytes(found: &FoundFile) -> u64 {
    let file = found.symbol_file();
    // The sections, and the same amount again for what the library parses from them.
    let debug_information = section_bytes(file).saturating_mul(2);
    file.symbol_bytes().saturating_add(debug_information).saturating_add(stripped::kept_bytes(found.object()))
}

impl FileSymbols for ElfSymbols {
    fn symbolize(&mut self, address: u64) -> Option<Symbols> {
        let in_table = self.table.find(self.found.symbol_file(), address);
        let (chain, no_lines) = match &mut self.dwarf {
            Ok(dwarf) => {
                let (chain, problem) = dwarf.chain(address);
                if let Some(problem) = problem.filter(|problem| problem.is_of_all_addresses()) {
                    self.dwarf = Err(Some(problem));
                }
                (chain, problem)
            }
            Err(reason) => (None, *reason),
        };
        let Chain { mut functions, name, start, source } = chain.unwrap_or_default();
        // Prefer the name of the symbol table: it has namespaces that DWARF lacks for many
        // functions, and a separate name for the cold part of a function.
        let Found { start, name, unnamed } = match in_table.or_else(|| start.zip(name)) {
            Some((start, name)) => Found { start, name, unnamed: None },
            None => self.stripped.find(&self.found, &mut self.table, address)?,
        };
        functions.push(Function { name, source });
        Some(Symbols { no_lines, unnamed, ..Symbols::new(functions, address.wrapping_sub(start)) })
    }

    fn no_symbol(&self, address: u64) -> Unnamed {
        self.stripped.reason(&self.found, address)
    }
}
