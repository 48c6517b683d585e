//! ELF files of a few symbols.

/// A symbol: its name, type and binding, and its address. Section 0 is undefined.
pub(super) struct Symbol {
    pub(super) name: &'static str,
    pub(super) kind: u8,
    pub(super) is_global: bool,
    pub(super) address: u64,
    pub(super) section: u16,
}

pub(super) const OBJECT: u8 = 1;
pub(super) const FUNCTION: u8 = 2;
pub(super) const INDIRECT: u8 = 10;

/// Returns a defined global function.
pub(super) const fn function(name: &'static str, address: u64) -> Symbol {
    Symbol { name, kind: FUNCTION, is_global: true, address, section: 1 }
}

/// The segment of the file: its virtual address, place in the file and length, all in bytes.
pub(super) const SEGMENT: (u64, u64, u64) = (0x40_1000, 0x2000, 0x500);

/// Returns a 64-bit little-endian shared library with one loaded segment and these symbols,
/// exported ones first.
pub(super) fn library(exported: &[Symbol], others: &[Symbol]) -> Vec<u8> {
    let (dynamic, dynamic_names) = table(exported);
    let (symbols, names) = table(others);
    let mut file = vec![0; 64]; // the file header comes last
    let segments = append(&mut file, &segment());
    let parts =
        [&dynamic, &dynamic_names, &symbols, &names].map(|part| (append(&mut file, part), part.len() as u64));
    let [dynamic, dynamic_names, symbols, names] = parts;
    let sections = [
        section(0, (0, 0), 0, 0),
        section(11, dynamic, 2, 24),     // SHT_DYNSYM, its names in section 2
        section(3, dynamic_names, 0, 0), // SHT_STRTAB
        section(2, symbols, 4, 24),      // SHT_SYMTAB, its names in section 4
        section(3, names, 0, 0),         // SHT_STRTAB, also the names of sections
    ];
    let section_headers = append(&mut file, &sections.concat());
    let mut header = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    header.extend([3, 0, 62, 0, 1, 0, 0, 0]); // e_type DYN, e_machine X86_64, e_version
    header.extend(0_u64.to_le_bytes()); // e_entry
    header.extend(segments.to_le_bytes()); // e_phoff
    header.extend(section_headers.to_le_bytes()); // e_shoff
    header.extend([0; 4]); // e_flags
    // e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx
    header.extend([64_u16, 56, 1, 64, 5, 4].map(u16::to_le_bytes).concat());
    file[..64].copy_from_slice(&header);
    file
}

/// Appends a part at the next multiple of 8 bytes and returns its offset.
fn append(file: &mut Vec<u8>, part: &[u8]) -> u64 {
    file.resize(file.len().next_multiple_of(8), 0);
    let offset = file.len() as u64;
    file.extend(part);
    offset
}

/// Returns the program header of the segment.
fn segment() -> Vec<u8> {
    let (address, offset, len) = SEGMENT;
    let mut header = vec![1, 0, 0, 0, 5, 0, 0, 0]; // p_type LOAD, p_flags
    // p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align
    header.extend([offset, address, address, len, len + 0x100, 0x1000].map(u64::to_le_bytes).concat());
    header
}

/// Returns a section header: its type, place and length in the file, link, and the size of an
/// entry.
fn section(kind: u32, (offset, len): (u64, u64), link: u32, entry: u64) -> Vec<u8> {
    let mut header = [0, kind].map(u32::to_le_bytes).concat(); // sh_name, sh_type
    header.extend([0, 0, offset, len].map(u64::to_le_bytes).concat()); // sh_flags, sh_addr, sh_offset, sh_size
    header.extend([link, 1].map(u32::to_le_bytes).concat()); // sh_link, sh_info
    header.extend([8, entry].map(u64::to_le_bytes).concat()); // sh_addralign, sh_entsize
    header
}

/// Returns a symbol table and its names.
fn table(list: &[Symbol]) -> (Vec<u8>, Vec<u8>) {
    let (mut symbols, mut names) = (vec![0; 24], vec![0]);
    for symbol in list {
        symbols.extend((names.len() as u32).to_le_bytes()); // st_name
        symbols.extend([u8::from(symbol.is_global) << 4 | symbol.kind, 0]); // st_info, st_other
        symbols.extend(symbol.section.to_le_bytes()); // st_shndx
        symbols.extend([symbol.address, 16].map(u64::to_le_bytes).concat()); // st_value, st_size
        names.extend(symbol.name.bytes().chain([0]));
    }
    (symbols, names)
}
