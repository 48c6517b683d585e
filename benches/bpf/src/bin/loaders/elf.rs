//! An object file as a BPF compiler writes it, with one program.

use perf_bpf::sys::abi::bpf::BpfInsn;

/// `SHT_PROGBITS`, `SHT_SYMTAB`, `SHT_STRTAB`.
const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;
/// `SHF_ALLOC | SHF_EXECINSTR`.
const CODE: u64 = 6;
/// `STB_GLOBAL << 4 | STT_FUNC`.
const GLOBAL_FUNCTION: u8 = 0x12;
/// `ET_REL` and `EM_BPF`.
const RELOCATABLE: u16 = 1;
const BPF: u16 = 247;

/// Length of the ELF header and of a section header, in bytes.
const HEADER: u64 = 64;

struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    /// The section of the names and the number of local symbols, for symbols.
    link: u32,
    info: u32,
    entry_size: u64,
    data: Vec<u8>,
}

impl Section {
    fn new(name: &'static str, kind: u32, flags: u64, data: Vec<u8>) -> Self {
        Self { name, kind, flags, link: 0, info: 0, entry_size: 0, data }
    }
}

/// Returns the object file of a program with the name `program`, in a section by whose name loaders find
/// its type.
pub(crate) fn object(section: &'static str, code: &[BpfInsn]) -> Vec<u8> {
    let mut program = Vec::new();
    for insn in code {
        program.extend([insn.code, insn.regs]);
        program.extend(insn.off.to_ne_bytes());
        program.extend(insn.imm.to_ne_bytes());
    }
    let mut symbols = vec![0; 24]; // the first is empty
    symbols.extend(1_u32.to_ne_bytes()); // offset of its name
    symbols.extend([GLOBAL_FUNCTION, 0]);
    symbols.extend(1_u16.to_ne_bytes()); // its section
    symbols.extend(0_u64.to_ne_bytes()); // its offset there
    symbols.extend((program.len() as u64).to_ne_bytes());
    let mut sections = vec![
        Section::new("", 0, 0, Vec::new()),
        Section::new(section, PROGBITS, CODE, program),
        Section::new("license", PROGBITS, 3, b"GPL\0".to_vec()),
        Section { link: 4, info: 1, entry_size: 24, ..Section::new(".symtab", SYMTAB, 0, symbols) },
        Section::new(".strtab", STRTAB, 0, b"\0program\0".to_vec()),
        Section::new(".shstrtab", STRTAB, 0, Vec::new()),
    ];
    let mut names = Vec::new();
    let offsets: Vec<u32> = sections
        .iter()
        .map(|section| {
            let at = names.len() as u32;
            names.extend(section.name.bytes().chain([0]));
            at
        })
        .collect();
    if let Some(last) = sections.last_mut() {
        last.data = names;
    }
    write(&sections, &offsets)
}

fn write(sections: &[Section], names: &[u32]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut headers = Vec::new();
    for (section, name) in sections.iter().zip(names) {
        data.resize(data.len().next_multiple_of(8), 0);
        for half in [*name, section.kind] {
            headers.extend(half.to_ne_bytes());
        }
        for word in [section.flags, 0, HEADER + data.len() as u64, section.data.len() as u64] {
            headers.extend(word.to_ne_bytes());
        }
        for half in [section.link, section.info] {
            headers.extend(half.to_ne_bytes());
        }
        for word in [8, section.entry_size] {
            headers.extend(word.to_ne_bytes());
        }
        data.extend(&section.data);
    }
    data.resize(data.len().next_multiple_of(8), 0);
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    file.extend(RELOCATABLE.to_ne_bytes());
    file.extend(BPF.to_ne_bytes());
    file.extend(1_u32.to_ne_bytes()); // version
    for word in [0, 0, HEADER + data.len() as u64] {
        file.extend(word.to_ne_bytes()); // entry, program headers, section headers
    }
    file.extend(0_u32.to_ne_bytes()); // flags
    for half in [HEADER as u16, 0, 0, 64, sections.len() as u16, sections.len() as u16 - 1] {
        file.extend(half.to_ne_bytes());
    }
    file.extend(data);
    file.extend(headers);
    file
}
