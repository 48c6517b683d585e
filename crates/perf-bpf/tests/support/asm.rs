//! A small assembler of BPF instructions, so that the tests need no C compiler.

#![allow(clippy::cast_possible_wrap, clippy::indexing_slicing)] // instructions have signed numbers

use std::os::fd::{AsFd, AsRawFd};

use perf_bpf::ring::abi::bpf::BpfInsn;

/// The return value of a call, and of the program.
pub(crate) const R0: u8 = 0;
/// The first argument of a call; the context at the start of the program.
pub(crate) const R1: u8 = 1;
pub(crate) const R2: u8 = 2;
pub(crate) const R3: u8 = 3;
pub(crate) const R4: u8 = 4;
pub(crate) const R5: u8 = 5;
/// The first of the registers that a call keeps.
pub(crate) const R6: u8 = 6;
pub(crate) const R7: u8 = 7;
pub(crate) const R8: u8 = 8;
/// The end of the stack, which has 512 bytes.
pub(crate) const R10: u8 = 10;

/// Helpers that `perf_abi` does not name, because they are not about perf events.
pub(crate) const MAP_LOOKUP_ELEM: u32 = 1;
pub(crate) const RINGBUF_OUTPUT: u32 = 130;
pub(crate) const RINGBUF_RESERVE: u32 = 131;
pub(crate) const RINGBUF_SUBMIT: u32 = 132;
pub(crate) const RINGBUF_DISCARD: u32 = 133;

/// Instructions in the order in which they were added.
#[derive(Default)]
pub(crate) struct Asm(Vec<BpfInsn>);

impl Asm {
    fn add_insn(mut self, code: u8, dst: u8, src: u8, off: i16, imm: i32) -> Self {
        self.0.push(BpfInsn::new(code, dst, src, off, imm));
        self
    }

    /// `dst = src`
    pub(crate) fn mov(self, dst: u8, src: u8) -> Self {
        self.add_insn(0xbf, dst, src, 0, 0)
    }

    /// `dst = value`
    pub(crate) fn set(self, dst: u8, value: i32) -> Self {
        self.add_insn(0xb7, dst, 0, 0, value)
    }

    /// `dst = value`, without sign extension.
    pub(crate) fn set_u32(self, dst: u8, value: u32) -> Self {
        self.add_insn(0xb4, dst, 0, 0, value as i32)
    }

    /// `dst = map`
    pub(crate) fn set_map(self, dst: u8, map: &impl AsFd) -> Self {
        self.add_insn(0x18, dst, 1, 0, map.as_fd().as_raw_fd()).add_insn(0, 0, 0, 0, 0)
    }

    /// `dst += value`
    pub(crate) fn add(self, dst: u8, value: i32) -> Self {
        self.add_insn(0x07, dst, 0, 0, value)
    }

    /// `dst = *(u64 *)(base + offset)`
    pub(crate) fn load(self, dst: u8, base: u8, offset: i16) -> Self {
        self.add_insn(0x79, dst, base, offset, 0)
    }

    /// `*(u64 *)(base + offset) = src`
    pub(crate) fn store(self, base: u8, offset: i16, src: u8) -> Self {
        self.add_insn(0x7b, base, src, offset, 0)
    }

    /// `*(u64 *)(base + offset) = value`
    pub(crate) fn store_value(self, base: u8, offset: i16, value: i32) -> Self {
        self.add_insn(0x7a, base, 0, offset, value)
    }

    /// `*(u64 *)(base + offset) += 1`, by a plain load and store. Uses `R0`.
    pub(crate) fn increment(self, base: u8, offset: i16) -> Self {
        self.load(R0, base, offset).add(R0, 1).store(base, offset, R0)
    }

    /// `r0 = helper(r1, r2, r3, r4, r5)`
    pub(crate) fn call(self, helper: u32) -> Self {
        self.add_insn(0x85, 0, 0, 0, helper as i32)
    }

    /// Runs `body` unless `register` is `value`.
    pub(crate) fn unless(self, register: u8, value: i32, body: impl FnOnce(Self) -> Self) -> Self {
        self.jump_over(0x15, register, value, body)
    }

    /// Runs `body` if `register` is `value`.
    pub(crate) fn when(self, register: u8, value: i32, body: impl FnOnce(Self) -> Self) -> Self {
        self.jump_over(0x55, register, value, body)
    }

    fn jump_over(self, code: u8, register: u8, value: i32, body: impl FnOnce(Self) -> Self) -> Self {
        let at = self.0.len();
        let mut asm = body(self.add_insn(code, register, 0, 0, value));
        let len = i16::try_from(asm.0.len() - at - 1).unwrap();
        asm.0[at] = BpfInsn::new(code, register, 0, len, value);
        asm
    }

    /// `return value`
    pub(crate) fn exit_with(self, value: i32) -> Self {
        self.set(R0, value).add_insn(0x95, 0, 0, 0, 0)
    }

    /// `dst = map_lookup_elem(map, &0)`, or the program returns `otherwise`. Uses the last 8 bytes
    /// of the stack.
    pub(crate) fn lookup_first(self, dst: u8, map: &impl AsFd, otherwise: i32) -> Self {
        self.store_value(R10, -8, 0)
            .set_map(R1, map)
            .mov(R2, R10)
            .add(R2, -8)
            .call(MAP_LOOKUP_ELEM)
            .when(R0, 0, |asm| asm.exit_with(otherwise))
            .mov(dst, R0)
    }

    pub(crate) fn code(&self) -> &[BpfInsn] {
        &self.0
    }
}
