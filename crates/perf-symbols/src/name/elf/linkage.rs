//! The stubs of the procedure linkage table, through which a file calls functions of libraries.
//!
//! Linkers give them no symbols. A stub jumps to the address in a slot of the global offset table.
//! The relocation of that slot has the name of the function.

use std::collections::HashMap;

use crate::file::ObjectFile;

/// Maximum size of a section with stubs in bytes. Browsers have some 100 KB.
const MAX_STUBS: u64 = 16 << 20;
/// Maximum size of a section with relocations in bytes. Browsers have some 20 MB.
const MAX_RELOCATIONS: u64 = 1 << 30;
/// Maximum length of a symbol's name in bytes.
const MAX_NAME: u64 = 1 << 16;
/// Number of relocations that are read at a time.
const PIECE: usize = 2048;
/// Size of a relocation and of a symbol in bytes.
const ENTRY: usize = 24;

/// Returns true for a section of stubs.
pub(super) fn is_linkage_table(section: &[u8]) -> bool {
    matches!(section, b".plt" | b".iplt") || section.starts_with(b".plt.")
}

/// The stubs of a file, sorted by address.
pub(super) struct LinkageTable {
    stubs: Box<[Stub]>,
    targets: HashMap<Slot, Option<Target>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stub {
    start: u64,
    /// Exclusive.
    end: u64,
    slot: Slot,
}

/// How a stub refers to the relocation of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Slot {
    /// By the address in the global offset table that it jumps through.
    Address(u64),
    /// By the index in `.rela.plt` that it pushes for the dynamic linker.
    Index(u64),
}

/// The function that a stub calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The index of its symbol in `.dynsym`.
    Symbol(u32),
    /// The address of a function of this file that chooses it (`STT_GNU_IFUNC`).
    Chooser(u64),
}

/// Decodes the stub at the start of code with this address. Returns its slot, and the length in
/// bytes of its instructions up to the jump.
type Decode = fn(&[u8], u64) -> Option<(Slot, usize)>;

impl LinkageTable {
    /// Reads the stubs of a file; none for a machine whose stubs are unknown.
    pub(super) fn read(file: &ObjectFile) -> Self {
        let mut stubs = Vec::new();
        let decode: Decode = match file.machine() {
            X86_64 if file.is_64() => x86_64,
            ARM64 if file.is_little_endian() => arm64,
            _ => return Self { stubs: Box::default(), targets: HashMap::new() },
        };
        for (addresses, bytes) in file.sections_bytes(is_linkage_table, MAX_STUBS) {
            add_stubs(&mut stubs, addresses.start, &bytes, decode);
        }
        stubs.sort_unstable_by_key(|stub: &Stub| stub.start);
        let mut targets: HashMap<_, _> = stubs.iter().map(|stub| (stub.slot, None)).collect();
        for section in [".rela.plt", ".rela.dyn"] {
            let mut index = 0;
            let add = |piece: &[u8]| {
                for relocation in piece.chunks_exact(ENTRY) {
                    let by_index = (section == ".rela.plt").then_some(Slot::Index(index));
                    index += 1;
                    let Some((slot, target)) = relocation_of(relocation) else { continue };
                    for slot in by_index.into_iter().chain([slot]) {
                        if let Some(known) = targets.get_mut(&slot) {
                            *known = known.or(Some(target));
                        }
                    }
                }
            };
            if file.section_addresses(section).is_some_and(|range| range.end - range.start <= MAX_RELOCATIONS)
            {
                // Stubs whose relocation cannot be read stay nameless.
                let _ = file.read_pieces(section, PIECE * ENTRY, add);
            }
        }
        Self { stubs: stubs.into(), targets }
    }

    /// Returns the first address of the stub at an address, and what it calls.
    pub(super) fn find(&self, address: u64) -> Option<(u64, Target)> {
        let index = self.stubs.partition_point(|stub| stub.start <= address).checked_sub(1)?;
        let stub = self.stubs.get(index).filter(|stub| address < stub.end)?;
        Some((stub.start, (*self.targets.get(&stub.slot)?)?))
    }
}

/// Returns the name of a symbol in `.dynsym`.
pub(super) fn symbol_name(file: &ObjectFile, symbol: u32) -> Option<String> {
    let entry = file.bytes_at::<4>(".dynsym", u64::from(symbol) * ENTRY as u64)?;
    let name = file.string_at(".dynstr", u32::from_le_bytes(entry).into(), MAX_NAME)?;
    (!name.is_empty()).then(|| String::from_utf8_lossy(&name).into_owned())
}

/// `e_machine`.
const X86_64: u16 = 62;
const ARM64: u16 = 183;

/// Returns the slot and the function of a relocation of the global offset table.
fn relocation_of(bytes: &[u8]) -> Option<(Slot, Target)> {
    let word = |at: usize| bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let (offset, info, addend) = (word(0)?, word(8)?, word(16)?);
    let target = match info as u32 {
        // R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT.
        6 | 7 | 1025 | 1026 if info >> 32 != 0 => Target::Symbol((info >> 32) as u32),
        // R_X86_64_IRELATIVE, R_AARCH64_IRELATIVE.
        37 | 1032 => Target::Chooser(addend),
        _ => return None,
    };
    Some((Slot::Address(offset), target))
}

/// The alignment of stubs in bytes, and the size of the largest.
const ALIGNMENT: usize = 4;
const LARGEST: u64 = 24;

/// Adds the stubs in a section. A stub ends where the next one begins.
fn add_stubs(stubs: &mut Vec<Stub>, address: u64, bytes: &[u8], decode: Decode) {
    let first = stubs.len();
    let mut at = 0;
    while let Some(code) = bytes.get(at..).filter(|code| !code.is_empty()) {
        let start = address.saturating_add(at as u64);
        let Some((slot, len)) = decode(code, start) else {
            at += ALIGNMENT;
            continue;
        };
        let end = start.saturating_add(LARGEST.min(code.len() as u64));
        if let Some(previous) = stubs.get_mut(first..).and_then(<[Stub]>::last_mut) {
            previous.end = previous.end.min(start);
        }
        stubs.push(Stub { start, end, slot });
        at += len.next_multiple_of(ALIGNMENT);
    }
}

/// The [`Decode`] of x86-64.
fn x86_64(code: &[u8], address: u64) -> Option<(Slot, usize)> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    // Stubs of 8 bytes are the smallest.
    if address % 8 != 0 {
        return None;
    }
    let number = |code: &[u8]| code.first_chunk().map(|bytes| i32::from_le_bytes(*bytes));
    let rest = code.strip_prefix(&ENDBR64).unwrap_or(code);
    // Before the lazy jump to the dynamic linker: push the index, then jmp or bnd jmp.
    if let [0x68, number @ .., 0xe9 | 0xf2] = rest.get(..6)? {
        let index = number.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
        return Some((Slot::Index(index.into()), code.len() - rest.len() + 10));
    }
    // The linker mold loads the index into r11.
    let rest = rest.strip_prefix(&[0x41, 0xbb]).and_then(|rest| rest.get(4..)).unwrap_or(rest);
    // bnd, of programs for MPX.
    let rest = rest.strip_prefix(&[0xf2]).unwrap_or(rest);
    // jmp *offset(%rip)
    let offset = number(rest.strip_prefix(&[0xff, 0x25])?)?;
    let len = code.len() - rest.len() + 6;
    let next = address.wrapping_add(len as u64);
    Some((Slot::Address(next.wrapping_add_signed(offset.into())), len))
}

/// The [`Decode`] of arm64: `adrp x16, page; ldr x17, [x16, #offset]`.
fn arm64(code: &[u8], address: u64) -> Option<(Slot, usize)> {
    const BTI_C: u32 = 0xd503_245f;
    let word = |index: usize| {
        let bytes = code.get(index * 4..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let first = usize::from(word(0)? == BTI_C);
    let (adrp, ldr) = (word(first)?, word(first + 1)?);
    if adrp & 0x9f00_001f != 0x9000_0010 || ldr & 0xffc0_03ff != 0xf940_0211 {
        return None;
    }
    // A signed number of 21 bits, in pages of 4 KiB. Its lowest two bits are apart.
    let bits = i64::from((adrp >> 5 & 0x7_ffff) << 2 | adrp >> 29 & 3);
    let pages = if bits < 1 << 20 { bits } else { bits - (1 << 21) };
    let page = (address.wrapping_add(first as u64 * 4) & !0xfff).wrapping_add_signed(pages << 12);
    let offset = u64::from(ldr >> 10 & 0xfff) * 8;
    Some((Slot::Address(page.wrapping_add(offset)), (first + 2) * 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_of_each_linker_lead_to_their_slots() {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let endbr = [0xf3, 0x0f, 0x1e, 0xfa];
        let jump = [0xff, 0x25, 0xca, 0x2f, 0, 0];
        let push = [0x68, 3, 0, 0, 0];
        let cases: [(Decode, Vec<u8>, Slot); 8] = [
            (x86_64, jump.to_vec(), Slot::Address(0x4000)),
            (x86_64, [&endbr[..], &jump].concat(), Slot::Address(0x4004)),
            (x86_64, [&endbr[..], &[0xf2], &jump].concat(), Slot::Address(0x4005)),
            (x86_64, [&endbr[..], &[0x41, 0xbb, 3, 0, 0, 0], &jump].concat(), Slot::Address(0x400a)),
            (x86_64, [&endbr[..], &push, &[0xe9, 0, 0, 0, 0]].concat(), Slot::Index(3)),
            (x86_64, [&push[..], &[0xf2, 0xe9, 0, 0, 0, 0]].concat(), Slot::Index(3)),
            (arm64, words(&[0x9000_0110, 0xf940_0a11]), Slot::Address(0x2_1010)),
            (arm64, words(&[0xd503_245f, 0xf0ff_fff0, 0xf947_fe11]), Slot::Address(0xff8)),
        ];
        for (decode, code, slot) in cases {
            assert_eq!(decode(&code, 0x1030).map(|(slot, _)| slot), Some(slot), "{code:x?}");
            for len in 0..code.len() {
                let _ = decode(&code[..len], 0x1030);
            }
        }
        // The head of the table, which pushes an address, has no slot of a function.
        let head = [0xff, 0x35, 0xca, 0x2f, 0, 0, 0xff, 0x25, 0xcc, 0x2f, 0, 0, 0x0f, 0x1f, 0x40, 0];
        let mut stubs = Vec::new();
        add_stubs(&mut stubs, 0x1020, &head, x86_64);
        assert_eq!(stubs, []);
        let two = [&head[..], &jump, &[0x66, 0x90], &jump, &[0x66, 0x90]].concat();
        add_stubs(&mut stubs, 0x1020, &two, x86_64);
        let stub = |start, end, slot| Stub { start, end, slot: Slot::Address(slot) };
        assert_eq!(stubs, [stub(0x1030, 0x1038, 0x4000), stub(0x1038, 0x1040, 0x4008)]);
    }
}
