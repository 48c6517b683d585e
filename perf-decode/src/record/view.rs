//! The memory layout that the views of all records but samples share, and the macro that defines a
//! view.

use perf_abi::{Header, Misc, NamespaceLink, ReadFormat, RecordType};

use crate::entries::Entries;
use crate::layout::Layout;
use crate::number::Number;
use crate::read::ReadValues;
use crate::sample_id::SampleId;
use crate::schema;
use crate::schema::{Body, FieldType, Fields, HEADER, contains, find, is_accessor_of, u64_at};
use crate::word;

/// A validated record: its words, its layout and its header.
///
/// Holding one proves that the record has its header and body, `WORDS` words at least, and that
/// `words` end in the trailer of the layout. Accessors are total: their fallbacks for missing words
/// are never taken.
///
/// All kinds have the same fields, in whole words, so that a [`Record`](crate::Record) is moved and
/// matched on without being repacked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct View<'a, L, const WORDS: usize> {
    words: &'a [u64],
    layout: L,
    header: u64,
}

impl<'a, L, const WORDS: usize> View<'a, L, WORDS> {
    /// Views words that were validated.
    #[inline(always)]
    pub(super) fn new(words: &'a [u64], layout: L, header: u64) -> Self {
        Self { words, layout, header }
    }

    /// Returns the header and the fixed part of the body: one bounds check for all fields in it.
    #[inline(always)]
    fn fixed(&self) -> &'a [u64; WORDS] {
        self.words.first_chunk().unwrap_or(const { &[0; WORDS] })
    }

    pub(super) fn words(&self) -> &'a [u64] {
        self.words
    }

    #[inline(always)]
    pub(super) fn header(&self) -> Header {
        Header::from_word(self.header)
    }

    #[inline(always)]
    pub(super) fn misc(&self) -> Misc {
        self.header().misc
    }
}

impl<'a, L: Layout, const WORDS: usize> View<'a, L, WORDS> {
    /// Returns the view without its kind's fixed part.
    #[inline(always)]
    pub(super) fn common(self) -> View<'a, L, 1> {
        View { words: self.words, layout: self.layout, header: self.header }
    }

    /// Returns the field at a constant place.
    #[inline(always)]
    pub(super) fn get<T: Accessor<'a>>(&self, place: Place) -> T {
        T::get(self.common(), self.fixed(), place)
    }

    /// Returns the `read_format` of the event.
    pub(super) fn read_format(&self) -> ReadFormat {
        self.layout.sample_layout().read_format()
    }

    #[inline(always)]
    pub(super) fn sample_id(&self) -> SampleId<'a, L> {
        SampleId::new(self.words, self.layout)
    }

    /// Returns the number of 8 bytes at an offset.
    #[inline(always)]
    pub(super) fn at(&self, offset: Option<usize>) -> Option<u64> {
        offset.map(|at| u64_at(self.fixed(), at))
    }
}

impl<'a, L: Layout> View<'a, L, 1> {
    /// Returns the words before the trailer, from the one on that has this offset.
    #[inline(always)]
    fn tail(&self, at: usize) -> &'a [u64] {
        let end = self.words.len().wrapping_sub(usize::from(self.layout.sample_layout().trailer_words));
        self.words.get(..end).and_then(|words| words.get(at / 8..)).unwrap_or_else(word::none)
    }

    /// Returns the field of a row at an offset as any accessor would.
    pub(super) fn get_at<T: Accessor<'a>>(self, field: FieldType, at: usize) -> T {
        T::get(self, self.words, Place { field, at, with_build_id: None })
    }

    /// Returns the fields that this record has.
    pub(super) fn fields(&self, body: &Body) -> Fields {
        body.fields_of(self.misc(), self.layout.sample_layout().build_id)
    }

    /// Returns the number of bytes that no field and no trailer claims.
    pub(super) fn trailing_len(&self, body: &Body) -> usize {
        let after_trailer = usize::from(self.header().size).saturating_sub(self.words.len() * 8);
        let before_trailer = self.tail(0);
        let end = body.end(before_trailer, self.layout.sample_layout()).unwrap_or(usize::MAX);
        after_trailer + before_trailer.len().saturating_sub(end) * 8
    }
}

/// The place of a field in the records of a kind.
#[derive(Clone, Copy)]
pub(super) struct Place {
    field: FieldType,
    /// Offset in bytes from the start of the record.
    at: usize,
    /// For a field that not all records of the kind have: whether those with a build id have it.
    with_build_id: Option<bool>,
}

/// A type in which accessors return fields.
pub(super) trait Accessor<'a>: Sized {
    /// The types of the fields.
    const OF: &'static [FieldType];
    /// Whether some records of the kind do not have the field.
    const IS_OPTIONAL: bool = false;

    /// Returns the field at a place; `fixed` is the record, or its fixed part.
    fn get<L: Layout>(view: View<'a, L, 1>, fixed: &'a [u64], place: Place) -> Self;
}

impl<'a, T: Number> Accessor<'a> for T {
    const OF: &'static [FieldType] = T::OF;

    #[inline(always)]
    fn get<L: Layout>(_: View<'a, L, 1>, fixed: &'a [u64], place: Place) -> Self {
        T::read(fixed, place.at)
    }
}

impl<'a> Accessor<'a> for &'a [u8] {
    const OF: &'static [FieldType] =
        &[FieldType::Bytes8, FieldType::BuildId, FieldType::Summed, FieldType::Name];

    #[inline(always)]
    fn get<L: Layout>(view: View<'a, L, 1>, fixed: &'a [u64], Place { field, at, .. }: Place) -> Self {
        let bytes = match field {
            FieldType::Name => word::text(view.tail(at)),
            FieldType::BuildId => schema::build_id(fixed, at),
            FieldType::Summed => word::bytes(view.words).get(at..at + schema::sum_before(fixed, at)),
            _ => word::bytes(fixed).get(at..at + field.size()),
        };
        bytes.unwrap_or(&[])
    }
}

impl<'a> Accessor<'a> for &'a [u64] {
    const OF: &'static [FieldType] = &[FieldType::Words];

    #[inline(always)]
    fn get<L: Layout>(view: View<'a, L, 1>, fixed: &'a [u64], Place { at, .. }: Place) -> Self {
        view.tail(at + 8).get(..u64_at(fixed, at) as usize).unwrap_or(&[])
    }
}

impl<'a> Accessor<'a> for Entries<'a, NamespaceLink, 2> {
    const OF: &'static [FieldType] = &[FieldType::Namespaces];

    #[inline(always)]
    fn get<L: Layout>(view: View<'a, L, 1>, fixed: &'a [u64], Place { at, .. }: Place) -> Self {
        Entries::prefix(view.tail(at + 8), u64_at(fixed, at) as usize)
    }
}

impl<'a> Accessor<'a> for ReadValues<'a> {
    const OF: &'static [FieldType] = &[FieldType::Counts];

    #[inline(always)]
    fn get<L: Layout>(view: View<'a, L, 1>, _: &'a [u64], Place { at, .. }: Place) -> Self {
        ReadValues::first_of(view.tail(at), view.layout.sample_layout().read)
    }
}

impl<'a, T: Accessor<'a>> Accessor<'a> for Option<T> {
    const OF: &'static [FieldType] = T::OF;
    const IS_OPTIONAL: bool = true;

    #[inline(always)]
    fn get<L: Layout>(view: View<'a, L, 1>, fixed: &'a [u64], place: Place) -> Self {
        let has_build_id = schema::has_build_id(view.misc(), view.layout.sample_layout().build_id);
        (place.with_build_id == Some(has_build_id)).then(|| T::get(view, fixed, place))
    }
}

/// Returns the row of a kind. For constants only: a missing row does not compile.
#[expect(clippy::panic, reason = "fails to compile")]
pub(super) const fn row(kind: RecordType) -> &'static Body {
    match Body::of(kind) {
        Some(body) => body,
        None => panic!("this kind has no row in `schema/bodies.rs`"),
    }
}

/// Returns the place of the field of an accessor. For constants only: a missing field does not
/// compile.
#[expect(clippy::panic, reason = "fails to compile")]
pub(super) const fn place(body: &Body, accessor: &str) -> Place {
    let plain = find(body.fields, HEADER, accessor);
    let other = match body.fields_with_build_id {
        Some(fields) => find(fields, HEADER, accessor),
        None => plain,
    };
    let ((at, field), with_build_id) = match (plain, other) {
        (Some(found), Some(_)) => (found, None),
        (Some(found), None) => (found, Some(false)),
        (None, Some(found)) => (found, Some(true)),
        (None, None) => panic!("the row has no field of this accessor's name"),
    };
    Place { field, at, with_build_id }
}

/// The accessors of a view: name, types of fields that can be returned, and whether it is an
/// `Option`.
pub(super) type Accessors = &'static [(&'static str, &'static [FieldType], bool)];

/// Fails to compile if the accessors of a view differ from the fields in its row.
pub(super) const fn check(body: &Body, accessors: Accessors) {
    let mut rest = accessors;
    while let [(name, types, is_optional), after @ ..] = rest {
        let place = place(body, name);
        assert!(contains(types, place.field), "the row has another type for the field of this accessor");
        assert!(
            *is_optional == place.with_build_id.is_some(),
            "an accessor must be an `Option` if not all records of the kind have the field, and only then"
        );
        rest = after;
    }
    check_all_read(body.fields, accessors);
    if let Some(fields) = body.fields_with_build_id {
        check_all_read(fields, accessors);
    }
}

const fn check_all_read(mut fields: Fields, accessors: Accessors) {
    while let [(field, _), rest @ ..] = fields {
        let mut candidates = accessors;
        while let [(accessor, ..), after @ ..] = candidates {
            if is_accessor_of(accessor, field) {
                break;
            }
            candidates = after;
        }
        assert!(!candidates.is_empty(), "a field of the row has no accessor in the view");
        fields = rest;
    }
}

/// Returns the offset of the time in a body.
pub(super) const fn time_in(body: &Body) -> Option<usize> {
    match find(body.fields, HEADER, "time") {
        Some((at, _)) => Some(at),
        None => None,
    }
}

/// Defines the view of one record kind.
///
/// ```text
/// view! {
///     /// The first line says when the kernel writes the record.
///     Comm of COMM {
///         /// The documentation of the accessor.
///         pid: u32,
///         ...
///     } and exec
/// }
/// ```
///
/// expands to the struct, its accessors, and what all views have: `misc`, `time`, `sample_id`,
/// `Debug` and `Display`. The accessors must match the fields in the kind's row of
/// `schema/bodies.rs`; any difference does not compile. After `and` are hand-written accessors.
/// `Debug` calls them too, because the fuzz targets and the proof of no panic call all accessors by
/// it.
macro_rules! view {
    (
        $(#[$meta:meta])*
        $Name:ident of $KIND:ident {
            $($(#[$doc:meta])* $accessor:ident: $Type:ty,)*
        }
        $(and $($more:ident),+)?
    ) => {
        const BODY: &crate::schema::Body = super::view::row(perf_abi::RecordType::$KIND);

        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $Name<'a, L = &'a crate::layout::SampleLayout>(
            pub(super) super::view::View<'a, L, { BODY.fixed_words() }>,
        );

        const _: () = assert!(size_of::<$Name<'_>>() <= 32);
        // A constant in a generic function is evaluated only if the function is used.
        const _: () = <$Name<'_>>::CHECK;

        impl<'a> $Name<'a> {
            #[allow(dead_code, reason = "Rust 1.85 does not see uses in `const _`")]
            pub(super) const KIND: perf_abi::RecordType = BODY.kind;
            #[allow(dead_code, reason = "as above")]
            const CHECK: () = {
                #[allow(unused_imports, reason = "a view can have no accessors")]
                use super::view::Accessor;
                super::view::check(
                    BODY,
                    &[$((stringify!($accessor), <$Type as Accessor<'a>>::OF, <$Type as Accessor<'a>>::IS_OPTIONAL)),*],
                );
            };
        }

        #[allow(clippy::len_without_is_empty, reason = "`len` is a field of some records")]
        impl<'a, L: crate::layout::Layout> $Name<'a, L> {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $accessor(&self) -> $Type {
                    self.0.get(const { super::view::place(BODY, stringify!($accessor)) })
                }
            )*

            /// Returns the header's `misc` bits.
            #[inline]
            pub fn misc(&self) -> perf_abi::Misc {
                self.0.misc()
            }

            /// Returns when the record was written, in ns of the event's clock: the time in the
            /// trailer, or else the one in the body if the kind has one.
            #[inline]
            pub fn time(&self) -> Option<u64> {
                match self.sample_id().time() {
                    None => self.time_in_body(),
                    time => time,
                }
            }

            /// Returns the trailer: the event that wrote the record, the time, the task and the
            /// CPU.
            #[inline]
            pub fn sample_id(&self) -> crate::sample_id::SampleId<'a, L> {
                self.0.sample_id()
            }

            #[inline(always)]
            pub(super) fn time_in_body(&self) -> Option<u64> {
                self.0.at(const { super::view::time_in(BODY) })
            }
        }

        impl<L: crate::layout::Layout> core::fmt::Debug for $Name<'_, L> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($Name))
                    $(.field(stringify!($accessor), &self.$accessor()))*
                    $($(.field(stringify!($more), &self.$more()))+)?
                    .finish()
            }
        }

        impl<L: crate::layout::Layout> core::fmt::Display for $Name<'_, L> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&super::Record::$Name(*self), f)
            }
        }
    };
}
