use super::*;

#[test]
fn registers_of_an_instruction_follow_the_byte_order() {
    let insn = BpfInsn::new(0xb7, 0x1a, 0x25, -2, -3);
    let regs = if cfg!(target_endian = "little") { 0x5a } else { 0xa5 };
    assert_eq!(insn, BpfInsn { code: 0xb7, regs, off: -2, imm: -3 });
}
