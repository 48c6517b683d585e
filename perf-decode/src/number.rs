//! The fields that are numbers: one conversion for the accessors of records and of samples, and for
//! printing.

use perf_abi::mem::DataSource;
use perf_abi::{AuxFlags, BpfEventType, KsymbolFlags, KsymbolType, Transaction, Weight};

use crate::schema::{FieldType, array};

/// A type in which accessors return a number.
pub(crate) trait Number: Sized {
    /// The types of the fields.
    const OF: &'static [FieldType];

    /// Returns the number at an offset in bytes; 0 if the words end before it.
    fn read(words: &[u64], at: usize) -> Self;
}

macro_rules! numbers {
    ($($Type:ty: $($Field:ident)|+, $from:expr;)*) => {$(
        impl Number for $Type {
            const OF: &'static [FieldType] = &[$(FieldType::$Field),+];

            #[inline(always)]
            fn read(words: &[u64], at: usize) -> Self {
                $from(array(words, at))
            }
        }
    )*};
}

numbers! {
    u16: U16, u16::from_ne_bytes;
    u32: U32 | Task, u32::from_ne_bytes;
    u64: U64 | Hex, u64::from_ne_bytes;
    AuxFlags: AuxFlags, |bytes| AuxFlags::from_bits_retain(u64::from_ne_bytes(bytes));
    KsymbolType: KsymbolType, |bytes| KsymbolType(u16::from_ne_bytes(bytes));
    KsymbolFlags: KsymbolFlags, |bytes| KsymbolFlags::from_bits_retain(u16::from_ne_bytes(bytes));
    BpfEventType: BpfEventType, |bytes| BpfEventType(u16::from_ne_bytes(bytes));
    Weight: Weight, |bytes| Weight(u64::from_ne_bytes(bytes));
    DataSource: DataSource, |bytes| DataSource(u64::from_ne_bytes(bytes));
    Transaction: Transaction, |bytes| Transaction::from_bits_retain(u64::from_ne_bytes(bytes));
}
