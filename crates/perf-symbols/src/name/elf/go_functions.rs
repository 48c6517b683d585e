//! The names of Go functions in the table of the Go runtime (`.gopclntab`), which stripped programs
//! have, too.
//!
//! Go defines it in `src/debug/gosym/pclntab.go` and `src/runtime/symtab.go`. Read are the tables
//! of Go 1.16 and later. Their lines are not read, because the lines of inlined code belong to
//! functions that are in another table.

use crate::file::ObjectFile;

/// Names of the section: of position-dependent and of position-independent programs.
const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];
/// The runtime's description of the program. A separate section since Go 1.26.
const MODULE: &str = ".go.module";
/// Maximum number of functions. The largest programs have some 500 000.
const MAX_FUNCTIONS: u64 = 2 << 20;
/// Maximum length of a name in bytes. Instances of generic functions have some thousand.
const MAX_NAME: u64 = 1 << 16;
/// The first number of the table, by the version of Go that introduced it.
const GO_1_16: u32 = 0xffff_fffa;
const GO_1_18: u32 = 0xffff_fff0;
const GO_1_20: u32 = 0xffff_fff1;

/// The functions of a Go program.
#[derive(Default)]
pub(super) struct GoFunctions {
    section: &'static str,
    /// First addresses, ascending, each with the offset of a description. A last entry has the end.
    functions: Box<[(u64, u64)]>,
    /// Offsets in the section.
    names: u64,
    descriptions: u64,
    /// Size in bytes of the first field of a description, before the offset of the name.
    address_len: u64,
}

impl GoFunctions {
    /// Reads the table of a file: empty if the file has no table, if it is damaged or of another
    /// version, or if the start of the code is unknown.
    pub(super) fn read(file: &ObjectFile) -> Self {
        SECTIONS.into_iter().find_map(|section| Self::read_section(file, section)).unwrap_or_default()
    }

    fn read_section(file: &ObjectFile, section: &'static str) -> Option<Self> {
        let head: [u8; 8] = file.bytes_at(section, 0)?;
        let [magic @ .., _, _, _, word_len] = head;
        let version = u32::from_le_bytes(*magic.first_chunk()?);
        let word = |index: u64| word_at(file, section, word_len, 8 + index * u64::from(word_len));
        let count = word(0).filter(|count| (1..=MAX_FUNCTIONS).contains(count))?;
        // First the addresses themselves, later offsets from the start of the code.
        let (start, names, descriptions, address_len) = match version {
            GO_1_16 => (Start::Known(0), word(2)?, word(6)?, word_len),
            GO_1_18 | GO_1_20 => (start_of_code(file, section, word(2)?)?, word(3)?, word(7)?, 4),
            _ => return None,
        };
        let field_len = usize::from(address_len);
        let bytes = file.range_of(section, descriptions, (count * 2 + 1) * u64::from(address_len))?;
        let fields: Vec<_> = bytes.chunks_exact(field_len).map(number).collect();
        let entry = |pair: &[u64]| {
            let address = pair.first()?.checked_add(start.address())?;
            Some((address, pair.get(1).copied().unwrap_or(0)))
        };
        let functions = fields.chunks(2).map(entry).collect::<Option<Box<[_]>>>()?;
        let found = Self { section, functions, names, descriptions, address_len: address_len.into() };
        found.is_of_code(file, start).then_some(found)
    }

    /// Returns true if the table describes the code of the file. Addresses of a program that is not
    /// relocated yet may be 0, and the start of the code may be a guess.
    fn is_of_code(&self, file: &ObjectFile, start: Start) -> bool {
        let (Some((first, _)), Some((end, _))) = (self.functions.first(), self.functions.last()) else {
            return false;
        };
        let is_ascending = self.functions.is_sorted_by_key(|(address, _)| *address);
        let is_in_section = first < end && file.is_in_one_section(*first, end - 1);
        // The program begins at a function of the runtime, or in the C library.
        let entry = file.entry_point().filter(|entry| (*first..*end).contains(entry));
        let is_runtime = |entry| {
            let name = self.find(file, entry);
            name.is_some_and(|(first, name)| first == entry && name.starts_with("_rt0_"))
        };
        let has_start = match (entry, start) {
            (Some(entry), _) => is_runtime(entry),
            (None, Start::Known(_)) => true,
            (None, Start::Guess(_)) => false,
        };
        is_ascending && is_in_section && has_start
    }

    /// Returns the first address and the name of the function at an address.
    pub(super) fn find(&self, file: &ObjectFile, address: u64) -> Option<(u64, String)> {
        let after = self.functions.partition_point(|(start, _)| *start <= address);
        // The last entry is the end.
        let (start, description) =
            *self.functions.get(after.checked_sub(1)?).filter(|_| after < self.functions.len())?;
        let at = self.descriptions.checked_add(description)?.checked_add(self.address_len)?;
        let name = u32::from_le_bytes(file.bytes_at(self.section, at)?);
        let name = file.string_at(self.section, self.names.checked_add(name.into())?, MAX_NAME)?;
        let name = String::from_utf8_lossy(&name).into_owned();
        (!name.is_empty()).then_some((start, name))
    }
}

/// The address that the table is relative to.
#[derive(Clone, Copy, Debug)]
enum Start {
    Known(u64),
    Guess(u64),
}

impl Start {
    fn address(self) -> u64 {
        let (Self::Known(address) | Self::Guess(address)) = self;
        address
    }
}

/// Returns the start of the Go code (`runtime.text`). Since Go 1.26, the header of the table has 0,
/// and the runtime takes it from its description of the program.
fn start_of_code(file: &ObjectFile, section: &str, in_header: u64) -> Option<Start> {
    /// Number of the word with the start.
    const TEXT: u64 = 22;
    if in_header != 0 {
        return Some(Start::Known(in_header));
    }
    let module = |index| word_at(file, MODULE, if file.is_64() { 8 } else { 4 }, index);
    let table = file.section_addresses(section)?.start;
    if module(0) == Some(table)
        && let Some(text) = module(TEXT * if file.is_64() { 8 } else { 4 }).filter(|text| *text != 0)
    {
        return Some(Start::Known(text));
    }
    Some(Start::Guess(file.section_addresses(".text")?.start))
}

/// Returns the number of `len` bytes at an offset in a section.
fn word_at(file: &ObjectFile, section: &str, len: u8, offset: u64) -> Option<u64> {
    match len {
        8 => file.bytes_at::<8>(section, offset).map(u64::from_le_bytes),
        4 => file.bytes_at::<4>(section, offset).map(|bytes| u32::from_le_bytes(bytes).into()),
        _ => None,
    }
}

/// Returns a little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
