//! Finds and classifies the entry of an unwind section for an address.

use std::ops::Range;

use framehop::{ExplicitModuleSectionInfo, Module};
use gimli::{
    BaseAddresses, CallFrameInstruction, CfaRule, CieOrFde, DebugFrame, EhFrame, EhFrameHdr, EndianSlice,
    FrameDescriptionEntry, LittleEndian, Operation, RegisterRule, UnwindContext, UnwindExpression,
    UnwindSection, UnwindTableRow,
};

use super::machine::{Bytes, Machine};
use super::registers::FrameRegisters;
use super::rules::Rules;
use crate::ObjectFile;

pub(super) type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Maximum number of instructions in an entry with its CIE. Compilers write some hundred.
const MAX_INSTRUCTIONS: usize = 1 << 14;
/// Maximum number of operations in an expression. Compilers write ten.
pub(super) const MAX_OPERATIONS: usize = 256;
/// Maximum number of states that an entry remembers at a time. Compilers write one or two.
const MAX_STATES: usize = 64;

/// How to unwind at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The entry leads to the caller.
    Caller {
        /// True if the frame pointer points to this frame, so that the kernel finds the caller,
        /// too; `None` if unknown.
        by_frame_pointer: Option<bool>,
    },
    /// The function starts a program or a thread, so that it has no caller.
    Outermost,
    /// The return trampoline of signal handlers: the kernel saved the interrupted registers at the
    /// stack pointer.
    Signal,
    /// The entry needs other registers than framehop follows, or memory: framehop would silently
    /// use the frame pointer instead.
    General,
    Missing,
    Unsafe,
}

pub(super) struct Sections {
    pub(super) frames: Bytes,
    pub(super) is_debug_frame: bool,
    /// The binary search table of `.eh_frame_hdr`.
    pub(super) header: Option<Bytes>,
    /// Replaces a missing header: the range and offset of each entry, ordered by address.
    /// framehop's own index would return the previous entry for an address that no entry covers.
    pub(super) index: Box<[IndexEntry]>,
    pub(super) bases: BaseAddresses,
}

pub(super) struct IndexEntry {
    start: u64,
    /// End address, exclusive.
    end: u64,
    offset: usize,
}

/// Reused, because it has tables of some KB.
pub(super) type Context = UnwindContext<usize>;

impl Sections {
    /// Returns the `.eh_frame` at an address for code at another. Returns `None` if evaluating an
    /// entry could be expensive.
    #[cfg(feature = "names")]
    pub(super) fn of_runtime(frames: Bytes, at: u64, code: u64) -> Option<Self> {
        let bases = BaseAddresses::default().set_eh_frame(at).set_text(code);
        let mut sections = Self { frames, is_debug_frame: false, header: None, index: [].into(), bases };
        sections.index = sections.make_index()?;
        Some(sections)
    }

    /// Returns the file as a module of framehop, mapped at its symbol table addresses.
    pub(super) fn module(&self, file: &ObjectFile) -> Module<Bytes> {
        let range = |name| file.section_addresses(name);
        // Addresses in a module have 32 bits. Use the code as base for files that are linked
        // higher.
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

    fn debug_frame(&self) -> DebugFrame<Slice<'_>> {
        let mut section = DebugFrame::new(&self.frames, LittleEndian);
        section.set_address_size(8);
        section
    }

    /// Returns the offset of the entry that may cover an address.
    fn offset(&self, address: u64) -> Option<usize> {
        let Some(header) = &self.header else {
            let index = self.index.partition_point(|entry| entry.start <= address).checked_sub(1)?;
            return self.index.get(index).filter(|entry| address < entry.end).map(|entry| entry.offset);
        };
        let header = EhFrameHdr::new(header, LittleEndian).parse(&self.bases, 8).ok()?;
        let table = header.table()?;
        let pointer = table.lookup(address, &self.bases).ok()?;
        // Check first, because gimli subtracts them without an overflow check.
        let is_inside = pointer.direct().ok()? >= header.eh_frame_ptr().direct().ok()?;
        is_inside.then(|| table.pointer_to_offset(pointer).ok()).flatten().map(|offset| offset.0)
    }

    pub(super) fn entry<M: Machine>(&self, address: u64, context: &mut Context) -> Entry {
        if self.is_debug_frame {
            self.entry_in::<M, _>(&self.debug_frame(), address, context)
        } else {
            self.entry_in::<M, _>(&self.eh_frame(), address, context)
        }
    }

    fn entry_in<'a, M, S>(&self, section: &S, address: u64, context: &mut Context) -> Entry
    where
        M: Machine,
        S: UnwindSection<Slice<'a>>,
    {
        let Some(entry) = self.description(section, address) else { return Entry::Missing };
        if !is_safe(section, &self.bases, &entry) {
            return Entry::Unsafe;
        }
        if entry.is_signal_trampoline() {
            return Entry::Signal;
        }
        match entry.unwind_info_for_address(section, &self.bases, context, address) {
            Ok(row) => entry_of::<M, _>(section, &entry, row, self.is_debug_frame),
            Err(_) => Entry::Unsafe,
        }
    }

    /// Returns the registers of the caller of a frame at an address of the file: see
    /// [`Rules::caller`], or with a known `cfa`, [`Rules::restored`]. `base` is the distance to
    /// addresses of the process.
    pub(super) fn caller<M: Machine>(
        &self,
        (address, base): (u64, u64),
        context: &mut Context,
        frame: &FrameRegisters,
        cfa: Option<u64>,
        read: &mut impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<FrameRegisters> {
        fn caller<'a, M: Machine, S: UnwindSection<Slice<'a>>>(
            sections: &Sections,
            section: &S,
            (address, base): (u64, u64),
            context: &mut Context,
            frame: &FrameRegisters,
            cfa: Option<u64>,
            read: &mut impl FnMut(u64) -> Result<u64, ()>,
        ) -> Option<FrameRegisters> {
            let entry = sections.description(section, address)?;
            let row = entry.unwind_info_for_address(section, &sections.bases, context, address).ok()?;
            let rules = Rules { section, row, encoding: entry.cie().encoding(), base };
            match cfa {
                Some(cfa) => Some(rules.restored::<M>(frame, cfa, read)),
                None => rules.caller::<M>(frame, read),
            }
        }
        let place = (address, base);
        if self.is_debug_frame {
            caller::<M, _>(self, &self.debug_frame(), place, context, frame, cfa, read)
        } else {
            caller::<M, _>(self, &self.eh_frame(), place, context, frame, cfa, read)
        }
    }

    /// Returns the range of the entry that covers an address.
    pub(super) fn range(&self, address: u64) -> Option<Range<u64>> {
        fn range<'a, S: UnwindSection<Slice<'a>>>(
            sections: &Sections,
            section: &S,
            address: u64,
        ) -> Option<Range<u64>> {
            let entry = sections.description(section, address)?;
            Some(entry.initial_address()..entry.end_address())
        }
        if self.is_debug_frame {
            range(self, &self.debug_frame(), address)
        } else {
            range(self, &self.eh_frame(), address)
        }
    }

    fn description<'a, S>(&self, section: &S, address: u64) -> Option<FrameDescriptionEntry<Slice<'a>>>
    where
        S: UnwindSection<Slice<'a>>,
    {
        let offset = S::Offset::from(self.offset(address)?);
        let entry = section.fde_from_offset(&self.bases, offset, S::cie_from_offset).ok()?;
        entry.contains(address).then_some(entry)
    }

    /// Builds an index of all entries before the first damaged one. Returns `None` if an entry is
    /// not safe.
    pub(super) fn make_index(&self) -> Option<Box<[IndexEntry]>> {
        if self.is_debug_frame {
            make_index(&self.debug_frame(), &self.bases)
        } else {
            make_index(&self.eh_frame(), &self.bases)
        }
    }
}

/// Classifies the row of the unwind table that an entry has for an address.
fn entry_of<'a, M, S>(
    section: &S,
    entry: &FrameDescriptionEntry<Slice<'a>>,
    row: &UnwindTableRow<usize>,
    is_debug_frame: bool,
) -> Entry
where
    M: Machine,
    S: UnwindSection<Slice<'a>>,
{
    let return_address = row.register(M::RETURN_ADDRESS);
    if M::is_outermost(return_address.as_ref()) {
        return Entry::Outermost;
    }
    let encoding = entry.cie().encoding();
    // framehop reads the stack for the rule itself but not inside expressions.
    let is_followed_by = |expression: UnwindExpression<usize>| {
        let Ok(expression) = expression.get(section) else { return false };
        let mut operations = expression.operations(encoding);
        while let Ok(Some(operation)) = operations.next() {
            match operation {
                Operation::Register { register } | Operation::RegisterOffset { register, .. }
                    if M::is_followed(register) => {}
                Operation::Register { .. }
                | Operation::RegisterOffset { .. }
                | Operation::Deref { .. }
                | Operation::CallFrameCFA => return false,
                _ => {}
            }
        }
        true
    };
    let is_rule_followed = |rule: Option<RegisterRule<usize>>| match rule {
        Some(RegisterRule::Register(register)) => M::is_followed(register),
        // framehop does not put the CFA on the stack of these expressions.
        Some(RegisterRule::Expression(_) | RegisterRule::ValExpression(_)) => false,
        _ => true,
    };
    let (is_cfa_followed, cfa_register) = match *row.cfa() {
        CfaRule::RegisterAndOffset { register, .. } => (M::is_followed(register), Some(register)),
        CfaRule::Expression(expression) => (is_followed_by(expression), None),
    };
    let frame_pointer = row.register(M::FRAME_POINTER);
    // Compilers that write only `.debug_frame`, such as Go's, always use the stack pointer in their
    // rules.
    let is_told = !is_debug_frame && return_address != Some(RegisterRule::Undefined);
    let cfa_register = cfa_register.filter(|_| is_told);
    let by_frame_pointer = cfa_register.and_then(|cfa| M::has_frame_pointer(cfa, frame_pointer.as_ref()));
    if is_cfa_followed && is_rule_followed(return_address) && is_rule_followed(frame_pointer) {
        Entry::Caller { by_frame_pointer }
    } else {
        Entry::General
    }
}

/// Returns true if a header has a complete table. Some linkers leave it out.
pub(super) fn has_table(header: &[u8], bases: &BaseAddresses) -> bool {
    let parsed = EhFrameHdr::new(header, LittleEndian).parse(bases, 8);
    let count = parsed.ok().and_then(|parsed| Some(parsed.table()?.iter(bases).size_hint().0));
    // An entry has two numbers of at least two bytes each.
    count.is_some_and(|count| count <= header.len() / 4)
}

/// Returns all entries of a section by address, up to a damaged one. Returns `None` if evaluating
/// an entry could be expensive.
fn make_index<'a, S>(section: &S, bases: &BaseAddresses) -> Option<Box<[IndexEntry]>>
where
    S: UnwindSection<Slice<'a>>,
{
    let (mut index, mut entries) = (Vec::new(), section.entries(bases));
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(entry) = entry else { continue };
        let Ok(entry) = entry.parse(S::cie_from_offset) else { break };
        if !is_safe(section, bases, &entry) {
            return None;
        }
        let (start, end) = (entry.initial_address(), entry.end_address());
        index.push(IndexEntry { start, end, offset: entry.offset() });
    }
    index.sort_by_key(|entry| entry.start);
    Some(index.into())
}

/// Returns true if evaluating an entry is cheap in time and memory. framehop evaluates it without
/// limits.
fn is_safe<'a, S>(section: &S, bases: &BaseAddresses, entry: &FrameDescriptionEntry<Slice<'a>>) -> bool
where
    S: UnwindSection<Slice<'a>>,
{
    let (mut count, mut states) = (0, 0_usize);
    let encoding = entry.cie().encoding();
    // Loops need branches, which compilers do not write. Evaluation stops at damaged bytes, and so
    // does this check.
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
                // Large functions remember and restore a state around each of some hundred returns.
                CallFrameInstruction::RestoreState => {
                    states = states.saturating_sub(1);
                    true
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
pub(super) mod tests {
    use super::*;
    use crate::stack::machine::X86_64;

    pub(in crate::stack) const DEF_CFA: u8 = 0x0c;
    pub(in crate::stack) const DEF_CFA_EXPRESSION: u8 = 0x0f;
    pub(in crate::stack) const EXPRESSION: u8 = 0x10;
    pub(in crate::stack) const REGISTER: u8 = 0x09;
    const REMEMBER_STATE: u8 = 0x0a;
    const RESTORE_STATE: u8 = 0x0b;
    pub(in crate::stack) const UNDEFINED: u8 = 0x07;
    pub(in crate::stack) const OFFSET: u8 = 0x80;
    /// DWARF register numbers of x86-64.
    const RAX: u8 = 0;
    const RBP: u8 = 6;
    const RSP: u8 = 7;
    const R10: u8 = 10;
    const RA: u8 = 16;

    /// A section with a CIE and one FDE per list of instructions. Each covers 0x100 bytes, starting
    /// at 0x1000, with gaps of the same size.
    pub(in crate::stack) fn section(entries: &[&[u8]]) -> Sections {
        let mut frames = Vec::new();
        let mut put = |id: u32, body: &[u8]| {
            let body = [&id.to_le_bytes(), body].concat();
            frames.extend((body.len() as u32).to_le_bytes());
            frames.extend(body);
        };
        // Version 1, no augmentation, factors 1 and -8, return address in register 16; CFA is rsp +
        // 8.
        put(0, &[1, 0, 1, 0x78, RA, DEF_CFA, RSP, 8, OFFSET | RA, 1]);
        let mut distance = 4 + 4 + 10 + 4;
        for (start, instructions) in (0x1000_u64..).step_by(0x200).zip(entries) {
            // The distance to the CIE, the first address, and the length.
            let entry = [&start.to_le_bytes()[..], &0x100_u64.to_le_bytes(), instructions].concat();
            put(distance, &entry);
            distance += 8 + entry.len() as u32;
        }
        Sections {
            frames: frames.into(),
            is_debug_frame: false,
            header: None,
            index: [].into(),
            bases: BaseAddresses::default(),
        }
    }

    /// A table with one entry for 0x1000 at `entry`, for a section at 0x2000, with 8-byte numbers.
    fn header(count: u32, entry: u64) -> Bytes {
        let (section, address) = (0x2000_u64.to_le_bytes(), 0x1000_u64.to_le_bytes());
        let table = [&count.to_le_bytes()[..], &address, &entry.to_le_bytes()].concat();
        [&[1, 4, 3, 4], &section[..], &table].concat().into()
    }

    const BY_STACK_POINTER: Entry = Entry::Caller { by_frame_pointer: Some(false) };

    #[test]
    fn entry_is_found_by_the_table_unless_that_leads_out_of_the_section() {
        let mut sections = section(&[&[]]);
        // The entry after the CIE.
        let first = 0x2000 + 4 + 4 + 10;
        for (entry, address, found) in [
            (first, 0x1000, BY_STACK_POINTER),
            (first, 0x10ff, BY_STACK_POINTER),
            (first, 0x1100, Entry::Missing),
            (0x1fff, 0x1000, Entry::Missing),
            (u64::MAX, 0x1000, Entry::Missing),
            (0x2000, 0x1000, Entry::Missing),
        ] {
            sections.header = Some(header(1, entry));
            let entry = sections.entry::<X86_64>(address, &mut Context::new());
            assert_eq!(entry, found, "{entry:?}, {address:#x}");
        }
        for (count, is_whole) in [(0, false), (1, true), (u32::MAX, false)] {
            assert_eq!(has_table(&header(count, first), &sections.bases), is_whole, "{count} entries");
        }
    }

    #[test]
    fn entry_is_found_without_a_table() {
        let mut sections = section(&[&[], &[DEF_CFA, RBP, 16], &[UNDEFINED, RA]]);
        sections.index = sections.make_index().expect("safe entries");
        for (address, found) in [
            (0xfff, Entry::Missing),
            (0x1000, BY_STACK_POINTER),
            (0x10ff, BY_STACK_POINTER),
            (0x1100, Entry::Missing),
            (0x11ff, Entry::Missing),
            (0x1200, Entry::Caller { by_frame_pointer: Some(true) }),
            (0x14ff, Entry::Outermost),
            (0x1500, Entry::Missing),
            (u64::MAX, Entry::Missing),
        ] {
            assert_eq!(sections.entry::<X86_64>(address, &mut Context::new()), found, "{address:#x}");
        }
        let starts = [0x1000, 0x1200, 0x1400];
        for address in 0xfff..0x1600 {
            let start = sections.range(address).map(|range| range.start);
            assert_eq!(start == Some(address), starts.contains(&address), "{address:#x}");
        }
    }

    #[test]
    fn entry_by_other_registers_or_memory_needs_all_registers() {
        let cfa = |code: &[u8]| [&[DEF_CFA_EXPRESSION, code.len() as u8], code].concat();
        let rule = |register: u8, code: &[u8]| [&[EXPRESSION, register, code.len() as u8], code].concat();
        let [deref, literal, and, plus, breg] = [0x06, 0x35, 0x1a, 0x22, 0x70];
        let by_expression = Entry::Caller { by_frame_pointer: None };
        for (name, instructions, found) in [
            ("another register", vec![DEF_CFA, RAX, 8], Entry::General),
            ("another register", vec![DEF_CFA, R10, 0], Entry::General),
            // The rule of the procedure linkage table.
            ("an expression", cfa(&[breg | RSP, 8, breg | RSP, 0, literal, and, plus]), by_expression),
            ("an expression of memory", cfa(&[breg | RBP, 0x78, deref]), Entry::General),
            ("an expression of another register", cfa(&[breg | R10, 8]), Entry::General),
            ("a return address in a register", vec![REGISTER, RA, 5], Entry::General),
            ("a frame pointer in a register", vec![REGISTER, RBP, 11], Entry::General),
            ("a frame pointer by an expression", rule(RBP, &[breg | RSP, 8]), Entry::General),
            ("a frame pointer by memory", rule(RBP, &[breg | RSP, 8, deref]), Entry::General),
            ("no return address", vec![DEF_CFA, RAX, 8, UNDEFINED, RA], Entry::Outermost),
        ] {
            let mut sections = section(&[&instructions]);
            sections.index = sections.make_index().expect("a safe entry");
            assert_eq!(sections.entry::<X86_64>(0x1000, &mut Context::new()), found, "{name}");
        }
    }

    #[test]
    fn frame_pointer_is_unknown_in_code_with_debug_frame_alone() {
        let row = |instructions: &[u8]| {
            let mut sections = section(&[instructions]);
            sections.index = sections.make_index().expect("a safe entry");
            let (frames, mut context) = (sections.eh_frame(), Context::new());
            let entry = sections.description(&frames, 0x1000).expect("an entry");
            let row = entry.unwind_info_for_address(&frames, &sections.bases, &mut context, 0x1000);
            entry_of::<X86_64, _>(&frames, &entry, row.expect("a row"), true)
        };
        assert_eq!(row(&[DEF_CFA, RSP, 16]), Entry::Caller { by_frame_pointer: None });
    }

    #[test]
    fn entry_with_a_loop_or_too_much_to_execute_is_refused() {
        let expression = |code: &[u8]| [&[DEF_CFA_EXPRESSION, code.len() as u8], code].concat();
        let [breg7, nop, skip, bra] = [0x77, 0x96, 0x2f, 0x28];
        for (instructions, is_safe) in [
            (vec![], true),
            (vec![DEF_CFA, RSP, 16], true),
            (expression(&[breg7, 8, nop]), true),
            (expression(&[breg7, 8, skip, 0xfd, 0xff]), false),
            (expression(&[breg7, 8, bra, 0xfd, 0xff]), false),
            (vec![REMEMBER_STATE; MAX_STATES], true),
            (vec![REMEMBER_STATE; MAX_STATES + 1], false),
            ([REMEMBER_STATE, RESTORE_STATE].repeat(2 * MAX_STATES), true),
            (vec![0; MAX_INSTRUCTIONS - 2], true),
            (vec![0; MAX_INSTRUCTIONS + 1], false),
        ] {
            let index = section(&[&instructions]).make_index();
            assert_eq!(index.is_some(), is_safe, "{:x?}", instructions.get(..8));
        }
    }
}
