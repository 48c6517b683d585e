//! The unwind information of one file.

use std::fmt;
use std::sync::Arc;

use framehop::{ExplicitModuleSectionInfo, Module, Unwinder as _};
use gimli::{
    BaseAddresses, CallFrameInstruction, CieOrFde, DebugFrame, EhFrame, EhFrameHdr, EndianSlice,
    FrameDescriptionEntry, LittleEndian, Operation, UnwindExpression, UnwindSection,
};
use perf_abi::regs::Architecture;

use super::machine::{Bytes, Machine};
use crate::{ElfError, FoundFile, NotFound, ObjectFile, SectionBytes};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Instructions of one entry and its common part; compilers write some hundred.
const MAX_INSTRUCTIONS: usize = 1 << 14;
/// Operations of one expression; compilers write ten.
const MAX_OPERATIONS: usize = 256;
/// States that one entry keeps; compilers write one or two.
const MAX_STATES: usize = 64;
/// Addresses of one file that are known to have safe entries: one for this number of bytes of the section, within limits.
const BYTES_OF_ADDRESS: usize = 32;
const SAFE_ADDRESSES: std::ops::RangeInclusive<usize> = 61..=8191;

/// Why there is no unwind information for an address: returned by [`Unwinder::missing_info`](super::Unwinder::missing_info).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoUnwindInfo {
    /// No record names the process, or nothing executable is mapped at the address.
    Unmapped,
    /// The file of the mapping was not found. Code that a runtime writes has none.
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
    /// The file has no section `.eh_frame` or `.debug_frame` that is not compressed.
    NoSection,
    /// The sections are larger than [`Unwinder::with_max_bytes`](super::Unwinder::with_max_bytes).
    TooLarge {
        /// The most bytes of all files.
        limit: u64,
        /// The bytes of this file's section.
        found: u64,
    },
    /// No entry covers the address, such as code in assembly language.
    Uncovered,
    /// The entry of the address has instructions that no compiler writes, such as a loop.
    Unsafe,
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
            Self::Panicked => f.write_str("reading the section .eh_frame panicked"),
        }
    }
}

impl std::error::Error for NoUnwindInfo {}

/// The answer for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Safe,
    /// The code to which a signal handler returns, so that the kernel's copy of the registers is at the stack pointer.
    Signal,
    Missing,
    Unsafe,
}

/// The unwind information of a file, by addresses of its symbol table: all processes that map it share it.
pub(super) struct UnwindInfo<M: Machine> {
    /// Closed.
    pub(super) file: ObjectFile,
    /// Has one module: the file, at its own addresses.
    pub(super) unwinder: M::Unwinder,
    /// Bytes of sections.
    pub(super) len: u64,
    sections: Sections,
    /// By the remainder of the address; 0 is unused.
    safe: Box<[u64]>,
}

struct Sections {
    frames: Bytes,
    is_debug_frame: bool,
    /// The table that is searched by address. Without it, framehop makes one of all entries.
    header: Option<Bytes>,
    bases: BaseAddresses,
}

impl<M: Machine> UnwindInfo<M> {
    /// Reads the sections of a file, at most `limit` bytes.
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
        let sections = Sections { frames, is_debug_frame, header, bases };
        // framehop makes a table of all entries, which are read only once here.
        if sections.header.is_none() && !sections.are_all_safe() {
            return Err(NoUnwindInfo::Unsafe);
        }
        let mut unwinder = M::Unwinder::default();
        unwinder.add_module(sections.module(object));
        let len = [Some(&sections.frames), sections.header.as_ref()].into_iter().flatten();
        let len = len.map(|bytes| bytes.len() as u64).sum();
        let addresses = sections.frames.len() / BYTES_OF_ADDRESS;
        let safe = vec![0; addresses.clamp(*SAFE_ADDRESSES.start(), *SAFE_ADDRESSES.end())].into();
        Ok(Self { file: found.into_closed(), unwinder, len, sections, safe })
    }

    /// Finds the entry of an address of the symbol table, and checks that to execute it ends soon.
    pub(super) fn entry(&mut self, address: u64) -> Entry {
        let Some(header) = &self.sections.header else { return Entry::Safe };
        let slot =
            address.checked_rem(self.safe.len() as u64).and_then(|slot| self.safe.get_mut(slot as usize));
        if slot.as_ref().is_some_and(|safe| **safe == address && address != 0) {
            return Entry::Safe;
        }
        let entry = self.sections.entry(header, address);
        if let Some(slot) = slot.filter(|_| entry == Entry::Safe) {
            *slot = address;
        }
        entry
    }
}

impl Sections {
    /// Returns the file as framehop takes it: mapped at the addresses of its symbol table.
    fn module(&self, file: &ObjectFile) -> Module<Bytes> {
        let range = |name| file.section_addresses(name);
        // Addresses of a module have 32 bits. Files that are loaded higher begin with their code.
        let code = [".init", ".plt", ".text"].into_iter().filter_map(range).map(|range| range.start).min();
        let base = code.filter(|&code| code > u64::from(u32::MAX) / 2).unwrap_or(0);
        let (eh_frame, debug_frame) = if self.is_debug_frame {
            (None, Some(self.frames.clone()))
        } else {
            (Some(self.frames.clone()), None)
        };
        let sections = ExplicitModuleSectionInfo {
            base_svma: base,
            text_svma: range(".text"),
            got_svma: range(".got"),
            eh_frame_svma: range(".eh_frame"),
            eh_frame,
            eh_frame_hdr_svma: range(".eh_frame_hdr"),
            eh_frame_hdr: self.header.clone(),
            debug_frame,
            ..ExplicitModuleSectionInfo::default()
        };
        Module::new(String::new(), 0..u64::MAX, base, sections)
    }

    fn eh_frame(&self) -> EhFrame<Slice<'_>> {
        let mut section = EhFrame::new(&self.frames, LittleEndian);
        section.set_address_size(8);
        section
    }

    /// Finds an entry as framehop does, by the table.
    fn entry(&self, header: &[u8], address: u64) -> Entry {
        let section = self.eh_frame();
        let parsed = EhFrameHdr::new(header, LittleEndian).parse(&self.bases, 8);
        let Ok(Some(offset)) = parsed.as_ref().map(|header| {
            let table = header.table()?;
            let pointer = table.lookup(address, &self.bases).ok()?;
            // gimli subtracts one from the other.
            let is_inside = pointer.direct().ok()? >= header.eh_frame_ptr().direct().ok()?;
            if !is_inside {
                return None;
            }
            table.pointer_to_offset(pointer).ok()
        }) else {
            return Entry::Missing;
        };
        match section.fde_from_offset(&self.bases, offset, EhFrame::cie_from_offset) {
            Ok(entry) if !entry.contains(address) => Entry::Missing,
            Ok(entry) if !is_safe(&section, &self.bases, &entry) => Entry::Unsafe,
            Ok(entry) if entry.is_signal_trampoline() => Entry::Signal,
            Ok(_) => Entry::Safe,
            Err(_) => Entry::Missing,
        }
    }

    fn are_all_safe(&self) -> bool {
        if !self.is_debug_frame {
            return are_all_safe(&self.eh_frame(), &self.bases);
        }
        let mut section = DebugFrame::new(&self.frames, LittleEndian);
        section.set_address_size(8);
        are_all_safe(&section, &self.bases)
    }
}

/// Returns whether a header has a table, which some linkers leave out, and all of it.
fn has_table(header: &[u8], bases: &BaseAddresses) -> bool {
    let parsed = EhFrameHdr::new(header, LittleEndian).parse(bases, 8);
    let count = parsed.ok().and_then(|parsed| Some(parsed.table()?.iter(bases).size_hint().0));
    // An entry has two numbers of at least two bytes.
    count.is_some_and(|count| count <= header.len() / 4)
}

/// Returns whether all entries of a section end soon, up to a damaged one.
fn are_all_safe<'a, S>(section: &S, bases: &BaseAddresses) -> bool
where
    S: UnwindSection<Slice<'a>>,
{
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(entry) = entry else { continue };
        let Ok(entry) = entry.parse(S::cie_from_offset) else { return true };
        if !is_safe(section, bases, &entry) {
            return false;
        }
    }
    true
}

/// Returns whether to execute an entry ends soon and needs little memory. framehop executes it without a limit.
fn is_safe<'a, S>(section: &S, bases: &BaseAddresses, entry: &FrameDescriptionEntry<Slice<'a>>) -> bool
where
    S: UnwindSection<Slice<'a>>,
{
    let (mut count, mut states) = (0, 0);
    let encoding = entry.cie().encoding();
    // Compilers write no branch, which a loop needs. An evaluation ends at damaged bytes, as this does.
    let ends = |expression: UnwindExpression<usize>| {
        let Ok(expression) = expression.get(section) else { return true };
        let mut operations = expression.operations(encoding);
        let mut rest = MAX_OPERATIONS;
        while let Ok(Some(operation)) = operations.next() {
            if rest == 0 || matches!(operation, Operation::Bra { .. } | Operation::Skip { .. }) {
                return false;
            }
            rest -= 1;
        }
        true
    };
    for mut instructions in [entry.cie().instructions(section, bases), entry.instructions(section, bases)] {
        while let Ok(Some(instruction)) = instructions.next() {
            count += 1;
            let is_safe = match instruction {
                CallFrameInstruction::DefCfaExpression { expression }
                | CallFrameInstruction::Expression { expression, .. }
                | CallFrameInstruction::ValExpression { expression, .. } => ends(expression),
                CallFrameInstruction::RememberState => {
                    states += 1;
                    states <= MAX_STATES
                }
                _ => true,
            };
            if !is_safe || count > MAX_INSTRUCTIONS {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEF_CFA: u8 = 0x0c;
    const DEF_CFA_EXPRESSION: u8 = 0x0f;
    const REMEMBER_STATE: u8 = 0x0a;

    /// A section with a common part and one entry with these instructions.
    fn section(instructions: &[u8]) -> Sections {
        let mut frames = Vec::new();
        let mut put = |id: u32, body: &[u8]| {
            let body = [&id.to_le_bytes(), body].concat();
            frames.extend((body.len() as u32).to_le_bytes());
            frames.extend(body);
        };
        // Version 1, no augmentation, factors 1 and -8, return address in register 16; rsp + 8.
        put(0, &[1, 0, 1, 0x78, 16, DEF_CFA, 7, 8, 0x90, 1]);
        // The distance to the common part, the first address, and the number of bytes.
        let entry = [&0x1000_u64.to_le_bytes()[..], &0x100_u64.to_le_bytes(), instructions].concat();
        put(4 + 4 + 10 + 4, &entry);
        Sections {
            frames: frames.into(),
            is_debug_frame: false,
            header: None,
            bases: BaseAddresses::default(),
        }
    }

    /// A table of one entry for 0x1000 at `entry`, of a section at 0x2000, with numbers of 8 bytes.
    fn header(count: u32, entry: u64) -> Vec<u8> {
        let (section, address) = (0x2000_u64.to_le_bytes(), 0x1000_u64.to_le_bytes());
        [&[1, 4, 3, 4], &section[..], &count.to_le_bytes(), &address, &entry.to_le_bytes()].concat()
    }

    #[test]
    fn entry_is_found_by_the_table_unless_that_leads_out_of_the_section() {
        let sections = section(&[]);
        // After the common part.
        let first = 0x2000 + 4 + 4 + 10;
        for (entry, address, found) in [
            (first, 0x1000, Entry::Safe),
            (first, 0x10ff, Entry::Safe),
            (first, 0x1100, Entry::Missing),
            (0x1fff, 0x1000, Entry::Missing),
            (u64::MAX, 0x1000, Entry::Missing),
            (0x2000, 0x1000, Entry::Missing),
        ] {
            assert_eq!(sections.entry(&header(1, entry), address), found, "{entry:#x}, {address:#x}");
        }
        for (count, is_whole) in [(0, false), (1, true), (u32::MAX, false)] {
            assert_eq!(has_table(&header(count, first), &sections.bases), is_whole, "{count} entries");
        }
    }

    #[test]
    fn entry_with_a_loop_or_too_much_to_execute_is_refused() {
        let expression = |code: &[u8]| [&[DEF_CFA_EXPRESSION, code.len() as u8], code].concat();
        let [breg7, nop, skip, bra] = [0x77, 0x96, 0x2f, 0x28];
        for (instructions, is_safe) in [
            (vec![], true),
            (vec![DEF_CFA, 7, 16], true),
            (expression(&[breg7, 8, nop]), true),
            (expression(&[breg7, 8, skip, 0xfd, 0xff]), false),
            (expression(&[breg7, 8, bra, 0xfd, 0xff]), false),
            (vec![REMEMBER_STATE; MAX_STATES], true),
            (vec![REMEMBER_STATE; MAX_STATES + 1], false),
            (vec![0; MAX_INSTRUCTIONS - 2], true),
            (vec![0; MAX_INSTRUCTIONS + 1], false),
        ] {
            let section = section(&instructions);
            assert_eq!(section.are_all_safe(), is_safe, "{:x?}", instructions.get(..8));
        }
    }
}
