//! The machine code of a function: its instructions as text, with their lines, jumps and calls.

mod arm64;
mod decoded;
mod x86;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::caught::caught;
use crate::file::{ElfError, FileFinder, FoundFile};
use crate::name::{ElfSymbols, FileSymbols, NoLines, SourceLine};

use decoded::{Decoded, Decoder, Flow};

/// The way in which instructions of x86 are written. Other machines have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Syntax {
    /// AT&T, as objdump and the perf tool print by default: `mov %rax,%rbx` copies `rax`.
    #[default]
    Att,
    /// Intel: `mov rbx,rax` copies `rax`.
    Intel,
}

/// A function as instructions: read by [`Disassembly::read`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disassembly {
    /// Addresses of the function in the file's symbol table.
    pub addresses: Range<u64>,
    /// All of its instructions by ascending address, without gaps.
    pub instructions: Vec<Instruction>,
    /// Why source lines are missing although the file has debug information.
    pub no_lines: Option<NoLines>,
    /// Time when the program was last changed, in s since 1970; `None` for memory. A source file
    /// that is newer may have other lines.
    pub modified: Option<i64>,
}

/// An instruction with its jump, its call and its source line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instruction {
    /// Address in the file's symbol table.
    pub address: u64,
    /// Length in bytes.
    pub len: u8,
    /// The mnemonic and the operands, with addresses in hexadecimal. Bytes that are no instruction
    /// are data: `(bad)` on x86, `.inst` on arm64.
    pub text: Box<str>,
    /// Address that a direct jump leads to; also outside of the function.
    pub jump: Option<u64>,
    /// The function that a direct call, or a jump out of the function, leads to, if it has a name.
    pub target: Option<Arc<str>>,
    /// The line of the innermost function, which can be inlined.
    pub source: Option<SourceLine>,
}

/// Why a function cannot be disassembled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DisassemblyError {
    /// Only the debug information of the program was found, which has no code.
    NoCode,
    /// No symbol contains the address, so that the ends of the function are unknown.
    NoFunction,
    /// The function has more than 1 MiB.
    TooLarge {
        /// Length in bytes, according to its symbol.
        len: u64,
    },
    /// The code is for another machine than x86-64, x86 and arm64.
    Machine(u16),
    /// The file cannot be read, or loads nothing at the addresses of the function.
    File(ElfError),
    /// The library that decodes instructions panicked.
    Panicked,
}

/// Maximum length of a function in bytes. The largest ones that compilers write have some hundred
/// kB.
const MAX_CODE: u64 = 1 << 20;
/// Maximum number of bytes of debug information to read.
const MAX_DEBUG: u64 = 8 << 30;

impl Disassembly {
    /// Disassembles the function at an address of the symbol table of a file that was found.
    ///
    /// The file is what [`FileFinder::find`] verified: see [`FoundFile::evidence`].
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use perf_symbols::{Disassembly, FileFinder, ObjectFile, Syntax};
    ///
    /// let finder = FileFinder::local();
    /// let program = ObjectFile::open(std::env::current_exe()?)?;
    /// let code = program.section_addresses(".text").ok_or("no code")?;
    /// let found = Arc::new(finder.find_debug_file(program));
    /// let start = Disassembly::read(&finder, &found, code.start, Syntax::Intel)?;
    /// for instruction in &start.instructions {
    ///     println!("{:x} {}", instruction.address, instruction.text);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`DisassemblyError`] says what the function or the file lacks.
    pub fn read(
        finder: &FileFinder,
        found: &Arc<FoundFile>,
        address: u64,
        syntax: Syntax,
    ) -> Result<Self, DisassemblyError> {
        let mut symbols =
            ElfSymbols::read(finder, Arc::clone(found), Some(MAX_DEBUG)).map_err(DisassemblyError::File)?;
        let file = found.object();
        if !file.has_code() {
            return Err(DisassemblyError::NoCode);
        }
        let addresses = symbols.function_range(address).ok_or(DisassemblyError::NoFunction)?;
        let len = addresses.end - addresses.start;
        if len > MAX_CODE {
            return Err(DisassemblyError::TooLarge { len });
        }
        let bytes = file.code(addresses.clone()).map_err(DisassemblyError::File)?;
        let decoder = Decoder::new(file.machine(), syntax)?;
        let decoded = decode(&decoder, addresses.start, &bytes).ok_or(DisassemblyError::Panicked)?;
        let mut no_lines = None;
        let mut instruction = |decoded: Decoded| {
            let named = symbols.symbolize(decoded.address);
            no_lines = no_lines.or(named.as_ref().and_then(|named| named.no_lines));
            let (jump, left) = match decoded.flow {
                Flow::Jump(to) => (Some(to), Some(to).filter(|to| !addresses.contains(to))),
                Flow::Call(to) => (None, Some(to)),
                Flow::Next => (None, None),
            };
            let target = left.and_then(|to| symbols.symbolize(to));
            // An address inside of another function is not a call of it.
            let target = target.filter(|target| target.offset == 0);
            Instruction {
                address: decoded.address,
                len: decoded.len,
                text: decoded.text,
                jump,
                target: target.and_then(|target| Some(target.functions.last()?.name.clone())),
                source: named.and_then(|named| named.functions.first()?.source.clone()),
            }
        };
        let instructions = decoded.into_iter().map(&mut instruction).collect();
        Ok(Self { instructions, no_lines, modified: file.modified(), addresses })
    }
}

/// Decodes all bytes; `None` if the library panicked.
fn decode(decoder: &Decoder, start: u64, bytes: &[u8]) -> Option<Vec<Decoded>> {
    caught(|| {
        let (mut all, mut at) = (Vec::new(), 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let decoded = decoder.decode(start.wrapping_add(at as u64), rest);
            // At least one byte, so that the loop ends.
            at += usize::from(decoded.len.max(1));
            all.push(decoded);
        }
        all
    })
}

impl fmt::Display for DisassemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCode => f.write_str("only the debug information of the program was found, not its code"),
            Self::NoFunction => f.write_str(
                "no symbol contains the function, so that its end is unknown; install its debug package",
            ),
            Self::TooLarge { len } => {
                write!(f, "expected a function of at most {MAX_CODE} bytes, found {len}")
            }
            Self::Machine(machine) => {
                write!(f, "expected code of x86-64, x86 or arm64, found the ELF machine {machine}")
            }
            Self::File(error) => error.fmt(f),
            Self::Panicked => f.write_str("the library that decodes instructions failed on this function"),
        }
    }
}

impl std::error::Error for DisassemblyError {}

#[cfg(test)]
mod tests;
