//! Tests of disassemblies.

use proptest::prelude::*;

use super::*;
use crate::{ObjectFile, file::made::elf};

fn all(machine: u16, syntax: Syntax, start: u64, bytes: &[u8]) -> Vec<Decoded> {
    decode(&Decoder::new(machine, syntax).unwrap(), start, bytes).unwrap()
}

fn texts(machine: u16, syntax: Syntax, bytes: &[u8]) -> Vec<(u64, String, Flow)> {
    let decoded = all(machine, syntax, 0x1000, bytes);
    decoded.into_iter().map(|decoded| (decoded.address, decoded.text.into(), decoded.flow)).collect()
}

/// `push rbp; lea rax,[rip+0x10]; jne +2; call +0; (bad)`.
const CODE: &[u8] = &[0x55, 0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0x75, 0x02, 0xe8, 0, 0, 0, 0, 0xff, 0xff, 0xc3];

#[test]
fn x86_has_both_syntaxes_and_the_targets_of_jumps_and_calls() {
    for (syntax, expected) in [
        (Syntax::Att, ["push %rbp", "lea 0x10(%rip),%rax", "jne 0x100c", "call 0x100f", "(bad)"]),
        (Syntax::Intel, ["push rbp", "lea rax,[rip+0x10]", "jne 0x100c", "call 0x100f", "(bad)"]),
    ] {
        let found = texts(62, syntax, CODE);
        let squeezed = found.iter().map(|(_, text, _)| text.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(squeezed.take(5).collect::<Vec<_>>(), expected);
        let flows: Vec<_> = found.iter().map(|(_, _, flow)| *flow).take(4).collect();
        assert_eq!(flows, [Flow::Next, Flow::Next, Flow::Jump(0x100c), Flow::Call(0x100f)]);
        assert_eq!(found.last().unwrap().0, 0x1011);
    }
}

#[test]
fn arm64_has_absolute_targets() {
    let words: [u32; 6] = [0xd100_83ff, 0xb400_0060, 0x97ff_fffe, 0x54ff_ffa1, 0xb000_0000, 0xffff_ffff];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).chain([1, 2]).collect();
    let found = texts(183, Syntax::Att, &bytes);
    let expected = [
        ("sub sp, sp, #0x20", Flow::Next),
        ("cbz x0, 0x1010", Flow::Jump(0x1010)),
        ("bl 0x1000", Flow::Call(0x1000)),
        ("b.ne 0x1000", Flow::Jump(0x1000)),
        ("adrp x0, 0x2000", Flow::Next),
        (".inst 0xffffffff", Flow::Next),
        (".byte 0x01, 0x02", Flow::Next),
    ];
    let found: Vec<_> = found.iter().map(|(_, text, flow)| (text.as_str(), *flow)).collect();
    assert_eq!(found, expected);
}

#[test]
fn code_of_another_machine_is_named() {
    let error = Decoder::new(243, Syntax::Att).err().unwrap().to_string();
    assert_eq!(error, "expected code of x86-64, x86 or arm64, found the ELF machine 243");
}

#[test]
fn code_is_read_from_its_segment_only() {
    let mut bytes = elf(&[(0x40_1000, 0x200, 0x10, true)], &[1; 20]);
    bytes.resize(0x208, 0x90);
    let file = |bytes: &[u8]| ObjectFile::from_memory("made", bytes.to_vec().into()).unwrap();
    // The segment claims more than the file has.
    assert_eq!(file(&bytes).code(0x40_1000..0x40_1008).unwrap(), [0x90; 8]);
    bytes.resize(0x210, 0xcc);
    let whole = file(&bytes);
    assert_eq!(whole.code(0x40_100f..0x40_1010).unwrap(), [0xcc]);
    for outside in [0x40_0fff..0x40_1001, 0x40_100f..0x40_1011, 0..1, 0x40_1000..u64::MAX] {
        assert!(matches!(whole.code(outside), Err(ElfError::Malformed(_))));
    }
    bytes.truncate(0x208);
    assert!(file(&bytes).code(0x40_1000..0x40_1010).is_err());
}

#[test]
fn function_of_this_test_is_disassembled_with_its_lines() {
    let finder = FileFinder::local();
    let program = ObjectFile::open(std::env::current_exe().unwrap()).unwrap();
    let entry = program.entry_point().unwrap();
    let found = Arc::new(finder.find_debug_file(program));
    let start = Disassembly::read(&finder, &found, entry, Syntax::Att).unwrap();
    assert_eq!(start.addresses.start, entry);
    let mut at = entry;
    for instruction in &start.instructions {
        assert_eq!(instruction.address, at);
        at += u64::from(instruction.len);
    }
    assert_eq!(at, start.addresses.end, "no gaps");
    let nowhere = Disassembly::read(&finder, &found, u64::MAX, Syntax::Att);
    assert_eq!(nowhere.unwrap_err(), DisassemblyError::NoFunction);
}

proptest! {
    #[test]
    fn any_bytes_are_instructions_without_gaps(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        start in any::<u64>(),
        machine in prop::sample::select(vec![3_u16, 62, 183]),
        is_intel in any::<bool>(),
    ) {
        let syntax = if is_intel { Syntax::Intel } else { Syntax::Att };
        // A panic of the library is caught.
        let Some(decoded) = decode(&Decoder::new(machine, syntax).unwrap(), start, &bytes) else { return Ok(()) };
        let len: usize = decoded.iter().map(|instruction| usize::from(instruction.len)).sum();
        prop_assert_eq!(len, bytes.len());
        for instruction in &decoded {
            prop_assert!(!instruction.text.is_empty() && instruction.text.len() < 200);
        }
    }
}
