//! Functions that the symbol tables of a file lack: their names and starts from other sections.

use std::collections::HashMap;
#[cfg(feature = "disassembly")]
use std::ops::Range;
use std::sync::Arc;

use super::super::demangle::demangled;
use super::super::query::Unnamed;
use super::go_functions::GoFunctions;
use super::linkage::{LinkageTable, Target, is_linkage_table, symbol_name};
use super::starts::FunctionStarts;
use super::table::SymbolTable;
use crate::file::{ElfError, FoundFile, ObjectFile};

/// Other sources of names. Each is read for the first address that needs it.
#[derive(Default)]
pub(super) struct Stripped {
    stubs: Option<LinkageTable>,
    /// The file in `.gnu_debugdata` with its symbols; `Ok(None)` without that section.
    mini: Option<Result<Option<(ObjectFile, SymbolTable)>, ElfError>>,
    go: Option<GoFunctions>,
    starts: Option<FunctionStarts>,
    /// Names of stubs and Go functions and texts of starts, by first address.
    names: HashMap<u64, Arc<str>>,
}

/// A function without a symbol.
pub(super) struct Found {
    pub(super) start: u64,
    pub(super) name: Arc<str>,
    /// Set if only the start is known, with the reason.
    pub(super) unnamed: Option<Unnamed>,
}

impl Stripped {
    /// Returns the function at an address. `table` has the symbols of the file.
    pub(super) fn find(&mut self, found: &FoundFile, table: &mut SymbolTable, address: u64) -> Option<Found> {
        let named = |(start, name)| Found { start, name, unnamed: None };
        if is_stub(found, address) {
            return self.stub(found, table, address).map(named);
        }
        let function = self.mini(found, address).or_else(|| self.go(found, address));
        if let Some(function) = function {
            return Some(named(function));
        }
        let (start, name) = self.start(found, address)?;
        Some(Found { start, name, unnamed: Some(self.reason(found, address)) })
    }

    /// Returns the addresses of the function at an address, by the unwind information.
    #[cfg(feature = "disassembly")]
    pub(super) fn range(&mut self, found: &FoundFile, address: u64) -> Option<Range<u64>> {
        let file = found.object();
        let starts = self.starts.get_or_insert_with(|| FunctionStarts::read(file));
        starts.range(address).filter(|range| file.is_in_one_section(range.start, address))
    }

    /// Returns why the function at an address has no name.
    pub(super) fn reason(&self, found: &FoundFile, address: u64) -> Unnamed {
        if is_stub(found, address) {
            Unnamed::LinkageTable
        } else if matches!(self.mini, Some(Err(_))) {
            Unnamed::MiniDebugInfo
        } else {
            Unnamed::NoSymbol
        }
    }

    /// Returns the first address of a stub that calls a library, and its name, as objdump and gdb
    /// call it: the name of the function with `@plt`.
    fn stub(&mut self, found: &FoundFile, table: &mut SymbolTable, address: u64) -> Option<(u64, Arc<str>)> {
        let file = found.object();
        let stubs = self.stubs.get_or_insert_with(|| LinkageTable::read(file));
        let (start, target) = stubs.find(address)?;
        if let Some(name) = self.names.get(&start) {
            return Some((start, name.clone()));
        }
        let name = match target {
            Target::Symbol(index) => format!("{}@plt", demangled(&symbol_name(file, index)?)),
            Target::Chooser(chooser) => match table.find(found.symbol_file(), chooser) {
                Some((first, name)) if first == chooser => format!("{name}@plt"),
                _ => return None,
            },
        };
        Some((start, self.names.entry(start).or_insert(name.into()).clone()))
    }

    /// Returns a function that `.gnu_debugdata` names.
    fn mini(&mut self, found: &FoundFile, address: u64) -> Option<(u64, Arc<str>)> {
        let read = || {
            let Some(file) = found.object().mini_debug_info()? else { return Ok(None) };
            // It lacks the functions of `.dynsym`, so that its next one does not bound a symbol of
            // size 0.
            let table = SymbolTable::read(&file, false)?;
            Ok(Some((file, table)))
        };
        let (file, table) = self.mini.get_or_insert_with(read).as_mut().ok()?.as_mut()?;
        table.find(file, address)
    }

    /// Returns a function that the Go runtime names.
    fn go(&mut self, found: &FoundFile, address: u64) -> Option<(u64, Arc<str>)> {
        let file = found.object();
        let functions = self.go.get_or_insert_with(|| GoFunctions::read(file));
        let (start, name) = functions.find(file, address)?;
        Some((start, self.names.entry(start).or_insert_with(|| name.into()).clone()))
    }

    /// Returns the first address of a function that has no symbol, and a text in place of its name.
    fn start(&mut self, found: &FoundFile, address: u64) -> Option<(u64, Arc<str>)> {
        let file = found.object();
        let starts = self.starts.get_or_insert_with(|| FunctionStarts::read(file));
        let start = starts.find(address).filter(|start| file.is_in_one_section(*start, address))?;
        let name = || format!("{}+{start:#x}", found.name()).into();
        Some((start, self.names.entry(start).or_insert_with(name).clone()))
    }
}

/// Returns true if the address is in a stub of the procedure linkage table. A single entry of the
/// unwind information covers all of them.
fn is_stub(found: &FoundFile, address: u64) -> bool {
    found.object().section_name(address).is_some_and(is_linkage_table)
}

/// Estimates the memory in bytes that the other sources of names of a file take.
pub(super) fn kept_bytes(file: &ObjectFile) -> u64 {
    // An entry of unwind information has at least 20 bytes, and takes 16, as a Go function does.
    // Symbols are compressed to a sixth.
    let starts = file.bytes_of(|name| name == b".eh_frame" || name.ends_with(b".gopclntab"));
    starts.saturating_add(file.bytes_of(|name| name == b".gnu_debugdata").saturating_mul(8))
}
