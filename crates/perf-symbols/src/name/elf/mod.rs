//! The symbols of an ELF file: functions from its symbol table, lines and inlined functions from
//! its debug information.

mod dwarf;
mod limits;
mod no_lines;
mod split;
mod table;

use std::fmt;
use std::sync::Arc;

pub use no_lines::NoLines;
pub(super) use table::rank;

use self::dwarf::{Dwarf, section_bytes};
use self::table::SymbolTable;
use super::query::{Function, Symbols};
use super::symbolizer::FileSymbols;
use crate::file::{ElfError, FileFinder, FoundFile, ObjectFile};

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
/// for function in symbols.symbolize(code.start).iter().flat_map(|symbols| symbols.functions()) {
///     println!("{}", function.name);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ElfSymbols {
    table: SymbolTable,
    /// `Err(None)` if there is no debug information or lines were not requested.
    dwarf: Result<Dwarf, Option<NoLines>>,
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
        Ok(Self { table: SymbolTable::read(found)?, dwarf })
    }
}

impl fmt::Debug for ElfSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let no_lines = self.dwarf.as_ref().err();
        f.debug_struct("ElfSymbols").field("no_lines", &no_lines).finish_non_exhaustive()
    }
}

/// Estimates the memory in bytes that the symbols of a file take, including its debug information.
pub(super) fn kept_bytes(file: &ObjectFile) -> u64 {
    // The sections, and the same amount again for what the library parses from them.
    file.symbol_bytes().saturating_add(section_bytes(file).saturating_mul(2))
}

impl FileSymbols for ElfSymbols {
    fn symbolize(&mut self, address: u64) -> Option<Symbols> {
        let in_table = self.table.find(address);
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
        let Some(mut chain) = chain else {
            let (start, name) = in_table?;
            let function = Function { name, source: None };
            return Some(Symbols::new([function], address - start).with_no_lines(no_lines));
        };
        // Prefer the name of the symbol table: it has namespaces that DWARF lacks for many
        // functions, and a separate name for the cold part of a function.
        let (name, start) = match in_table {
            Some((start, name)) => (name, start),
            None => (chain.name?, chain.start?),
        };
        chain.functions.push(Function { name, source: chain.source });
        Some(Symbols::new(chain.functions, address.wrapping_sub(start)).with_no_lines(no_lines))
    }
}
