//! The accessors of the words of fixed size in samples, their heads and trailers, compared with the
//! rows of [`schema`](crate::schema).

use crate::schema::{FieldType, Word, contains, find};

/// Returns the row of the field of an accessor, its offset in the word and its type. For constants
/// only: a missing field does not compile.
#[expect(clippy::panic, clippy::indexing_slicing, reason = "fails to compile")]
pub(crate) const fn place(table: &[Word], accessor: &str) -> (usize, usize, FieldType) {
    let mut row = 0;
    while row < table.len() {
        if let Some((at, field)) = find(table[row].fields, 0, accessor) {
            return (row, at, field);
        }
        row += 1;
    }
    panic!("no row of the table has a field of this accessor's name")
}

/// Fails to compile if the accessors of a table differ from the fields in its rows.
#[allow(dead_code, reason = "Rust 1.85 does not see uses in `const _`")]
pub(crate) const fn check(mut table: &[Word], accessors: &[(&str, &[FieldType])]) {
    let mut rest = accessors;
    while let [(accessor, types), after @ ..] = rest {
        let (_, _, field) = place(table, accessor);
        assert!(contains(types, field), "the row has another type for the field of this accessor");
        rest = after;
    }
    // Each accessor has a field, and no two have the same name. So all fields have one if the
    // numbers are equal.
    let mut shown = 0;
    while let [row, after @ ..] = table {
        let mut fields = row.fields;
        while let [(_, field), others @ ..] = fields {
            shown += !matches!(field, FieldType::Reserved) as usize;
            fields = others;
        }
        table = after;
    }
    assert!(shown == accessors.len(), "a field of the rows in `schema/words.rs` has no accessor");
}

/// Defines the accessors of the fields of a table: each is `None` if the event does not record it.
///
/// The named method returns the word of a row. Any difference from the table does not
/// compile.
macro_rules! accessors {
    ($Type:ident $TABLE:ident by $word:ident: $($(#[$doc:meta])* $accessor:ident: $Field:ty,)*) => {
        const _: () =
            crate::fixed::check(&$TABLE, &[$((stringify!($accessor), <$Field as crate::number::Number>::OF)),*]);

        impl<L: crate::layout::Layout> $Type<'_, L> {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $accessor(&self) -> Option<$Field> {
                    let (row, at, _) = const { crate::fixed::place(&$TABLE, stringify!($accessor)) };
                    self.$word(row).map(|word| crate::number::Number::read(&[word], at))
                }
            )*
        }
    };
}

/// Defines the accessors of the fields that trailers and samples have, and of more.
macro_rules! trailer_accessors {
    ($Type:ident $TABLE:ident: $($more:tt)*) => {
        crate::fixed::accessors! { $Type $TABLE by word:
            /// Returns the process id in the opener's pid namespace; `0xffffffff` if the process
            /// has none there, 0 for the idle task.
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

/// Defines the accessors of the head of a sample and of its header.
macro_rules! head_accessors {
    ($Type:ident) => {
        crate::fixed::trailer_accessors! { $Type HEAD:
            /// Returns the instruction pointer: the address of the instruction that caused the
            /// event if [`exact_ip`](Self::exact_ip) is set, else one near it.
            ip: u64,
            /// Returns the data address of the fault, the breakpoint or the sampled access; 0 for
            /// other events.
            addr: u64,
            /// Returns the number of events since the previous sample, in ns for the clocks.
            period: u64,
        }

        impl<'a, L: Layout> $Type<'a, L> {
            /// Returns whether [`ip`](Self::ip) is the instruction that caused the event. Since
            /// Linux 2.6.35.
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
