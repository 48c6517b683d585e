//! The symbols of an ELF file: functions from its symbol table, lines and inlined functions from
//! its debug information.

mod dwarf;
mod limits;
mod linkage;
mod no_lines;
mod split;
mod starts;
mod table;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use no_lines::NoLines;
pub(super) use table::rank;

use self::dwarf::{Chain, Dwarf, section_bytes};
use self::linkage::{LinkageTable, Target, is_linkage_table, symbol_name};
use self::starts::FunctionStarts;
use self::table::SymbolTable;
use super::demangle::demangled;
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
/// for function in symbols.symbolize(code.start).iter().flat_map(|symbols| symbols.functions()) {
///     println!("{}", function.name);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ElfSymbols {
    found: Arc<FoundFile>,
    table: SymbolTable,
    /// `Err(None)` if there is no debug information or lines were not requested.
    dwarf: Result<Dwarf, Option<NoLines>>,
    /// Read for the first address in a stub.
    linkage: Option<LinkageTable>,
    /// Read for the first other address that has no symbol.
    starts: Option<FunctionStarts>,
    /// Names of stubs and of functions without a symbol, by first address.
    names: HashMap<u64, Arc<str>>,
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
        let table = SymbolTable::read(found.clone())?;
        Ok(Self { found, table, dwarf, linkage: None, starts: None, names: HashMap::new() })
    }

    /// Returns the first address of a stub that calls a library, and its name, as objdump and gdb
    /// call it: the name of the function with `@plt`.
    fn find_stub(&mut self, address: u64) -> Option<(u64, Arc<str>)> {
        let file = self.found.object();
        let linkage = self.linkage.get_or_insert_with(|| LinkageTable::read(file));
        let (start, target) = linkage.find(address)?;
        if let Some(name) = self.names.get(&start) {
            return Some((start, name.clone()));
        }
        let name = match target {
            Target::Symbol(index) => format!("{}@plt", demangled(&symbol_name(file, index)?)),
            Target::Chooser(chooser) => match self.table.find(chooser) {
                Some((first, name)) if first == chooser => format!("{name}@plt"),
                _ => return None,
            },
        };
        Some((start, self.names.entry(start).or_insert(name.into()).clone()))
    }

    /// Returns the first address of a function that has no symbol, and a text in place of its name.
    fn find_start(&mut self, address: u64) -> Option<(u64, Arc<str>)> {
        let file = self.found.object();
        let starts = self.starts.get_or_insert_with(|| FunctionStarts::read(file));
        let start = starts.find(address).filter(|start| file.is_in_one_section(*start, address))?;
        let name = || format!("{}+{start:#x}", self.found.name()).into();
        Some((start, self.names.entry(start).or_insert_with(name).clone()))
    }
}

impl fmt::Debug for ElfSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let no_lines = self.dwarf.as_ref().err();
        f.debug_struct("ElfSymbols").field("no_lines", &no_lines).finish_non_exhaustive()
    }
}

/// Returns why an address of a file has no symbol.
pub(super) fn no_symbol(file: &FoundFile, address: u64) -> Unnamed {
    if is_stub(file, address) {
        Unnamed::LinkageTable
    } else if !file.symbol_file().has_section(".symtab") && file.object().has_section(".gnu_debugdata") {
        Unnamed::MiniDebugInfo
    } else {
        Unnamed::NoSymbol
    }
}

/// Returns true if the address is in a stub of the procedure linkage table. A single entry of the
/// unwind information covers all of them.
fn is_stub(file: &FoundFile, address: u64) -> bool {
    file.object().section_name(address).is_some_and(is_linkage_table)
}

/// Estimates the memory in bytes that the symbols of a file take, including its debug information.
pub(super) fn kept_bytes(found: &FoundFile) -> u64 {
    let file = found.symbol_file();
    // An entry has at least 20 bytes, and takes 16.
    let starts = found.object().bytes_of(|name| name == b".eh_frame");
    // The sections, and the same amount again for what the library parses from them.
    let debug_information = section_bytes(file).saturating_mul(2);
    file.symbol_bytes().saturating_add(starts).saturating_add(debug_information)
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
        let Chain { mut functions, name, start, source } = chain.unwrap_or_default();
        // Prefer the name of the symbol table: it has namespaces that DWARF lacks for many
        // functions, and a separate name for the cold part of a function.
        let found = in_table.or_else(|| start.zip(name));
        let is_stub = found.is_none() && is_stub(&self.found, address);
        let found = if is_stub { Some(self.find_stub(address)?) } else { found };
        let unnamed = found.is_none().then(|| no_symbol(&self.found, address));
        let (start, name) = found.or_else(|| self.find_start(address))?;
        functions.push(Function { name, source });
        let symbols = Symbols::new(functions, address.wrapping_sub(start));
        Some(symbols.with_no_lines(no_lines).with_unnamed(unnamed))
    }
}
