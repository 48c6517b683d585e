//! Named values of records.

use core::fmt;

use perf_abi::mem::DataSource;
use perf_abi::{
    AuxFlags, BpfEventType, KsymbolFlags, KsymbolType, NamespaceLink, SampleType, Transaction, Weight,
};

use crate::entries::Entries;
use crate::number::Number;
use crate::read::ReadValues;
use crate::sample::{Branches, Callchain, Regs};
use crate::schema::{FieldType, Word};

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
    /// A branch stack, newest branch first.
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

impl Value<'static> {
    /// Returns the number of this type at an offset in a record, or in a part of it; `None` if the
    /// type is not numeric.
    // A call would copy the value once more for each field that is printed.
    #[inline(always)]
    pub(crate) fn number(field: FieldType, words: &[u64], at: usize) -> Option<Self> {
        Some(match field {
            FieldType::U16 => Self::Number(u16::read(words, at).into()),
            FieldType::U32 => Self::Number(u32::read(words, at).into()),
            FieldType::U64 => Self::Number(Number::read(words, at)),
            FieldType::Hex => Self::Hex(Number::read(words, at)),
            FieldType::Task => Self::Task(Number::read(words, at)),
            FieldType::AuxFlags => Self::AuxFlags(Number::read(words, at)),
            FieldType::KsymbolType => Self::KsymbolType(Number::read(words, at)),
            FieldType::KsymbolFlags => Self::KsymbolFlags(Number::read(words, at)),
            FieldType::BpfEventType => Self::BpfEventType(Number::read(words, at)),
            FieldType::Weight => Self::WeightStruct(Number::read(words, at)),
            FieldType::DataSource => Self::DataSource(Number::read(words, at)),
            FieldType::Transaction => Self::Transaction(Number::read(words, at)),
            _ => return None,
        })
    }
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

/// The position in the fields of a trailer, or of a run of words of fixed size in a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FixedFields {
    row: usize,
    /// The next field of the row, and its offset in the word.
    field: usize,
    at: usize,
}

impl FixedFields {
    /// Returns the next field of the rows of `table` that have a word.
    pub(crate) fn next(
        &mut self,
        table: &[Word],
        sample_type: SampleType,
        word: impl Fn(usize) -> Option<u64>,
    ) -> Option<Field<'static>> {
        while let Some(row) = table.get(self.row) {
            if let (Some(word), Some(&(name, field))) = (word(self.row), row.fields.get(self.field)) {
                let at = self.at;
                (self.field, self.at) = (self.field + 1, at + field.size());
                let (name, field) = match field {
                    FieldType::Weight if sample_type.contains(SampleType::WEIGHT_STRUCT) => {
                        ("weight_struct", field)
                    }
                    FieldType::Weight => (name, FieldType::U64),
                    _ => (name, field),
                };
                if let Some(value) = Value::number(field, &[word], at) {
                    return Some(Field { name, value });
                }
            } else {
                *self = Self { row: self.row + 1, ..Self::default() };
            }
        }
        None
    }
}
