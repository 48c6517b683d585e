//! ELF files around sections of the fuzzer.

/// Returns an ELF file whose only segment is its first 8 KiB, with these sections beside `.text`: name, address, bytes.
pub fn elf(machine: u16, sections: &[(&str, u64, &[u8])]) -> Vec<u8> {
    let (mut names, mut file, mut table) = (b"\0.text\0".to_vec(), vec![0; 64 + 56], vec![0; 64]);
    let mut entry = |name: usize, kind: u32, address: u64, offset: usize, len: usize| {
        table.extend([name as u32, kind].iter().flat_map(|word| word.to_le_bytes()));
        table.extend([2, address, offset as u64, len as u64].iter().flat_map(|word| word.to_le_bytes()));
        table.extend([0; 8]);
        table.extend([1, 0_u64].iter().flat_map(|word| word.to_le_bytes()));
    };
    // Without bytes (SHT_NOBITS): only its address counts.
    entry(1, 8, 0x1000, 0, 0x1000);
    for &(name, address, bytes) in sections {
        entry(names.len(), 1, address, file.len(), bytes.len());
        names.extend(name.bytes().chain([0]));
        file.extend(bytes);
    }
    entry(0, 3, 0, file.len(), names.len());
    file.extend(names);
    let table_at = file.len() as u64;
    file.extend(table);
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(16, 0);
    header.extend([3, machine].iter().flat_map(|word| word.to_le_bytes()));
    header.extend(1_u32.to_le_bytes());
    header.extend([0x1000, 64, table_at].iter().flat_map(|word| word.to_le_bytes()));
    header.extend(0_u32.to_le_bytes());
    let count = sections.len() as u16 + 3;
    header.extend([64_u16, 56, 1, 64, count, count - 1].iter().flat_map(|word| word.to_le_bytes()));
    // PT_LOAD, readable and executable.
    header.extend([1_u32, 5].iter().flat_map(|word| word.to_le_bytes()));
    header.extend([0_u64, 0, 0, 0x2000, 0x2000, 0x1000].iter().flat_map(|word| word.to_le_bytes()));
    file[..header.len()].copy_from_slice(&header);
    file
}
