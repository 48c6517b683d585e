//! The layout of `perf.data` files: magic numbers, headers, numbers of features and of the records
//! that tools write.
//!
//! Structs and numbers are in the byte order of the machine that recorded the file.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Declares a number of the format that newer tools may extend: a type with a constant and a name
/// for each known value.
macro_rules! named_numbers {
    ($(#[$meta:meta])* pub struct $Name:ident($number:ty);
        $($(#[$doc:meta])* $c_name:literal $CONST:ident = $value:literal;)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $Name(pub $number);

        impl $Name {
            $($(#[$doc])* #[doc(alias = $c_name)] pub const $CONST: Self = Self($value);)*

            /// The values that this crate knows, by number.
            pub const ALL: &[Self] = &[$(Self::$CONST),*];

            /// Returns the name of the constant; `None` if the value is unknown.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$CONST => Some(stringify!($CONST)),)*
                    _ => None,
                }
            }
        }

        impl core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => write!(f, "{}({})", stringify!($Name), self.0),
                }
            }
        }
    };
}

mod feature;
pub mod record_type;
mod record_values;

pub use feature::{Feature, FeatureSet};
pub use record_values::{AuxtraceType, StatRoundType, StatTag};

/// The first 8 bytes of a file as a number of the machine that recorded it: `PERFILE2` on a
/// little-endian machine, `2ELIFREP` on a big-endian one.
///
/// A reader that finds [`MAGIC_SWAPPED`] has the other byte order.
#[doc(alias = "PERF_MAGIC")]
pub const MAGIC: u64 = 0x3245_4c49_4652_4550;

/// [`MAGIC`] of a file from a machine of the other byte order.
pub const MAGIC_SWAPPED: u64 = MAGIC.swap_bytes();

/// The first 8 bytes of a file of version 1, written before Linux 3.1, in text order. They do not
/// show the byte order, but [`RawFileHeader::attr_size`] does.
pub const MAGIC_VERSION_1: [u8; 8] = *b"PERFFILE";

/// A part of a file.
#[doc(alias = "perf_file_section")]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Section {
    /// Start in bytes from the start of the file.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
}

impl Section {
    /// Returns the offset of the first byte after the section; `None` if it overflows.
    pub const fn end(self) -> Option<u64> {
        self.offset.checked_add(self.size)
    }

    /// Returns whether two sections have a byte in common.
    pub(crate) const fn overlaps(self, other: Self) -> bool {
        self.size > 0
            && other.size > 0
            && self.offset < other.offset.saturating_add(other.size)
            && other.offset < self.offset.saturating_add(self.size)
    }
}

/// The header of the file form.
#[doc(alias = "perf_file_header")]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct RawFileHeader {
    /// The constant [`MAGIC`].
    pub magic: u64,
    /// Bytes of this header: [`RawFileHeader::SIZE`], or [`RawFileHeader::SIZE_WITHOUT_FEATURES`]
    /// in files of version 1.
    pub size: u64,
    /// Bytes of one entry of the section `attrs`: the attr and the [`Section`] of its
    /// ids, which follows it.
    pub attr_size: u64,
    /// The events: attrs, each followed by the [`Section`] of its ids.
    pub attrs: Section,
    /// The records. A size of 0 marks an interrupted recording: the records extend to the end of
    /// the file, without features after them.
    pub data: Section,
    /// Obsolete, ignored.
    pub event_types: Section,
    /// The feature sections. Their table follows the section `data`.
    #[doc(alias = "adds_features")]
    pub features: FeatureSet,
}

impl RawFileHeader {
    /// Bytes of the header.
    pub const SIZE: u64 = 104;
    /// Bytes of the header before files had features.
    pub const SIZE_WITHOUT_FEATURES: u64 = 72;
}

/// The header of the pipe form. Records follow it.
#[doc(alias = "perf_pipe_file_header")]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct RawPipeHeader {
    /// The constant [`MAGIC`].
    pub magic: u64,
    /// [`RawPipeHeader::SIZE`], which distinguishes this header from [`RawFileHeader`].
    pub size: u64,
}

impl RawPipeHeader {
    /// Bytes of the header.
    pub const SIZE: u64 = 16;
}

const _: () = assert!(size_of::<RawFileHeader>() as u64 == RawFileHeader::SIZE);
const _: () = assert!(size_of::<RawPipeHeader>() as u64 == RawPipeHeader::SIZE);

/// `type` of [`Feature::COMPRESSED`] for zstd, the only compression of this format.
#[doc(alias = "PERF_COMP_ZSTD")]
pub const COMPRESSION_ZSTD: u32 = 1;
