//! The fields of records as plain data.
//!
//! [`BODIES`] has one row for each record kind but samples. [`HEAD`], [`MEM`] and [`ADDR`] have one
//! for each word of fixed size in a sample, and [`TRAILER`] for those after the body of other
//! records. The decoder's check of the length, [`Record::fields`](crate::Record::fields), printing
//! and the swapping of byte orders follow from these tables, and the accessors of the views are
//! compared with them at compile time.
//!
//! ```
//! use perf_abi::RecordType;
//! use perf_decode::schema::{Body, FieldType};
//!
//! let body = Body::of(RecordType::COMM).unwrap();
//! assert_eq!(body.fields[2], ("comm", FieldType::Name));
//! ```

mod bodies;
pub(crate) mod words;

use perf_abi::{Misc, RecordType};

use crate::error::{Error, Result};
use crate::layout::SampleLayout;
use crate::word;
pub use bodies::BODIES;
pub use words::{Word, recorded};

/// Fields in the order of their bytes, by the name that the kernel's header or the perf tool gives
/// them.
///
/// Fields are contiguous, and only the last one can be of variable size.
pub type Fields = &'static [(&'static str, FieldType)];

/// The words of fixed size at the start of a sample, in order.
pub const HEAD: &[Word] = &words::HEAD;

/// The words of fixed size between the user stack and the interrupt registers of a sample, in
/// order.
pub const MEM: &[Word] = &words::MEM;

/// The words of fixed size between the interrupt registers and the AUX data of a sample, in order.
pub const ADDR: &[Word] = &words::ADDR;

/// The words of the trailer that every record but a sample has, in order.
pub const TRAILER: &[Word] = &words::TRAILER;

/// The body of a record kind: the bytes between the header and the trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Body {
    /// The kind of the records.
    pub kind: RecordType,
    /// The fields of a record. MMAP2 has others too.
    pub fields: Fields,
    /// The fields of an MMAP2 record that names its file by a build id; `None` for other kinds.
    pub fields_with_build_id: Option<Fields>,
    /// The position of the trailer.
    pub trailer: TrailerPosition,
}

/// The position of a record's trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrailerPosition {
    /// In the last words of the record. Words between body and trailer are fields of a newer
    /// kernel.
    AtEnd,
    /// After the body. When several events of a CPU get the same KSYMBOL, `BPF_EVENT` or
    /// `TEXT_POKE`, kernels before 7.3 make each copy longer than the one before by a trailer that
    /// is never written.
    AfterBody,
}

/// The width of a field and the meaning of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// A number of 2 bytes.
    U16,
    /// A number of 4 bytes.
    U32,
    /// A number of 8 bytes: a count, size, time or id.
    U64,
    /// An address, a mask or an offset of 8 bytes, which prints as hexadecimal.
    Hex,
    /// A process or thread, 4 bytes.
    Task,
    /// [`AuxFlags`](perf_abi::AuxFlags), 8 bytes.
    AuxFlags,
    /// [`KsymbolType`](perf_abi::KsymbolType), 2 bytes.
    KsymbolType,
    /// [`KsymbolFlags`](perf_abi::KsymbolFlags), 2 bytes.
    KsymbolFlags,
    /// [`BpfEventType`](perf_abi::BpfEventType), 2 bytes.
    BpfEventType,
    /// Bytes without a number in them, 8.
    Bytes8,
    /// The length of a build id in 1 byte, 3 reserved bytes, and 20 bytes that start with the id.
    BuildId,
    /// Bytes, as many as the two 2-byte numbers before them say together, padded to a word.
    Summed,
    /// A string with its NUL, padded to a word.
    Name,
    /// A count of 8 bytes, and as many words.
    Words,
    /// A count of 8 bytes, and as many [`NamespaceLink`](perf_abi::NamespaceLink)s.
    Namespaces,
    /// Counts in the event's `read_format`.
    Counts,
    /// [`Weight`](perf_abi::Weight), 8 bytes: one number, or three with `WEIGHT_STRUCT`.
    Weight,
    /// [`DataSource`](perf_abi::mem::DataSource), 8 bytes.
    DataSource,
    /// [`Transaction`](perf_abi::Transaction), 8 bytes.
    Transaction,
    /// 4 bytes that the kernel sets to 0, and that no view shows.
    Reserved,
}

impl FieldType {
    /// Returns the length in bytes. For a field of variable size it is the length of the count
    /// before the elements, if there is one.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Summed | Self::Name | Self::Counts => 0,
            Self::U16 | Self::KsymbolType | Self::KsymbolFlags | Self::BpfEventType => 2,
            Self::U32 | Self::Task | Self::Reserved => 4,
            Self::U64
            | Self::Hex
            | Self::AuxFlags
            | Self::Bytes8
            | Self::Words
            | Self::Namespaces
            | Self::Weight
            | Self::DataSource
            | Self::Transaction => 8,
            Self::BuildId => 24,
        }
    }

    /// Returns whether the size depends on the record. The elements follow the first
    /// [`size`](Self::size) bytes.
    #[must_use]
    pub const fn is_variable(self) -> bool {
        matches!(self, Self::Summed | Self::Name | Self::Words | Self::Namespaces | Self::Counts)
    }

    /// Returns whether the content is bytes, whose order is the same on all machines.
    #[must_use]
    pub const fn is_bytes(self) -> bool {
        matches!(self, Self::Bytes8 | Self::BuildId | Self::Summed | Self::Name)
    }
}

/// Bytes of a record's header.
pub(crate) const HEADER: usize = size_of::<perf_abi::Header>();

impl Body {
    /// Returns the body of a kind; `None` for a sample and for an unknown kind.
    #[expect(clippy::indexing_slicing, reason = "const fn: the condition bounds the index")]
    #[inline]
    #[must_use]
    pub const fn of(kind: RecordType) -> Option<&'static Self> {
        if kind.0 <= RecordType::LAST.0 { BODIES_BY_KIND[kind.0 as usize] } else { None }
    }

    /// Returns the fields of a record with these misc bits. [`Misc::MMAP_BUILD_ID`] is `asked` of
    /// an event that requested build ids ([`AttrFlags::BUILD_ID`](perf_abi::AttrFlags::BUILD_ID)),
    /// and empty for other events.
    ///
    /// Kernels before 7.3 also set that bit on records with inodes, of events that did not request
    /// build ids, if another event of the CPU did.
    #[inline]
    #[must_use]
    pub const fn fields_of(&self, misc: Misc, asked: Misc) -> Fields {
        match self.fields_with_build_id {
            Some(fields) if has_build_id(misc, asked) => fields,
            _ => self.fields,
        }
    }

    /// Returns the number of words of the header and of the part of the body that has the same size
    /// in all records.
    pub(crate) const fn fixed_words(&self) -> usize {
        word::words_for(fixed_end(self.fields, HEADER))
    }

    /// Returns the type of the last field if its size is variable.
    pub(crate) const fn variable(&self) -> Option<FieldType> {
        match self.fields.last() {
            Some((_, last)) if last.is_variable() => Some(*last),
            _ => None,
        }
    }

    /// Returns the number of words of the shortest record, without its trailer.
    pub(crate) const fn least_words(&self) -> usize {
        self.fixed_words() + matches!(self.variable(), Some(FieldType::Name)) as usize
    }

    /// Returns the number of words of the header and the body in `words`, the record without its
    /// trailer. More words can follow the body.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`], [`Unterminated`](Error::Unterminated) or [`Invalid`](Error::Invalid)
    /// name the malformed field.
    pub fn end(&self, words: &[u64], layout: &SampleLayout) -> Result<usize> {
        let misc = words.first().map_or(Misc::empty(), |&first| perf_abi::Header::from_word(first).misc);
        let fixed = self.fixed_words();
        let truncated = |field, needed, found| Error::truncated(self.kind, field, needed, found as u64);
        if words.len() < self.least_words() {
            let found = words.len().saturating_sub(1);
            return Err(truncated("body", self.least_words() as u64 - 1, found));
        }
        let (mut at, mut words_after) = (HEADER, 0);
        for &(name, field) in self.fields_of(misc, layout.build_id) {
            let needed = match field {
                FieldType::Words => u64_at(words, at),
                FieldType::Namespaces => u64_at(words, at).saturating_mul(2),
                FieldType::Counts => layout.read.words(u64_at(words, at)),
                FieldType::Summed => (word::words_for(at + sum_before(words, at)) - fixed) as u64,
                FieldType::Name => match word::text(words.get(fixed..).unwrap_or(&[])) {
                    Some(text) => word::words_for(text.len() + 1) as u64,
                    None => return Err(Error::Unterminated { kind: self.kind, field: name }),
                },
                FieldType::BuildId if build_id(words, at).is_none() => {
                    let [size] = array(words, at);
                    let (kind, field) = (self.kind, "build_id_size");
                    return Err(Error::Invalid { kind, field, value: u64::from(size) });
                }
                _ => 0,
            };
            let found = words.len().saturating_sub(fixed);
            if needed > found as u64 {
                return Err(truncated(name, needed, found));
            }
            // Not more than `found`.
            words_after = needed as usize;
            at += field.size();
        }
        Ok(fixed + words_after)
    }
}

/// Returns whether an MMAP2 record with these misc bits names its file by a build id: see
/// [`Body::fields_of`] for `asked`.
#[inline(always)]
pub(crate) const fn has_build_id(misc: Misc, asked: Misc) -> bool {
    misc.intersects(asked)
}

/// Returns the offset after the last field, without the elements of a field of variable size. The
/// first one is at `end`.
const fn fixed_end(mut fields: Fields, mut end: usize) -> usize {
    while let [(_, field), rest @ ..] = fields {
        end += field.size();
        fields = rest;
    }
    end
}

/// Returns the offset and the type of the field of an accessor. The first field is `at` this
/// offset.
pub(crate) const fn find(mut fields: Fields, mut at: usize, accessor: &str) -> Option<(usize, FieldType)> {
    while let [(name, field), rest @ ..] = fields {
        if is_accessor_of(accessor, name) {
            return Some((at, *field));
        }
        at += field.size();
        fields = rest;
    }
    None
}

/// Returns whether an accessor has the name of a field. A `time` in the body has the accessor
/// `own_time`, because `time` returns the time in the trailer.
pub(crate) const fn is_accessor_of(accessor: &str, field: &str) -> bool {
    equal(accessor, field) || equal(field, "time") && equal(accessor, "own_time")
}

const fn equal(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([first, a_rest @ ..], [other, b_rest @ ..]) = (a, b) {
        if *first != *other {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

/// Returns whether `field` is one of `types`.
pub(crate) const fn contains(mut types: &[FieldType], field: FieldType) -> bool {
    while let [one, rest @ ..] = types {
        if *one as u8 == field as u8 {
            return true;
        }
        types = rest;
    }
    false
}

/// Returns `N` bytes at an offset; zeros if the record is shorter.
#[inline(always)]
pub(crate) fn array<const N: usize>(words: &[u64], at: usize) -> [u8; N] {
    word::bytes(words).get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

/// Returns the number at an offset; 0 if the record is shorter.
#[inline(always)]
pub(crate) fn u64_at(words: &[u64], at: usize) -> u64 {
    u64::from_ne_bytes(array(words, at))
}

/// Returns the sum of the two 2-byte numbers before an offset.
#[inline(always)]
pub(crate) fn sum_before(words: &[u64], at: usize) -> usize {
    let [first, second] = [at.wrapping_sub(4), at.wrapping_sub(2)].map(|at| array(words, at));
    usize::from(u16::from_ne_bytes(first)) + usize::from(u16::from_ne_bytes(second))
}

/// Returns the build id in a field at an offset; `None` if its length is greater than 20.
#[inline(always)]
pub(crate) fn build_id(words: &[u64], at: usize) -> Option<&[u8]> {
    let field = word::bytes(words).get(at..at + FieldType::BuildId.size())?;
    let (&size, id) = field.split_first()?;
    id.get(3..)?.get(..usize::from(size))
}

/// The rows of [`BODIES`] by the number of their kind.
#[expect(clippy::indexing_slicing, reason = "a constant: a kind above `LAST` does not compile")]
static BODIES_BY_KIND: [Option<&Body>; RecordType::LAST.0 as usize + 1] = {
    let mut by_kind = [None; RecordType::LAST.0 as usize + 1];
    let mut rows = BODIES;
    while let [body, rest @ ..] = rows {
        by_kind[body.kind.0 as usize] = Some(body);
        rows = rest;
    }
    by_kind
};

// Every kind has a row whose fields are aligned as in C.
#[expect(clippy::indexing_slicing, reason = "a constant: an index out of bounds does not compile")]
const _: () = {
    let mut kinds = RecordType::ALL;
    while let [kind, rest @ ..] = kinds {
        match BODIES_BY_KIND[kind.0 as usize] {
            Some(body) => {
                check_fields(body.fields);
                if let Some(fields) = body.fields_with_build_id {
                    check_fields(fields);
                    let same = fixed_end(fields, HEADER) == fixed_end(body.fields, HEADER);
                    assert!(same, "schema: the two bodies of a kind differ in length");
                }
            }
            None => assert!(
                kind.0 == RecordType::SAMPLE.0,
                "schema: a kind of `RecordType` has no row in `schema/bodies.rs`"
            ),
        }
        kinds = rest;
    }
};

#[allow(dead_code, reason = "Rust 1.85 does not see uses in `const _`")]
const fn check_fields(mut fields: Fields) {
    let mut at = HEADER;
    while let [(_, field), rest @ ..] = fields {
        assert!(
            rest.is_empty() || !field.is_variable(),
            "schema: only the last field can be of variable size"
        );
        let alignment = match field {
            FieldType::Summed => 4,
            FieldType::BuildId => 8,
            other if other.size() == 0 => 8,
            other => other.size(),
        };
        assert!(at % alignment == 0, "schema: a field is not aligned as in C");
        at += field.size();
        fields = rest;
    }
}
