//! Applies a row of unwind information to all registers of a frame.
//!
//! framehop evaluates the rows of compilers, which need three registers, and caches them. This is
//! for the other rows: a canonical frame address (CFA) in any register, a return address in a
//! register, and expressions that read memory.

use gimli::{
    CfaRule, Encoding, Evaluation, EvaluationResult, EvaluationStorage, Expression, Location, Piece,
    Register, RegisterRule, UnwindExpression, UnwindSection, UnwindTableRow, Value,
};

use super::machine::Machine;
use super::registers::FrameRegisters;
use super::sections::{MAX_OPERATIONS, Slice};

/// A row with what its rules refer to.
pub(super) struct Rules<'r, S> {
    pub(super) section: &'r S,
    pub(super) row: &'r UnwindTableRow<usize>,
    pub(super) encoding: Encoding,
    /// Distance between addresses of the process and the file.
    pub(super) base: u64,
}

/// Keeps the stack of an expression in arrays, so that evaluation does not allocate. A deeper
/// expression is an error.
struct Fixed;

impl<'a> EvaluationStorage<Slice<'a>> for Fixed {
    type Stack = [Value; 64];
    type ExpressionStack = [(Slice<'a>, Slice<'a>); 1];
    type Result = [Piece<Slice<'a>>; 1];
}

impl<'a, S: UnwindSection<Slice<'a>>> Rules<'_, S> {
    /// Returns the registers of the caller, among them its address as the value of the return
    /// address register. Returns `None` if an unknown register or memory that cannot be read is
    /// needed for the CFA or the address.
    pub(super) fn caller<M: Machine>(
        &self,
        frame: &FrameRegisters,
        read: &mut impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<FrameRegisters> {
        let cfa = self.cfa(frame, read)?;
        // First, so that the caller of this function reports the right read that failed.
        if let Some(rule) = self.row.register(M::RETURN_ADDRESS) {
            self.value(&rule, M::RETURN_ADDRESS, cfa, frame, read)?;
        }
        let registers = self.restored::<M>(frame, cfa, read);
        registers.get(M::RETURN_ADDRESS).map(|_| registers)
    }

    /// Returns the registers of the caller. Registers without a rule keep their value, as in GNU
    /// unwinders: assembly code relies on it for registers that the ABI does not preserve.
    pub(super) fn restored<M: Machine>(
        &self,
        frame: &FrameRegisters,
        cfa: u64,
        read: &mut impl FnMut(u64) -> Result<u64, ()>,
    ) -> FrameRegisters {
        let mut registers = *frame;
        registers.set(M::STACK_POINTER, Some(cfa));
        for (register, rule) in self.row.registers() {
            registers.set(*register, self.value(rule, *register, cfa, frame, read));
        }
        registers
    }

    fn cfa(&self, frame: &FrameRegisters, read: &mut impl FnMut(u64) -> Result<u64, ()>) -> Option<u64> {
        match *self.row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                frame.get(register)?.checked_add_signed(offset)
            }
            CfaRule::Expression(expression) => self.expression(expression, None, frame, read),
        }
    }

    /// Returns the value of a register in the caller.
    fn value(
        &self,
        rule: &RegisterRule<usize>,
        register: Register,
        cfa: u64,
        frame: &FrameRegisters,
        read: &mut impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<u64> {
        match *rule {
            RegisterRule::SameValue => frame.get(register),
            RegisterRule::Offset(offset) => read(cfa.checked_add_signed(offset)?).ok(),
            RegisterRule::ValOffset(offset) => cfa.checked_add_signed(offset),
            RegisterRule::Register(register) => frame.get(register),
            RegisterRule::Expression(expression) => {
                let address = self.expression(expression, Some(cfa), frame, read)?;
                read(address).ok()
            }
            RegisterRule::ValExpression(expression) => self.expression(expression, Some(cfa), frame, read),
            RegisterRule::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Evaluates an expression. The CFA is on its stack in rules of registers.
    fn expression(
        &self,
        expression: UnwindExpression<usize>,
        cfa: Option<u64>,
        frame: &FrameRegisters,
        read: &mut impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<u64> {
        let expression = expression.get(self.section).ok()?;
        evaluate(expression, self.encoding, self.base, cfa, frame, read)
    }
}

fn evaluate(
    expression: Expression<Slice<'_>>,
    encoding: Encoding,
    base: u64,
    cfa: Option<u64>,
    frame: &FrameRegisters,
    read: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Option<u64> {
    let mut evaluation = Evaluation::<_, Fixed>::new_in(expression.0, encoding);
    // Each operation counts, also one that asks for a value, so that this limits the loop, too.
    evaluation.set_max_iterations(MAX_OPERATIONS as u32);
    if let Some(cfa) = cfa {
        evaluation.set_initial_value(cfa);
    }
    let mut result = evaluation.evaluate().ok()?;
    loop {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                evaluation.resume_with_register(Value::Generic(frame.get(register)?)).ok()?
            }
            EvaluationResult::RequiresMemory { address, size, space: None, .. } => {
                let unused = 64_u32.checked_sub(8 * u32::from(size))?;
                let word = read(address).ok()?;
                let value = word.checked_shl(unused).unwrap_or(0).checked_shr(unused).unwrap_or(0);
                evaluation.resume_with_memory(Value::Generic(value)).ok()?
            }
            EvaluationResult::RequiresCallFrameCfa => evaluation.resume_with_call_frame_cfa(cfa?).ok()?,
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(base.wrapping_add(address)).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result().last()?.location {
        Location::Address { address } => Some(address),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::stack::machine::{Arm64, X86_64};
    use crate::stack::sections::Context;
    use crate::stack::sections::tests::{
        DEF_CFA, DEF_CFA_EXPRESSION, EXPRESSION, OFFSET, REGISTER, UNDEFINED, section,
    };

    const SAME_VALUE: u8 = 0x08;
    const VAL_OFFSET: u8 = 0x14;
    const VAL_EXPRESSION: u8 = 0x16;
    /// Operations of expressions.
    const ADDR: u8 = 0x03;
    const DEREF: u8 = 0x06;
    const DEREF_SIZE: u8 = 0x94;
    const PLUS_CONST: u8 = 0x23;
    const BREG: u8 = 0x70;
    const LITERAL: u8 = 0x30;
    const CALL_FRAME_CFA: u8 = 0x9c;
    const SKIP: u8 = 0x2f;
    /// DWARF register numbers of x86-64.
    const RAX: u8 = 0;
    const RBX: u8 = 3;
    const RDI: u8 = 5;
    const RBP: u8 = 6;
    const RSP: u8 = 7;
    const R10: u8 = 10;
    const RA: u8 = 16;
    const BASE: u64 = 0x50_0000;
    const STACK: u64 = 0x1000;

    /// Registers 0 to 32 with the values 0x1000, 0x1008 and so on: words of the stack.
    fn frame() -> FrameRegisters {
        let mut frame = FrameRegisters::new();
        for number in 0..33 {
            frame.set(Register(number), Some(STACK + 8 * u64::from(number)));
        }
        frame
    }

    /// A stack of 64 words from 0x1000. Each word is its own address plus a MiB.
    fn read(address: u64) -> Result<u64, ()> {
        (STACK..STACK + 512).contains(&address).then_some(address + 0x10_0000).ok_or(())
    }

    fn caller<M: Machine>(instructions: &[u8], frame: &FrameRegisters) -> Option<FrameRegisters> {
        let mut sections = section(&[instructions]);
        sections.index = sections.make_index().expect("a safe entry");
        sections.caller::<M>((0x1000, BASE), &mut Context::new(), frame, None, &mut read)
    }

    fn value_of(number: u8) -> u64 {
        STACK + 8 * u64::from(number)
    }

    #[test]
    fn caller_has_the_registers_that_the_rules_restore() {
        let expression = |code: &[u8]| [&[code.len() as u8], code].concat();
        let cfa = |code: &[u8]| [vec![DEF_CFA_EXPRESSION], expression(code)].concat();
        let rule = |kind: u8, register: u8, code: &[u8]| [vec![kind, register], expression(code)].concat();
        let word = |address: u64| address + 0x10_0000;
        let (rax, rsp) = (value_of(RAX), value_of(RSP));
        for (name, instructions, register, expected) in [
            ("CFA in rax", vec![DEF_CFA, RAX, 8], RSP, Some(rax + 8)),
            ("its return address", vec![DEF_CFA, RAX, 8], RA, Some(word(rax))),
            ("no rule", vec![DEF_CFA, RAX, 8], RBX, Some(value_of(RBX))),
            ("CFA by half a word", cfa(&[BREG | R10, 0, DEREF_SIZE, 2]), RSP, Some(0x1050)),
            ("return address in rdi", vec![REGISTER, RA, RDI], RA, Some(value_of(RDI))),
            ("saved", vec![OFFSET | RBX, 1], RBX, Some(word(rsp))),
            ("saved outside of the copy", vec![OFFSET | RBX, 40], RBX, None),
            ("same value", vec![SAME_VALUE, RBX], RBX, Some(value_of(RBX))),
            ("undefined", vec![UNDEFINED, RBX], RBX, None),
            ("in another register", vec![REGISTER, RBX, R10], RBX, Some(value_of(R10))),
            ("CFA minus 16", vec![VAL_OFFSET, RBX, 2], RBX, Some(rsp + 8 - 16)),
            // The CFA is on the stack of the expression.
            ("expression of the CFA", rule(EXPRESSION, RBX, &[PLUS_CONST, 8]), RBX, Some(word(rsp + 16))),
            ("value of the CFA", rule(VAL_EXPRESSION, RBX, &[PLUS_CONST, 8]), RBX, Some(rsp + 16)),
            ("CFA by name", rule(VAL_EXPRESSION, RBX, &[CALL_FRAME_CFA]), RBX, Some(rsp + 8)),
            ("address", rule(VAL_EXPRESSION, RBX, &[ADDR, 1, 0, 0, 0, 0, 0, 0, 0]), RBX, Some(BASE + 1)),
            ("number", rule(VAL_EXPRESSION, RBX, &[LITERAL | 5]), RBX, Some(5)),
            ("stack pointer by a rule", vec![REGISTER, RSP, RBP], RSP, Some(value_of(RBP))),
        ] {
            let found = caller::<X86_64>(&instructions, &frame());
            assert_eq!(found.and_then(|found| found.get(Register(register.into()))), expected, "{name}");
        }
        // The return address of arm64 is in a register.
        let found = caller::<Arm64>(&[DEF_CFA, 19, 16, OFFSET | 0x1e, 1], &frame()).expect("a caller");
        let cfa = value_of(19) + 16;
        assert_eq!([30, 31].map(|number| found.get(Register(number))), [Some(word(cfa - 8)), Some(cfa)]);
    }

    #[test]
    fn caller_is_unknown_without_a_register_or_memory_that_it_needs() {
        let mut frame = frame();
        for number in [RAX, RDI] {
            frame.set(Register(number.into()), None);
        }
        let deep = [vec![DEF_CFA_EXPRESSION, 70], vec![LITERAL; 70]].concat();
        for (name, instructions) in [
            ("CFA in an unknown register", vec![DEF_CFA, RAX, 8]),
            ("return address in an unknown register", vec![REGISTER, RA, RDI]),
            ("return address outside of the stack", vec![DEF_CFA, RSP, 0x80, 0x20]),
            ("memory outside of the stack", vec![DEF_CFA_EXPRESSION, 2, LITERAL, DEREF]),
            ("more values than an expression may have", deep),
            ("an expression without a value", vec![DEF_CFA_EXPRESSION, 0]),
            ("a CFA that a CFA defines", vec![DEF_CFA_EXPRESSION, 1, CALL_FRAME_CFA]),
        ] {
            assert_eq!(caller::<X86_64>(&instructions, &frame), None, "{name}");
        }
    }

    #[test]
    fn expression_that_loops_ends() {
        let code = [LITERAL, SKIP, 0xfd, 0xff];
        let expression = Expression(Slice::new(&code, gimli::LittleEndian));
        let encoding = Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 1 };
        let mut reads = 0;
        let mut count = |address| {
            reads += 1;
            read(address)
        };
        assert_eq!(evaluate(expression, encoding, 0, None, &frame(), &mut count), None);
        // With memory that the loop reads.
        let code = [BREG, 0, DEREF, SKIP, 0xfa, 0xff];
        let expression = Expression(Slice::new(&code, gimli::LittleEndian));
        assert_eq!(evaluate(expression, encoding, 0, None, &frame(), &mut count), None);
        assert!(reads <= MAX_OPERATIONS, "{reads} reads");
    }

    /// A rule, and a naive evaluation of it.
    #[derive(Clone, Copy, Debug)]
    enum Naive {
        Same,
        Undefined,
        Saved(u8),
        Value(u8),
        Register(u8),
    }

    impl Naive {
        fn instructions(self, register: u8) -> Vec<u8> {
            match self {
                Self::Same => vec![SAME_VALUE, register],
                Self::Undefined => vec![UNDEFINED, register],
                Self::Saved(words) => vec![OFFSET | register, words],
                Self::Value(words) => vec![VAL_OFFSET, register, words],
                Self::Register(other) => vec![REGISTER, register, other],
            }
        }

        fn value(self, register: u8, cfa: u64) -> Option<u64> {
            match self {
                Self::Same => Some(value_of(register)),
                Self::Undefined => None,
                Self::Saved(words) => read(cfa - 8 * u64::from(words)).ok(),
                Self::Value(words) => Some(cfa - 8 * u64::from(words)),
                Self::Register(other) => Some(value_of(other)),
            }
        }
    }

    proptest! {
        #[test]
        fn registers_are_restored_as_by_a_naive_reading_of_the_rules(
            cfa_register in 0..16_u8,
            offset in 0..64_u8,
            rules in prop::collection::btree_map(
                0..17_u8,
                prop_oneof![
                    Just(Naive::Same),
                    Just(Naive::Undefined),
                    (1..32_u8).prop_map(Naive::Saved),
                    (1..32_u8).prop_map(Naive::Value),
                    (0..17_u8).prop_map(Naive::Register),
                ],
                0..17,
            ),
        ) {
            let cfa = value_of(cfa_register) + u64::from(offset);
            let mut instructions = vec![DEF_CFA, cfa_register, offset];
            // The rules of the CIE.
            let mut all: BTreeMap<u8, Naive> =
                (0..17).map(|register| (register, Naive::Same)).chain([(RA, Naive::Saved(1))]).collect();
            for (&register, rule) in &rules {
                instructions.extend(rule.instructions(register));
                all.insert(register, *rule);
            }
            let found = caller::<X86_64>(&instructions, &frame());
            let return_address = all.get(&RA).and_then(|rule| rule.value(RA, cfa));
            prop_assert_eq!(found.is_some(), return_address.is_some());
            let Some(found) = found else { return Ok(()) };
            for (register, rule) in all {
                let expected = match rules.get(&RSP) {
                    None if register == RSP => Some(cfa),
                    _ => rule.value(register, cfa),
                };
                prop_assert_eq!(found.get(Register(register.into())), expected, "register {}", register);
            }
        }
    }
}
