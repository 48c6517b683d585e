//! The three macros that every declaration of this crate is written with.
//!
//! They save typing, never thinking: each one's expansion is shown above it.

/// A kernel number with names for the values known today.
///
/// ```text
/// open_enum! {
///     /// Doc of the type.
///     #[doc(alias = "perf_type_id")]
///     pub struct EventType(u32) {
///         /// Doc of the constant.
///         "PERF_TYPE_HARDWARE" HARDWARE = 0;
///     }
/// }
/// ```
///
/// expands to
///
/// ```text
/// #[repr(transparent)]
/// #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, /* zerocopy */)]
/// pub struct EventType(pub u32);
///
/// impl EventType {
///     #[doc(alias = "PERF_TYPE_HARDWARE")]
///     pub const HARDWARE: Self = Self(0);
///     pub const C_NAMES: &'static [(&'static str, u32)] = &[("PERF_TYPE_HARDWARE", 0)];
///     pub const fn name(self) -> Option<&'static str> { /* "HARDWARE" */ }
/// }
/// // Debug and Display: `HARDWARE`, or `EventType(77)` for a value without a name.
/// ```
macro_rules! open_enum {
    ($(#[$meta:meta])* pub struct $Name:ident($int:ty) {
        $($(#[$const_meta:meta])* $c_name:literal $CONST:ident = $value:expr;)*
    }) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]
        pub struct $Name(pub $int);

        impl $Name {
            $($(#[$const_meta])* #[doc(alias = $c_name)] pub const $CONST: Self = Self($value);)*

            /// Every constant above by its name in the kernel's header.
            pub const C_NAMES: &'static [(&'static str, $int)] = &[$(($c_name, $value)),*];

            /// The name of the constant; `None` if this value is newer than this crate.
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
                    None => write!(f, concat!(stringify!($Name), "({})"), self.0),
                }
            }
        }

        impl core::fmt::Display for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(self, f)
            }
        }
    };
}

/// A word of kernel flags; bits without a name are kept and printed.
///
/// ```text
/// bit_set! {
///     /// Doc of the type.
///     pub struct AuxFlags(u64) {
///         /// Doc of the flag.
///         "PERF_AUX_FLAG_TRUNCATED" TRUNCATED = 1;
///     }
///     // Optional: runs of bits that are one number and print as `format=3`.
///     numbers { "format": Self::PMU_FORMAT_MASK }
/// }
/// ```
///
/// expands to
///
/// ```text
/// #[repr(transparent)]
/// #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, /* zerocopy */)]
/// pub struct AuxFlags(u64);
///
/// bitflags::bitflags! {
///     impl AuxFlags: u64 {
///         #[doc(alias = "PERF_AUX_FLAG_TRUNCATED")]
///         const TRUNCATED = 1;
///         const _ = !0;
///     }
/// }
///
/// impl AuxFlags {
///     pub const C_NAMES: &'static [(&'static str, u64)] = &[("PERF_AUX_FLAG_TRUNCATED", 1)];
/// }
/// // Debug and Display: `TRUNCATED|format=3|0x80`, or `0x0` if empty.
/// ```
macro_rules! bit_set {
    ($(#[$meta:meta])* pub struct $Name:ident($int:ty) {
        $($(#[$attr:ident $($attr_args:tt)*])* $c_name:literal $FLAG:ident = $value:expr;)*
    } $(numbers { $($label:literal: $mask:expr),* $(,)? })?) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]
        pub struct $Name($int);

        bitflags::bitflags! {
            impl $Name: $int {
                $($(#[$attr $($attr_args)*])* #[doc(alias = $c_name)] const $FLAG = $value;)*
                // The source of the bits is the kernel: all of them may be valid one day.
                const _ = !0;
            }
        }

        impl $Name {
            /// Every flag above by its name in the kernel's header.
            pub const C_NAMES: &'static [(&'static str, $int)] = &[$(($c_name, $value)),*];

            /// All flags above: the bits that this crate knows.
            pub const KNOWN: Self = Self::empty()$(.union(Self::$FLAG))*;
        }

        impl core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let names = [$((stringify!($FLAG), u64::from(Self::$FLAG.bits()))),*];
                crate::bits::write_bits(f, u64::from(self.bits()), &names, &[$($(($label, $mask)),*)?])
            }
        }

        impl core::fmt::Display for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(self, f)
            }
        }
    };
}

/// Holds a struct to the kernel's layout while it is compiled.
///
/// ```text
/// layout!(Header, 8 { kind: 0, misc: 4, size: 6 });
/// ```
///
/// expands to
///
/// ```text
/// const _: () = {
///     assert!(size_of::<Header>() == 8);
///     assert!(core::mem::offset_of!(Header, kind) == 0);
///     assert!(core::mem::offset_of!(Header, misc) == 4);
///     assert!(core::mem::offset_of!(Header, size) == 6);
/// };
/// ```
macro_rules! layout {
    ($Name:ident, $size:literal { $($field:ident: $offset:literal),* $(,)? }) => {
        const _: () = {
            assert!(size_of::<$Name>() == $size);
            $(assert!(core::mem::offset_of!($Name, $field) == $offset);)*
        };
    };
}
