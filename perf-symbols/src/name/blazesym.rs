//! The symbols of ELF files, by blazesym.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blazesym::symbolize::evict::{self, Evict};
use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{CodeInfo, Input, Symbolized, Symbolizer};

use super::alias::{Aliases, Functions};
use super::demangle::demangled;
use super::query::{Function, SourceLine, Symbols};
use super::symbolizer::FileSymbols;
use crate::file::ObjectFile;

/// Reads symbol tables and DWARF by the crate blazesym.
pub struct Blazesym {
    symbolizer: Symbolizer,
    has_lines: bool,
    /// Of the files that it has; `None` for those without.
    aliases: HashMap<PathBuf, Option<Aliases>>,
    /// Kept for its memory.
    functions: Functions,
}

impl fmt::Debug for Blazesym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blazesym").field("symbolizer", &self.symbolizer).finish_non_exhaustive()
    }
}

impl Blazesym {
    /// Makes it. With `has_lines`, it reads the lines of addresses and inlined functions, which takes most of the time and
    /// memory.
    pub fn new(has_lines: bool) -> Self {
        let symbolizer = Symbolizer::builder()
            .enable_code_info(has_lines)
            .enable_inlined_fns(has_lines)
            .enable_demangling(false)
            .build();
        Self { symbolizer, has_lines, aliases: HashMap::new(), functions: Functions::default() }
    }
}

/// Symbols without a name in one function, before it is given up.
const MAX_NAMELESS: usize = 64;

impl Blazesym {
    /// Returns the function with a name that an address is in, and the offset, after a symbol without a name was found
    /// `offset` bytes before it: assemblers leave such in functions, and they hide them.
    fn function_around(&self, file: &Path, address: u64, offset: u64) -> Option<(Arc<str>, u64)> {
        let mut elf = Elf::new(file);
        elf.debug_syms = false;
        let source = Source::Elf(elf);
        let mut at = address.checked_sub(offset)?;
        for _ in 0..MAX_NAMELESS {
            at = at.checked_sub(1)?;
            let Ok(Symbolized::Sym(symbol)) =
                self.symbolizer.symbolize_single(&source, Input::VirtOffset(at))
            else {
                return None;
            };
            if !symbol.name.is_empty() {
                let len = symbol.size? as u64;
                let offset = address.checked_sub(symbol.addr).filter(|offset| *offset < len)?;
                return Some((demangled(&symbol.name).into(), offset));
            }
            at = symbol.addr;
        }
        None
    }
}

impl FileSymbols for Blazesym {
    fn symbolize(&mut self, file: &Path, addresses: &[u64]) -> Result<Vec<Option<Symbols>>, String> {
        if !self.aliases.contains_key(file) {
            let aliases = Aliases::read(file, &mut self.functions);
            self.aliases.insert(file.to_owned(), aliases);
        }
        let aliases = self.aliases.get(file).and_then(Option::as_ref);
        let mut elf = Elf::new(file);
        let symbolize = |elf| self.symbolizer.symbolize(&Source::Elf(elf), Input::VirtOffset(addresses));
        elf.debug_syms = false;
        let named = symbolize(elf.clone());
        // Without debug symbols, it does not follow the debug link, and has no names of a stripped file. Else they have the
        // same functions, and lines.
        elf.debug_syms = self.has_lines || !aliases.is_some_and(Aliases::has_all_symbols);
        let by_dwarf = if elf.debug_syms { Some(symbolize(elf)) } else { None };
        let (found, named) = match (by_dwarf, named) {
            (Some(Ok(found)), named) => (found, named.unwrap_or_default()),
            // The debug information is not needed, or damaged, or the debug link leads to a file with another checksum.
            (_, Ok(named)) => (named, Vec::new()),
            (_, Err(error)) => return Err(error.to_string()),
        };
        let answers = found.into_iter().enumerate().zip(addresses);
        let answer = |((index, found), address): ((usize, Symbolized<'_>), &u64)| {
            let mut symbols = symbols(found, named.get(index))?;
            match symbols.functions().last() {
                Some(function) if function.name.is_empty() => {
                    let (name, offset) = self.function_around(file, *address, symbols.offset())?;
                    symbols = symbols.with_last(&name, offset);
                }
                _ => {}
            }
            let start = address.wrapping_sub(symbols.offset());
            match aliases.and_then(|aliases| aliases.name(start)) {
                Some(name) => Some(symbols.with_last(&name, symbols.offset())),
                None => Some(symbols),
            }
        };
        Ok(answers.map(answer).collect())
    }

    fn forget(&mut self, file: &Path) {
        // It fails for a file that it does not have.
        let _ = self.symbolizer.evict(&Evict::Elf(evict::Elf::new(file)));
        self.aliases.remove(file);
    }

    fn kept_bytes(&self, file: &ObjectFile) -> u64 {
        file.symbol_bytes(self.has_lines)
    }
}

/// Converts an answer by DWARF. The last function is named by the symbol table if that has it: DWARF has no namespaces of
/// many functions, and one name for the cold part of a function and the rest of it.
fn symbols(by_dwarf: Symbolized<'_>, by_symbol_table: Option<&Symbolized<'_>>) -> Option<Symbols> {
    let Symbolized::Sym(symbol) = by_dwarf else { return None };
    let function = |name: &str, code_info: Option<&CodeInfo<'_>>| Function {
        name: demangled(name).into(),
        source: code_info.map(|info| SourceLine {
            file: Arc::from(&*info.to_path()),
            line: info.line,
            column: info.column,
        }),
    };
    let (name, offset) = match by_symbol_table {
        Some(Symbolized::Sym(named)) => (&named.name, named.offset),
        _ => (&symbol.name, symbol.offset),
    };
    let inlined = symbol.inlined.iter().rev();
    let functions = inlined
        .map(|inlined| function(&inlined.name, inlined.code_info.as_ref()))
        .chain([function(name, symbol.code_info.as_deref())])
        .collect::<Vec<_>>();
    Some(Symbols::new(functions, offset as u64))
}
