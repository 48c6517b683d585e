use core::fmt;

use perf_abi::mem::DataSource;
use perf_abi::{
    AuxFlags, BpfEventType, KsymbolFlags, KsymbolType, NamespaceLink, SampleType, Transaction, Weight,
};

use crate::field_order::{FixedField, Form};
use crate::{Branches, Callchain, Entries, ReadValues, Regs, word};

/// A named value of a record or of its trailer.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// The name that the kernel's header or the perf tool gives it.
    pub name: &'static str,
    /// The value, typed by the way it prints.
    pub value: Value<'a>,
}

// Not derived, because core's `Debug` of a string has a panic path: see checks/no-panic.
impl fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        fmt::Debug::fmt(&self.value, f)
    }
}

/// The value of a [`Field`]. The variant determines how it prints.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A count, size, time or id: decimal.
    Number(u64),
    /// An address, a mask or a word without a more specific type: hexadecimal.
    Hex(u64),
    /// A process or thread. `0xffffffff` has no id in the opener's pid namespace and prints as -1.
    Task(u32),
    /// A name, without its NUL. Not always UTF-8.
    Text(&'a [u8]),
    /// Bytes: hexadecimal, two digits each.
    Bytes(&'a [u8]),
    /// Words: hexadecimal.
    Words(&'a [u64]),
    /// Counts in the event's `read_format`.
    Read(ReadValues<'a>),
    /// A callchain with its context markers.
    Callchain(Callchain<'a>),
    /// A branch stack.
    Branches(Branches<'a>),
    /// Registers, without their ABI.
    Regs(Regs<'a>),
    /// A weight of three numbers.
    WeightStruct(Weight),
    /// The source of a memory access's data.
    DataSource(DataSource),
    /// The abort reason of a hardware transaction.
    Transaction(Transaction),
    /// The flags of an AUX record.
    AuxFlags(AuxFlags),
    /// The type of a kernel symbol.
    KsymbolType(KsymbolType),
    /// The flags of a kernel symbol.
    KsymbolFlags(KsymbolFlags),
    /// The load or unload of a BPF program.
    BpfEventType(BpfEventType),
    /// The namespaces of a task, by [`NamespaceIndex`](perf_abi::NamespaceIndex).
    Namespaces(Entries<'a, NamespaceLink, 2>),
}

impl Value<'_> {
    /// Returns the value as one number; `None` if it is not one.
    pub fn as_u64(&self) -> Option<u64> {
        Some(match *self {
            Self::Number(number) | Self::Hex(number) => number,
            Self::Task(id) => id.into(),
            Self::WeightStruct(weight) => weight.full(),
            Self::DataSource(source) => source.0,
            Self::Transaction(flags) => flags.bits(),
            Self::AuxFlags(flags) => flags.bits(),
            Self::KsymbolType(kind) => kind.0.into(),
            Self::KsymbolFlags(flags) => flags.bits().into(),
            Self::BpfEventType(kind) => kind.0.into(),
            _ => return None,
        })
    }
}

/// The fields of a trailer, or of a run of fixed words in a sample.
#[derive(Clone, Debug)]
pub(crate) struct FixedFields<const N: usize> {
    order: &'static [FixedField; N],
    words: [Option<u64>; N],
    sample_type: SampleType,
    /// Twice the row, plus 1 for the second half of its word.
    next: usize,
}

impl<const N: usize> FixedFields<N> {
    /// Returns the fields of `order` whose words are present.
    pub(crate) fn new(
        order: &'static [FixedField; N],
        words: [Option<u64>; N],
        sample_type: SampleType,
    ) -> Self {
        Self { order, words, sample_type, next: 0 }
    }
}

impl<const N: usize> Iterator for FixedFields<N> {
    type Item = Field<'static>;

    fn next(&mut self) -> Option<Field<'static>> {
        loop {
            let (row, second_half) = (self.next / 2, self.next % 2 == 1);
            let field = self.order.get(row)?;
            self.next += 1;
            match *self.words.get(row)? {
                Some(word) if !second_half || field.form == Form::Task => {
                    return Some(printed(*field, word, self.sample_type, second_half));
                }
                _ => {}
            }
        }
    }
}

/// Returns the field of a fixed word. The word of a task has two: the process in its first half,
/// the thread in its second.
fn printed(row: FixedField, word: u64, sample_type: SampleType, second_half: bool) -> Field<'static> {
    let [first, second] = word::halves(word);
    let (name, value) = match row.form {
        Form::Hex => (row.name, Value::Hex(word)),
        Form::Task if second_half => (row.name, Value::Task(second)),
        Form::Task => ("pid", Value::Task(first)),
        Form::Cpu => (row.name, Value::Number(first.into())),
        Form::Weight if sample_type.contains(SampleType::WEIGHT_STRUCT) => {
            ("weight_struct", Value::WeightStruct(Weight(word)))
        }
        Form::Number | Form::Weight => (row.name, Value::Number(word)),
        Form::DataSource => (row.name, Value::DataSource(DataSource(word))),
        Form::Transaction => (row.name, Value::Transaction(Transaction::from_bits_retain(word))),
    };
    Field { name, value }
}
