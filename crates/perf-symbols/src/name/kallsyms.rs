//! The kernel's own list of its symbols: `/proc/kallsyms`.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::elf::rank;
use crate::system::System;

/// Maximum number of bytes to read. The list of a kernel with all modules has about 20 MB.
const MAX_LEN: u64 = 256 << 20;
/// Number of bytes in which the text of the kernel begins. On old kernels for x86, some hundred
/// variables of each CPU come before it.
const HEAD_LEN: usize = 256 << 10;

/// The functions of the kernel and its modules, by address.
///
/// Parsing a list of 120 000 lines takes about 8 ms of CPU time, after about 35 ms in which the
/// kernel generates it. Memory is the text and 16 bytes per symbol.
pub struct Kallsyms {
    text: Box<[u8]>,
    /// Sorted by address, then by preference.
    symbols: Box<[Symbol]>,
}

/// An address and the position of its name in the text.
#[derive(Clone, Copy)]
struct Symbol {
    address: u64,
    name: u32,
    name_len: u16,
    module_len: u16,
}

/// A function of the kernel: returned by [`Kallsyms::find`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelFunction<'a> {
    /// First address of the function.
    pub address: u64,
    /// The name in raw bytes, usually ASCII.
    pub name: &'a [u8],
    /// The module without brackets; `None` for the kernel itself.
    pub module: Option<&'a [u8]>,
}

/// Why the kernel's symbols are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KallsymsError {
    /// The file cannot be read.
    Unreadable {
        /// The path that was opened.
        path: PathBuf,
        /// The kind of the I/O error.
        kind: io::ErrorKind,
    },
    /// All addresses are 0 because the kernel hides them from this user.
    Hidden {
        /// The value of `/proc/sys/kernel/kptr_restrict`.
        kptr_restrict: Option<u32>,
    },
    /// The text has no line of a function.
    Empty,
    /// The file is larger than 256 MiB.
    TooLarge,
}

impl fmt::Display for KallsymsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, kind } => write!(f, "{}: {kind}", path.display()),
            Self::Hidden { kptr_restrict: Some(2) } => {
                f.write_str("/proc/kallsyms hides all addresses: set kernel.kptr_restrict to 0 or 1, and run as root")
            }
            Self::Hidden { .. } => f.write_str(
                "/proc/kallsyms hides all addresses: run as root, or with CAP_SYSLOG and kernel.kptr_restrict below 2",
            ),
            Self::Empty => f.write_str("expected lines of kallsyms with functions, found none"),
            Self::TooLarge => f.write_str("expected a kallsyms file of at most 256 MiB"),
        }
    }
}

impl std::error::Error for KallsymsError {}

impl Kallsyms {
    /// Reads `/proc/kallsyms`.
    ///
    /// # Errors
    ///
    /// [`KallsymsError`], [`Hidden`](KallsymsError::Hidden) if the permission to see addresses is
    /// missing.
    pub fn of_this_kernel() -> Result<Self, KallsymsError> {
        Self::of_system(&System::new())
    }

    pub(super) fn of_system(system: &System) -> Result<Self, KallsymsError> {
        Self::read(&system.kallsyms()).map_err(|error| match error {
            KallsymsError::Hidden { .. } => KallsymsError::Hidden { kptr_restrict: system.kptr_restrict() },
            error => error,
        })
    }

    /// Reads a copy of the list, such as the perf tool keeps in its build-id cache.
    ///
    /// # Errors
    ///
    /// Returns [`KallsymsError`] if the file cannot be read, is larger than 256 MiB, or has no
    /// function with an address.
    pub fn read(path: &Path) -> Result<Self, KallsymsError> {
        let unreadable =
            |error: io::Error| KallsymsError::Unreadable { path: path.to_owned(), kind: error.kind() };
        // The size of a file in /proc is 0.
        let mut text = Vec::with_capacity(16 << 20);
        File::open(path)
            .and_then(|file| file.take(MAX_LEN + 1).read_to_end(&mut text))
            .map_err(unreadable)?;
        if text.len() as u64 > MAX_LEN {
            return Err(KallsymsError::TooLarge);
        }
        Self::parse(text)
    }

    /// Reads the lines up to a name, and what the kernel generates with them, but at most about
    /// 256 KiB.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read`](Self::read).
    pub(super) fn read_head(path: &Path, name: &[u8]) -> Result<Self, KallsymsError> {
        let unreadable =
            |error: io::Error| KallsymsError::Unreadable { path: path.to_owned(), kind: error.kind() };
        let mut file = File::open(path).map_err(unreadable)?;
        // A read returns a page at most.
        let (mut text, mut page) = (Vec::new(), [0; 4096]);
        while text.len() < HEAD_LEN {
            let read = file.read(&mut page).map_err(unreadable)?;
            let Some(read) = page.get(..read).filter(|read| !read.is_empty()) else { break };
            text.extend_from_slice(read);
            let mut names =
                text.split(|&byte| byte == b'\n').filter_map(|line| line.rsplit(|&byte| byte == b' ').next());
            if names.any(|found| found == name) {
                break;
            }
        }
        // The last line may be cut.
        text.truncate(text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        Self::parse(text)
    }

    /// Parses the text of such a file: lines of an address, a type letter, a name, and optionally a
    /// module. Other lines are ignored.
    ///
    /// # Errors
    ///
    /// Returns [`KallsymsError::Hidden`] if the addresses of all functions are 0, or
    /// [`KallsymsError::Empty`] if the text has no function.
    pub fn parse(text: Vec<u8>) -> Result<Self, KallsymsError> {
        let mut symbols = Vec::with_capacity(text.len() / 40);
        let mut is_hidden = false;
        let mut rest = &text[..];
        while !rest.is_empty() {
            let start = text.len() - rest.len();
            let end = rest.iter().position(|&byte| byte == b'\n');
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after.get(1..).unwrap_or_default();
            let Some((symbol, is_function)) = symbol(line, start) else { continue };
            if is_function {
                is_hidden |= symbol.address == 0;
                if symbol.address != 0 {
                    symbols.push(symbol);
                }
            }
        }
        if symbols.is_empty() {
            let hidden = KallsymsError::Hidden { kptr_restrict: None };
            return Err(if is_hidden { hidden } else { KallsymsError::Empty });
        }
        // The sort is stable, so that equally preferred symbols of an address keep the order of the
        // list.
        symbols.sort_by(|a, b| {
            a.address.cmp(&b.address).then_with(|| preference(&text, a).cmp(&preference(&text, b)))
        });
        Ok(Self { text: text.into(), symbols: symbols.into() })
    }

    /// Returns the whole text as it was read, for example to copy it to another machine.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the function at an address: the last one that begins at or before it. If symbols
    /// share an address, the perf tool's preference decides: strong before weak, global before
    /// local, fewest leading underscores, longest name, first in the list.
    ///
    /// The list has no sizes, so that an address after the last function, or between the kernel and
    /// its modules, is attributed to the function before it. Check the range of the kernel or the
    /// module first where it is known.
    pub fn find(&self, address: u64) -> Option<KernelFunction<'_>> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let last = self.symbols.get(after.checked_sub(1)?)?;
        let first = self.symbols.partition_point(|symbol| symbol.address < last.address);
        self.function(self.symbols.get(first)?)
    }

    /// Returns the address of the first symbol of this name, such as `_text` or `_stext`.
    pub fn address_of(&self, name: &[u8]) -> Option<u64> {
        self.iter().find(|function| function.name == name).map(|function| function.address)
    }

    /// Iterates over the functions by address. Among symbols of one address, the one that
    /// [`Kallsyms::find`] returns comes first.
    pub fn iter(&self) -> impl Iterator<Item = KernelFunction<'_>> {
        self.symbols.iter().filter_map(|symbol| self.function(symbol))
    }

    fn function(&self, symbol: &Symbol) -> Option<KernelFunction<'_>> {
        let (start, len) = (symbol.name as usize, usize::from(symbol.name_len));
        let name = self.text.get(start..start + len)?;
        let module = match usize::from(symbol.module_len) {
            0 => None,
            // Skip a tab and a bracket.
            module_len => Some(self.text.get(start + len + 2..start + len + 2 + module_len)?),
        };
        Some(KernelFunction { address: symbol.address, name, module })
    }
}

impl fmt::Debug for Kallsyms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kallsyms").field("symbols", &self.symbols.len()).finish_non_exhaustive()
    }
}

/// Returns the sort key of a symbol among symbols of one address: strong, global, then [`rank`].
fn preference(text: &[u8], symbol: &Symbol) -> (bool, bool, impl Ord + use<>) {
    let name = symbol.name as usize;
    let kind = name.checked_sub(2).and_then(|kind| text.get(kind)).copied().unwrap_or(b't');
    let name = text.get(name..name + usize::from(symbol.name_len)).unwrap_or_default();
    (kind.eq_ignore_ascii_case(&b'w'), kind.is_ascii_lowercase(), rank(name))
}

/// Parses `ffffffff81000000 T name`, optionally followed by `\t[module]`. The line begins at
/// `start` of the text. The flag is true for a function.
fn symbol(line: &[u8], start: usize) -> Option<(Symbol, bool)> {
    let digits = line.iter().position(|&byte| byte == b' ')?;
    let address = line.get(..digits).filter(|digits| (1..=16).contains(&digits.len()))?;
    let address = address
        .iter()
        .try_fold(0_u64, |sum, &digit| Some(sum << 4 | u64::from(char::from(digit).to_digit(16)?)))?;
    let [kind, b' ', name @ ..] = line.get(digits + 1..)? else { return None };
    let name_len = name.iter().position(|&byte| byte == b'\t').unwrap_or(name.len());
    let module = match name.get(name_len..)? {
        [b'\t', b'[', module @ .., b']'] => module.len(),
        _ => 0,
    };
    let symbol = Symbol {
        address,
        name: u32::try_from(start + digits + 3).ok()?,
        name_len: u16::try_from(name_len).ok().filter(|&len| len > 0)?,
        module_len: u16::try_from(module).ok()?,
    };
    Some((symbol, matches!(kind, b't' | b'T' | b'w' | b'W' | b'i')))
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "0000000000001000 T _text\n0000000000001000 T _stext\n0000000000002000 t inner\n\
                        0000000000001800 D data\n0000000000003000 W weak\t[ext4]\nnoise\n";

    fn parse(text: &str) -> Kallsyms {
        Kallsyms::parse(text.as_bytes().to_vec()).expect("symbols")
    }

    #[test]
    fn address_is_in_the_last_function_before_it() {
        let kallsyms = parse(TEXT);
        let name = |address| kallsyms.find(address).map(|function| function.name);
        for (address, expected) in [
            (0xfff, None),
            (0x1000, Some(&b"_stext"[..])),
            (0x1fff, Some(b"_stext")),
            (0x2000, Some(b"inner")),
            (0x3000, Some(b"weak")),
            (u64::MAX, Some(b"weak")),
        ] {
            assert_eq!(name(address), expected, "{address:#x}");
        }
        assert_eq!(kallsyms.find(0x3004).and_then(|function| function.module), Some(&b"ext4"[..]));
        assert_eq!(kallsyms.find(0x2004).and_then(|function| function.module), None);
        assert_eq!(kallsyms.text(), TEXT.as_bytes());
        assert_eq!((kallsyms.address_of(b"inner"), kallsyms.address_of(b"data")), (Some(0x2000), None));
    }

    #[test]
    fn name_of_an_address_is_the_one_that_the_perf_tool_takes() {
        let name = |lines: &[&str]| {
            let lines: Vec<_> = lines.iter().map(|line| format!("0000000000001000 {line}\n")).collect();
            String::from_utf8_lossy(parse(&lines.concat()).find(0x1000).unwrap().name).into_owned()
        };
        let thunk = ["t __pi___x86_indirect_thunk_rax", "T __x86_indirect_thunk_rax"];
        assert_eq!(name(&thunk), "__x86_indirect_thunk_rax");
        assert_eq!(name(&["W weak_and_long", "t local", "t __local_and_long"]), "local");
        assert_eq!(name(&["T first", "T other"]), "first");
    }

    #[test]
    fn hidden_addresses_and_a_file_of_something_else_are_errors() {
        let hidden = "0000000000000000 T _text\n0000000000000000 t inner\n";
        let error = |text: &str| Kallsyms::parse(text.into()).expect_err("no symbols");
        assert_eq!(error(hidden), KallsymsError::Hidden { kptr_restrict: None });
        assert_eq!([error("something else\n"), error("")], [KallsymsError::Empty, KallsymsError::Empty]);
        for (restrict, remedy) in
            [(Some(2), "kptr_restrict to 0 or 1"), (Some(1), "run as root"), (None, "CAP_SYSLOG")]
        {
            let text = KallsymsError::Hidden { kptr_restrict: restrict }.to_string();
            assert!(text.contains(remedy), "{text}");
        }
        let missing = Kallsyms::read(Path::new("/no/kallsyms")).expect_err("no file");
        assert_eq!(missing.to_string(), "/no/kallsyms: entity not found");
    }

    #[test]
    fn list_of_this_kernel_is_read_or_hidden() {
        match Kallsyms::of_this_kernel() {
            Ok(kallsyms) => {
                let text =
                    kallsyms.address_of(b"_stext").or(kallsyms.address_of(b"_text")).expect("the text");
                assert!(kallsyms.find(text).is_some());
                assert!(kallsyms.iter().count() > 1000);
            }
            Err(reason) => println!("skipped: {reason}"),
        }
    }

    proptest! {
        #[test]
        fn functions_are_those_that_a_linear_search_finds(
            lines in prop::collection::vec((1_u64..64, prop::sample::select(&b"tTdW"[..]), 0_u8..3), 1..20),
            address in 0_u64..70,
        ) {
            let mut text = String::new();
            for (index, (address, kind, module)) in lines.iter().enumerate() {
                let module = if *module == 0 { "\t[m]" } else { "" };
                writeln!(text, "{address:016x} {} f{index}{module}", char::from(*kind)).expect("a string");
            }
            // Prefer the nearest address, then global symbols, longer names, and the first in the
            // list.
            let functions = lines.iter().enumerate().filter(|(_, (start, kind, _))| *kind != b'd' && *start <= address);
            let best = functions.min_by_key(|&(index, &(start, kind, _))| {
                (Reverse(start), kind == b'W', kind == b't', index < 10)
            });
            let best = best.map(|(index, &(start, _, module))| (start, index, module == 0));
            let kallsyms = Kallsyms::parse(text.into_bytes());
            let found = kallsyms.as_ref().ok().and_then(|kallsyms| kallsyms.find(address));
            let found = found.map(|function| {
                (function.address, String::from_utf8_lossy(function.name).into_owned(), function.module.is_some())
            });
            prop_assert_eq!(found, best.map(|(start, index, module)| (start, format!("f{index}"), module)));
        }

        #[test]
        fn any_bytes_are_parsed(text in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(kallsyms) = Kallsyms::parse(text) {
                prop_assert!(kallsyms.iter().count() > 0);
            }
        }
    }
}
