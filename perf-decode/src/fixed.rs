//! The accessors of the words of fixed size in samples, their heads and trailers, compared with the rows of
//! [`schema`](crate::schema).

use perf_abi::mem::DataSource;
use perf_abi::{Transaction, Weight};

use crate::schema::{FieldType, Word, contains, find, is_accessor_of};
use crate::word;

/// A type in which accessors return a field.
pub(crate) trait FromWord {
    /// The types of the fields.
    const OF: &'static [FieldType];

    /// Returns the field that starts at this byte of the word.
    fn from_word(word: u64, at: usize) -> Self;
}

impl FromWord for u32 {
    const OF: &'static [FieldType] = &[FieldType::U32, FieldType::Task];

    #[inline(always)]
    fn from_word(word: u64, at: usize) -> Self {
        let [first, second] = word::halves(word);
        if at == 0 { first } else { second }
    }
}

macro_rules! whole_words {
    ($($Type:ty: $($Field:ident)|+, $from:expr;)*) => {$(
        impl FromWord for $Type {
            const OF: &'static [FieldType] = &[$(FieldType::$Field),+];

            #[inline(always)]
            fn from_word(word: u64, _: usize) -> Self {
                $from(word)
            }
        }
    )*};
}

whole_words! {
    u64: U64 | Hex, core::convert::identity;
    Weight: Weight, Weight;
    DataSource: DataSource, DataSource;
    Transaction: Transaction, Transaction::from_bits_retain;
}

/// Returns the row, and the offset in its word, of the field of an accessor. For constants only: a missing field does
/// not compile.
#[expect(clippy::panic, clippy::indexing_slicing, reason = "fails to compile")]
pub(crate) const fn place(table: &[Word], accessor: &str) -> (usize, usize) {
    let mut row = 0;
    while row < table.len() {
        if let Some((at, _)) = find(table[row].fields, 0, accessor) {
            return (row, at);
        }
        row += 1;
    }
    panic!("no row of the table has a field of this accessor's name")
}

/// Fails to compile if the accessors of a table are not those of the fields in its rows.
#[allow(dead_code, reason = "Rust 1.85 does not see uses in `const _`")]
#[expect(clippy::indexing_slicing, reason = "fails to compile")]
pub(crate) const fn check(table: &[Word], accessors: &[(&str, &[FieldType])]) {
    let (mut row, mut fields_shown) = (0, 0);
    while row < table.len() {
        let mut fields = table[row].fields;
        let mut size = 0;
        while let [(name, field), rest @ ..] = fields {
            size += field.size();
            fields = rest;
            if matches!(field, FieldType::Reserved) {
                continue;
            }
            fields_shown += 1;
            let mut candidates = accessors;
            while let [(accessor, types), after @ ..] = candidates {
                if is_accessor_of(accessor, name) {
                    assert!(
                        contains(types, *field),
                        "the row has another type for the field of this accessor"
                    );
                    break;
                }
                candidates = after;
            }
            assert!(!candidates.is_empty(), "a field of the rows in `schema/words.rs` has no accessor");
        }
        assert!(size == 8, "schema: the fields of a row are not one word");
        row += 1;
    }
    assert!(fields_shown == accessors.len(), "no row of the table has a field of this accessor's name");
}

/// Defines the accessors of the fields of a table: each is `None` if the event does not record it.
///
/// The type has a method, by default `word`, that returns the word of a row. Any difference from the table does not
/// compile.
macro_rules! accessors {
    ($Type:ident $TABLE:ident by $word:ident: $($(#[$doc:meta])* $accessor:ident: $Field:ty,)*) => {
        const _: () =
            crate::fixed::check(&$TABLE, &[$((stringify!($accessor), <$Field as crate::fixed::FromWord>::OF)),*]);

        impl<L: crate::Layout> $Type<'_, L> {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $accessor(&self) -> Option<$Field> {
                    let (row, at) = const { crate::fixed::place(&$TABLE, stringify!($accessor)) };
                    self.$word(row).map(|word| crate::fixed::FromWord::from_word(word, at))
                }
            )*
        }
    };
}

/// Defines the accessors of the fields that trailers and samples have, and of more.
macro_rules! trailer_accessors {
    ($Type:ident $TABLE:ident: $($more:tt)*) => {
        crate::fixed::accessors! { $Type $TABLE by word:
            /// Returns the process id in the opener's pid namespace; `0xffffffff` if the process has
            /// none there, 0 for the idle task.
            pid: u32,
            /// Returns the thread id in the opener's pid namespace, as [`pid`](Self::pid).
            tid: u32,
            /// Returns when the record was written, in ns of the event's clock.
            time: u64,
            /// Returns the id of the opened event; an inherited copy reports its parent's.
            id: u64,
            /// Returns the id of the event, or of the inherited copy, that wrote the record.
            stream_id: u64,
            /// Returns the CPU that wrote the record.
            cpu: u32,
            /// Returns the same id as [`id`](Self::id), at an offset that does not depend on the
            /// layout: the first field of a sample, the last word of a trailer. Since Linux 3.12.
            identifier: u64,
            $($more)*
        }
    };
}

/// Defines the accessors of the head of a sample, and what is read from its header.
macro_rules! head_accessors {
    ($Type:ident) => {
        crate::fixed::trailer_accessors! { $Type HEAD:
            /// Returns the instruction pointer: the address of the instruction that caused the event if
            /// [`exact_ip`](Self::exact_ip) is set, else one near it.
            ip: u64,
            /// Returns the data address of the fault, the breakpoint or the sampled access; 0 if the
            /// event has none.
            addr: u64,
            /// Returns the number of events since the previous sample, in ns for the clocks.
            period: u64,
        }

        impl<'a, L: Layout> $Type<'a, L> {
            /// Returns whether [`ip`](Self::ip) is the instruction that caused the event. Since Linux
            /// 2.6.35.
            #[inline]
            pub fn exact_ip(&self) -> bool {
                self.misc().contains(perf_abi::Misc::EXACT_IP)
            }

            /// Returns the header's `misc` bits: the CPU mode, and whether the address is exact.
            #[inline]
            pub fn misc(&self) -> perf_abi::Misc {
                perf_abi::Header::from_word(self.words.first().copied().unwrap_or(0)).misc
            }

            /// Returns the whole record as words, the header first.
            #[inline]
            pub fn words(&self) -> &'a [u64] {
                self.words
            }

            /// Returns the layout that the record was validated against.
            #[inline]
            pub fn layout(&self) -> L {
                self.layout
            }

            /// Returns the fields that the event records in a sample.
            #[inline]
            pub fn sample_type(&self) -> perf_abi::SampleType {
                self.layout.sample_layout().sample_type()
            }
        }
    };
}

pub(crate) use {accessors, head_accessors, trailer_accessors};
