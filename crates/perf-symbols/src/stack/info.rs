//! The unwind information of a file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use framehop::Unwinder as _;
use gimli::BaseAddresses;
use perf_abi::regs::Architecture;

use super::machine::Machine;
use super::sections::{Context, Entry, Sections, has_table};
use super::start_code;
use crate::{ElfError, FoundFile, NotFound, ObjectFile, SectionBytes};

/// Size of the cache of entries by address: one slot per this number of bytes in the section,
/// within limits.
const BYTES_OF_ADDRESS: usize = 32;
const KNOWN_ADDRESSES: std::ops::RangeInclusive<usize> = 61..=8191;
/// Bytes after the entry point that belong to the first function of a program. In the dynamic
/// linker on x86-64 it has 61 bytes and no unwind information.
const ENTRY_FUNCTION: u64 = 64;

/// Why the unwind information at an address does not lead to the caller: returned by
/// [`Unwinder::missing_info`](super::Unwinder::missing_info).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoUnwindInfo {
    /// No record names the process, or nothing executable is mapped at the address.
    Unmapped,
    /// The file of the mapping was not found. JIT-compiled code has no file.
    File(Arc<NotFound>),
    /// The file cannot be read.
    Elf(ElfError),
    /// The file is for another machine.
    Machine {
        /// The machine of the recording.
        expected: Architecture,
        /// The machine of the file.
        found: Architecture,
    },
    /// The file has neither `.eh_frame` nor `.debug_frame`.
    NoSection,
    /// The sections exceed [`Unwinder::with_max_bytes`](super::Unwinder::with_max_bytes).
    TooLarge {
        /// The limit for all files in bytes.
        limit: u64,
        /// Size of this file's section in bytes.
        found: u64,
    },
    /// No entry covers the address, for example in assembly code.
    Uncovered,
    /// The entry has instructions that no compiler writes, such as a loop.
    Unsafe,
    /// The entry needs a register that the event does not sample, or whose value is unknown because
    /// a frame before this one has no unwind information. Assembly code such as in OpenSSL keeps
    /// the caller's stack pointer in any register.
    Registers,
    /// Reading the sections panicked.
    Panicked,
}

/// Begins with the cause: code without a file, or no unwind information.
impl fmt::Display for NoUnwindInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unmapped | Self::File(_) => "code without a file: ",
            _ => "no unwind information: ",
        })?;
        match self {
            Self::Unmapped => f.write_str(
                "no record maps an executable file at the address, as while exec replaces a program",
            ),
            Self::File(reason) => reason.fmt(f),
            Self::Elf(error) => error.fmt(f),
            Self::Machine { expected, found } => write!(f, "expected a file for {expected}, found {found}"),
            Self::NoSection => f.write_str(
                "the file has no section .eh_frame; install its debug information, or record frame pointers",
            ),
            Self::TooLarge { limit, found } => {
                write!(f, "the section has {found} bytes, and all may have {limit}; raise with_max_bytes")
            }
            Self::Uncovered => f.write_str("no entry of .eh_frame covers the address"),
            Self::Unsafe => f.write_str("the entry of .eh_frame has instructions that no compiler writes"),
            Self::Registers => f.write_str("the entry of .eh_frame needs a register whose value is unknown"),
            Self::Panicked => f.write_str("reading the section .eh_frame panicked"),
        }
    }
}

impl std::error::Error for NoUnwindInfo {}

/// The unwind information of a file by symbol table address, so that all processes share it.
pub(super) struct UnwindInfo<M: Machine> {
    /// Closed.
    pub(super) file: ObjectFile,
    /// `.eh_frame`, then `.debug_frame`, of which one can be missing. Where an object of a program
    /// was compiled without the former, only the latter covers its code.
    tables: Vec<Table<M>>,
    /// Why there is no table of `.debug_frame` beside the one of `.eh_frame`, although the file has
    /// the section.
    unread: Option<NoUnwindInfo>,
    /// Size of the sections in bytes.
    pub(super) len: u64,
    /// Direct-mapped cache of recent lookups, indexed by address modulo length; address 0 marks an
    /// empty slot.
    known: Box<[(u64, Found)]>,
    /// Address of the entry point, where the program starts.
    entry_point: Option<u64>,
    /// The addresses of `_init` and `_fini`.
    start_code: [Option<Range<u64>>; 2],
}

/// An unwind section.
pub(super) struct Table<M: Machine> {
    /// Has one module: the file at its own addresses.
    pub(super) unwinder: M::Unwinder,
    pub(super) sections: Sections,
}

/// The entry of an address, and the index of its table in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) entry: Entry,
    pub(super) table: u8,
}

/// Reads up to `limit` bytes of sections of a file.
#[derive(Clone, Copy)]
struct SectionReader {
    limit: u64,
}

impl SectionReader {
    fn read(self, file: &ObjectFile, name: &str) -> Result<Option<SectionBytes>, NoUnwindInfo> {
        let len = file.section_addresses(name).map_or(0, |range| range.end - range.start);
        if len > self.limit {
            return Err(NoUnwindInfo::TooLarge { limit: self.limit, found: len });
        }
        file.section(name).map_err(NoUnwindInfo::Elf)
    }
}

impl<M: Machine> Table<M> {
    fn new(mut sections: Sections, object: &ObjectFile) -> Result<Self, NoUnwindInfo> {
        // Without a header, framehop builds its own index and evaluates the entry before an
        // uncovered address, so that every entry must be safe.
        if sections.header.is_none() {
            sections.index = sections.make_index().ok_or(NoUnwindInfo::Unsafe)?;
        }
        let mut unwinder = M::Unwinder::default();
        unwinder.add_module(sections.module(object));
        Ok(Self { unwinder, sections })
    }

    /// Reads `.eh_frame` of a file. Returns `None` if the file has no such section.
    fn eh_frame(object: &ObjectFile, reader: SectionReader) -> Result<Option<Self>, NoUnwindInfo> {
        let Some(frames) = reader.read(object, ".eh_frame")? else { return Ok(None) };
        let mut bases = bases(object).set_eh_frame(frames.addresses.start);
        let mut header = None;
        if let Some(found) = reader.read(object, ".eh_frame_hdr")? {
            bases = bases.set_eh_frame_hdr(found.addresses.start);
            header = has_table(&found.bytes, &bases).then_some(found.bytes);
        }
        let frames = frames.bytes;
        let sections = Sections { frames, is_debug_frame: false, header, index: [].into(), bases };
        Self::new(sections, object).map(Some)
    }

    /// Reads `.debug_frame` of a file or of its debug file. Returns `None` if neither has it.
    fn debug_frame(found: &FoundFile, reader: SectionReader) -> Result<Option<Self>, NoUnwindInfo> {
        let object = found.object();
        let mut files = [Some(object), found.debug_file()].into_iter().flatten();
        let section = files.find_map(|file| reader.read(file, ".debug_frame").transpose()).transpose()?;
        let Some(SectionBytes { bytes: frames, .. }) = section else { return Ok(None) };
        let bases = bases(object);
        let sections = Sections { frames, is_debug_frame: true, header: None, index: [].into(), bases };
        Self::new(sections, object).map(Some)
    }
}

fn bases(object: &ObjectFile) -> BaseAddresses {
    let start = |name| object.section_addresses(name).map_or(0, |range| range.start);
    BaseAddresses::default().set_text(start(".text")).set_got(start(".got"))
}

impl<M: Machine> UnwindInfo<M> {
    /// Reads up to `limit` bytes of each section of a file.
    pub(super) fn load(found: FoundFile, limit: u64) -> Result<Self, NoUnwindInfo> {
        let (expected, machine) = (M::ARCHITECTURE, Architecture(found.object().machine()));
        if machine != expected {
            return Err(NoUnwindInfo::Machine { expected, found: machine });
        }
        let reader = SectionReader { limit };
        let eh_frame = Table::eh_frame(found.object(), reader)?;
        let (debug_frame, unread) = match Table::debug_frame(&found, reader) {
            Ok(table) => (table, None),
            Err(reason) if eh_frame.is_some() => (None, Some(reason)),
            Err(reason) => return Err(reason),
        };
        let tables: Vec<Table<M>> = eh_frame.into_iter().chain(debug_frame).collect();
        if tables.is_empty() {
            return Err(NoUnwindInfo::NoSection);
        }
        let frames: usize = tables.iter().map(|table| table.sections.frames.len()).sum();
        let headers = tables.iter().filter_map(|table| table.sections.header.as_ref());
        let len = frames as u64 + headers.map(|bytes| bytes.len() as u64).sum::<u64>();
        let addresses = frames / BYTES_OF_ADDRESS;
        let addresses = addresses.clamp(*KNOWN_ADDRESSES.start(), *KNOWN_ADDRESSES.end());
        let known = vec![(0, Found { entry: Entry::Missing, table: 0 }); addresses].into();
        let entry_point = found.object().entry_point();
        let start_code = start_code::SECTIONS.map(|name| found.object().section_addresses(name));
        Ok(Self { file: found.into_closed(), tables, unread, len, known, entry_point, start_code })
    }

    /// Finds the entry for a symbol table address, and checks that evaluating it is cheap.
    pub(super) fn entry(&mut self, address: u64, context: &mut Context) -> Found {
        let slot = address.checked_rem(self.known.len() as u64);
        let slot = slot.and_then(|slot| self.known.get_mut(slot as usize));
        if let Some((_, found)) = slot.as_ref().filter(|(known, _)| *known == address && address != 0) {
            return *found;
        }
        let mut found = Found { entry: Entry::Missing, table: 0 };
        for (index, table) in (0..).zip(&self.tables) {
            found = Found { entry: table.sections.entry::<M>(address, context), table: index };
            if found.entry != Entry::Missing {
                break;
            }
        }
        if let Some(slot) = slot {
            *slot = (address, found);
        }
        found
    }

    /// Returns the table of an entry.
    pub(super) fn table(&self, index: u8) -> Option<&Table<M>> {
        self.tables.get(usize::from(index))
    }

    /// Returns why no entry covers an address.
    pub(super) fn missing(&self) -> NoUnwindInfo {
        self.unread.clone().unwrap_or(NoUnwindInfo::Uncovered)
    }

    /// Returns true if an entry starts at this address.
    pub(super) fn is_start(&self, address: u64) -> bool {
        let mut ranges = self.tables.iter().filter_map(|table| table.sections.range(address));
        ranges.any(|range| range.start == address)
    }

    /// Returns the addresses of `_init` or `_fini` if an address is in it.
    pub(super) fn start_code(&self, address: u64) -> Option<&Range<u64>> {
        self.start_code.iter().flatten().find(|range| range.contains(&address))
    }

    /// Returns true if an address without an entry is in the first function of the program.
    pub(super) fn is_entry_function(&self, address: u64) -> bool {
        self.entry_point.is_some_and(|start| address.wrapping_sub(start) < ENTRY_FUNCTION)
    }
}
