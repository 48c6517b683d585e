//! The unwind information of a file.

use std::fmt;
use std::sync::Arc;

use framehop::Unwinder as _;
use gimli::BaseAddresses;
use perf_abi::regs::Architecture;

use super::machine::Machine;
use super::sections::{Context, Entry, Sections, has_table};
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
    /// The file has neither `.eh_frame` nor an uncompressed `.debug_frame`.
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

impl fmt::Display for NoUnwindInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmapped => f.write_str("no record maps an executable file at the address"),
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
    /// Has one module: the file at its own addresses.
    pub(super) unwinder: M::Unwinder,
    /// Size of the sections in bytes.
    pub(super) len: u64,
    pub(super) sections: Sections,
    /// Direct-mapped cache of recent lookups, indexed by address modulo length; address 0 marks an
    /// empty slot.
    known: Box<[(u64, Entry)]>,
    /// Address of the entry point, where the program starts.
    entry_point: Option<u64>,
}

impl<M: Machine> UnwindInfo<M> {
    /// Reads up to `limit` bytes of sections of a file.
    pub(super) fn load(found: FoundFile, limit: u64) -> Result<Self, NoUnwindInfo> {
        let (expected, machine) = (M::ARCHITECTURE, Architecture(found.object().machine()));
        if machine != expected {
            return Err(NoUnwindInfo::Machine { expected, found: machine });
        }
        let read = |file: &ObjectFile, name: &str| -> Result<Option<SectionBytes>, NoUnwindInfo> {
            let len = file.section_addresses(name).map_or(0, |range| range.end - range.start);
            if len > limit {
                return Err(NoUnwindInfo::TooLarge { limit, found: len });
            }
            file.section(name).map_err(NoUnwindInfo::Elf)
        };
        let object = found.object();
        let start = |name| object.section_addresses(name).map_or(0, |range| range.start);
        let mut bases = BaseAddresses::default().set_text(start(".text")).set_got(start(".got"));
        let mut header = None;
        let (frames, is_debug_frame) = if let Some(frames) = read(object, ".eh_frame")? {
            bases = bases.set_eh_frame(frames.addresses.start);
            if let Some(found) = read(object, ".eh_frame_hdr")? {
                bases = bases.set_eh_frame_hdr(found.addresses.start);
                header = has_table(&found.bytes, &bases).then_some(found.bytes);
            }
            (frames.bytes, false)
        } else {
            let mut files = [Some(object), found.debug_file()].into_iter().flatten();
            let section = files.find_map(|file| read(file, ".debug_frame").transpose()).transpose()?;
            (section.ok_or(NoUnwindInfo::NoSection)?.bytes, true)
        };
        let mut sections = Sections { frames, is_debug_frame, header, index: [].into(), bases };
        // Without a header, framehop builds its own index and evaluates the entry before an
        // uncovered address, so that every entry must be safe.
        if sections.header.is_none() {
            sections.index = sections.make_index().ok_or(NoUnwindInfo::Unsafe)?;
        }
        let mut unwinder = M::Unwinder::default();
        unwinder.add_module(sections.module(object));
        let len = [Some(&sections.frames), sections.header.as_ref()].into_iter().flatten();
        let len = len.map(|bytes| bytes.len() as u64).sum();
        let addresses = sections.frames.len() / BYTES_OF_ADDRESS;
        let addresses = addresses.clamp(*KNOWN_ADDRESSES.start(), *KNOWN_ADDRESSES.end());
        let known = vec![(0, Entry::Missing); addresses].into();
        let entry_point = object.entry_point();
        Ok(Self { file: found.into_closed(), unwinder, len, sections, known, entry_point })
    }

    /// Finds the entry for a symbol table address, and checks that evaluating it is cheap.
    pub(super) fn entry(&mut self, address: u64, context: &mut Context) -> Entry {
        let slot = address.checked_rem(self.known.len() as u64);
        let slot = slot.and_then(|slot| self.known.get_mut(slot as usize));
        if let Some((_, entry)) = slot.as_ref().filter(|(known, _)| *known == address && address != 0) {
            return *entry;
        }
        let entry = self.sections.entry::<M>(address, context);
        if let Some(slot) = slot {
            *slot = (address, entry);
        }
        entry
    }

    /// Returns true if an entry starts at this address.
    pub(super) fn is_start(&self, address: u64) -> bool {
        self.sections.range(address).is_some_and(|range| range.start == address)
    }

    /// Returns true if an address without an entry is in the first function of the program.
    pub(super) fn is_entry_function(&self, address: u64) -> bool {
        self.entry_point.is_some_and(|start| address.wrapping_sub(start) < ENTRY_FUNCTION)
    }
}
