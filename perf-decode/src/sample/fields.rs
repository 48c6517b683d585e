//! The fields of samples by name.

use core::iter::FusedIterator;

use perf_abi::SampleType;

use super::Sample;
use crate::field::{Field, FixedFields, Value};
use crate::field_order::{PARTS, Part};
use crate::layout::{Layout, SampleLayout};
use crate::schema::words::{ADDR, HEAD, MEM};
use crate::schema::{Word, recorded};

/// The fields of a [`Sample`], in the order of their words.
#[derive(Clone)]
pub struct SampleFields<'a, L = &'a SampleLayout> {
    sample: Sample<'a, L>,
    /// Number of finished parts. The head is the first part.
    part: usize,
    /// Fields of the part that are finished.
    field: usize,
    /// The position in a part that is a run of words of fixed size.
    fixed: FixedFields,
}

impl<'a, L: Layout> Sample<'a, L> {
    /// Returns all fields of the sample by name, without allocation.
    ///
    /// Registers and the user stack are more than one field: `user_abi` and `user_regs`;
    /// `stack_size`, `stack_dyn_size` and `stack`.
    pub fn fields(&self) -> SampleFields<'a, L> {
        SampleFields { sample: *self, part: 0, field: 0, fixed: FixedFields::default() }
    }

    /// Returns the field at `index` of a part; `None` past its end.
    fn field(&self, part: Part, index: usize) -> Option<Field<'a>> {
        let single =
            |name, value: Option<Value<'a>>| value.filter(|_| index == 0).map(|value| Field { name, value });
        match part {
            Part::READ => single("read", self.read().map(Value::Read)),
            Part::CALLCHAIN => single("callchain", self.callchain().map(Value::Callchain)),
            Part::RAW => single("raw", self.raw().map(Value::Bytes)),
            Part::BRANCH_STACK => single("branches", self.branches().map(Value::Branches)),
            Part::REGS_USER => registers(["user_abi", "user_regs"], self.regs_user_field()?, index),
            Part::STACK_USER => self.stack_field(index),
            Part::REGS_INTR => registers(["intr_abi", "intr_regs"], self.regs_intr_field()?, index),
            // Runs of words of fixed size, which have a position of another kind.
            Part::MEM | Part::ADDR => None,
            Part::AUX => single("aux", self.aux().map(Value::Bytes)),
        }
    }

    fn stack_field(&self, index: usize) -> Option<Field<'a>> {
        let stack = self.stack_user()?;
        let (name, value) = match index {
            0 => ("stack_size", Value::Number(stack.size())),
            1 if stack.size() > 0 => ("stack_dyn_size", Value::Number(stack.bytes().len() as u64)),
            2 if stack.size() > 0 => ("stack", Value::Bytes(stack.bytes())),
            _ => return None,
        };
        Some(Field { name, value })
    }
}

/// Returns the name of the last field after the user stack that a sample with these fields has.
pub(super) fn last_field(wanted: SampleType) -> Option<&'static str> {
    let row = |table: &'static [Word]| match recorded(table, wanted).last()?.name() {
        "weight" if wanted.contains(SampleType::WEIGHT_STRUCT) => Some("weight_struct"),
        name => Some(name),
    };
    PARTS.into_iter().rev().take_while(|part| *part != Part::STACK_USER).find_map(|part| match part {
        Part::MEM => row(&MEM),
        Part::ADDR => row(&ADDR),
        Part::REGS_INTR if wanted.contains(part.bits()) => Some("intr_regs"),
        Part::AUX if wanted.contains(part.bits()) => Some("aux"),
        _ => None,
    })
}

fn registers<'a>(names: [&'static str; 2], regs: super::Regs<'a>, index: usize) -> Option<Field<'a>> {
    let value = match index {
        0 => Value::Number(regs.abi().0),
        1 if regs.is_recorded() => Value::Regs(regs),
        _ => return None,
    };
    names.get(index).map(|name| Field { name, value })
}

impl<'a, L: Layout> Iterator for SampleFields<'a, L> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        loop {
            let sample = self.sample;
            // Part 0 is the head, which is not in [`PARTS`].
            let part = match self.part.checked_sub(1) {
                None => None,
                Some(part) => Some(*PARTS.get(part)?),
            };
            let field = match part {
                None => self.fixed.next(&HEAD, sample.sample_type(), |row| sample.word(row)),
                Some(Part::MEM) => self.fixed.next(&MEM, sample.sample_type(), |row| sample.mem_word(row)),
                Some(Part::ADDR) => self.fixed.next(&ADDR, sample.sample_type(), |row| sample.addr_word(row)),
                Some(part) => sample.field(part, self.field),
            };
            self.field += 1;
            if field.is_some() {
                return field;
            }
            (self.part, self.field, self.fixed) = (self.part + 1, 0, FixedFields::default());
        }
    }
}

impl<L: Layout> FusedIterator for SampleFields<'_, L> {}

impl<L: Layout> core::fmt::Debug for SampleFields<'_, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
