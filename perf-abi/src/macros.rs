//! The macros that declare this crate's numbers, flags and layouts.
//!
//! They save repetition only: the expansion of each is shown above it.

/// Declares a kernel number: a newtype with a constant for each value known today.
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
/// #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)] // zerocopy's with the feature
/// pub struct EventType(pub u32);
///
/// impl EventType {
///     #[doc(alias = "PERF_TYPE_HARDWARE")]
///     pub const HARDWARE: Self = Self(0);
///     pub const ALL: &'static [Self] = &[Self::HARDWARE];
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
        #[cfg_attr(feature = "zerocopy-08", derive(zerocopy::FromBytes, zerocopy::IntoBytes))]
        #[cfg_attr(feature = "zerocopy-08", derive(zerocopy::Immutable, zerocopy::KnownLayout))]
        pub struct $Name(pub $int);

        impl crate::zero::Zero for $Name {
            const ZERO: Self = Self(0);
        }

        impl $Name {
            $($(#[$const_meta])* #[doc(alias = $c_name)] pub const $CONST: Self = Self($value);)*

            /// Every constant above, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$CONST),*];

            /// Returns the name of the constant; `None` if this crate has none for the value.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$CONST => Some(stringify!($CONST)),)*
                    _ => None,
                }
            }

            /// Every constant by its name in C, for the comparisons in `headers`.
            #[cfg(test)]
            #[allow(clippy::cast_lossless, reason = "`from` is not const")]
            pub(crate) const C_NAMES: &'static [(&'static str, i128)] = &[$(($c_name, Self::$CONST.0 as i128)),*];
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

/// Declares a word of kernel flags that keeps and prints bits without a name.
///
/// ```text
/// bit_set! {
///     /// Doc of the type.
///     pub struct AuxFlags(u64) {
///         /// Doc of the flag.
///         "PERF_AUX_FLAG_TRUNCATED" TRUNCATED = 1, since (4, 1);
///     }
///     // Optional: runs of bits that hold a number and print as `format=3`.
///     numbers { "format": Self::PMU_FORMAT_MASK }
/// }
/// ```
///
/// expands to what [`flag_word!`] declares, and
///
/// ```text
/// impl AuxFlags {
///     pub const SINCE: &'static [(Self, Release)] = &[(Self::TRUNCATED, Release(4, 1, 0))];
///     pub fn since(self) -> Option<Release> { /* Some(Release(4, 1, 0)) */ }
/// }
/// // Debug and Display: `TRUNCATED|format=3|0x80`, or `0x0` if empty.
/// ```
macro_rules! bit_set {
    ($(#[$meta:meta])* pub struct $Name:ident($int:ty) {
        $($(#[$attr:ident $($attr_args:tt)*])* $c_name:literal $FLAG:ident = $value:expr
            $(, since ($major:literal, $minor:literal $(, $patch:literal)?))?;)*
    } $(numbers { $($label:literal: $mask:expr),* $(,)? })?) => {
        flag_word! {
            $(#[$meta])*
            pub struct $Name($int) {
                $($(#[$attr $($attr_args)*])* $c_name $FLAG = $value
                    $(, since ($major, $minor $(, $patch)?))?;)*
            }
            $(numbers { $($mask),* })?
        }

        impl $Name {
            /// The flags with the first release of Linux that has each, in order of declaration.
            pub const SINCE: &'static [(Self, crate::Release)] =
                &[$($((Self::$FLAG, crate::Release($major, $minor, 0 $(+ $patch)?)),)?)*];

            /// Returns the first release of Linux that has this flag; `None` for several flags, and
            /// for bits that this crate does not know.
            pub fn since(self) -> Option<crate::Release> {
                Self::SINCE.iter().find(|(flag, _)| *flag == self).map(|(_, release)| *release)
            }
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

/// Declares a word of kernel flags without `Debug` and `Display`, see [`bit_set!`].
///
/// ```text
/// flag_word! {
///     /// Doc of the type.
///     pub struct AuxFlags(u64) {
///         /// Doc of the flag.
///         "PERF_AUX_FLAG_TRUNCATED" TRUNCATED = 1, since (4, 1); // optional: the first release
///     }
///     numbers { Self::PMU_FORMAT_MASK }
/// }
/// ```
///
/// expands to
///
/// ```text
/// #[repr(transparent)]
/// #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)] // zerocopy's with the feature
/// pub struct AuxFlags(pub u64);
///
/// bitflags::bitflags! {
///     impl AuxFlags: u64 {
///         /// Doc of the flag.
///         ///
///         /// Since Linux 4.1.
///         #[doc(alias = "PERF_AUX_FLAG_TRUNCATED")]
///         const TRUNCATED = 1;
///         const _ = !0;
///     }
/// }
///
/// impl AuxFlags {
///     pub const KNOWN: Self = Self(Self::TRUNCATED.0 | Self::PMU_FORMAT_MASK);
/// }
/// ```
macro_rules! flag_word {
    ($(#[$meta:meta])* pub struct $Name:ident($int:ty) {
        $($(#[$attr:ident $($attr_args:tt)*])* $c_name:literal $FLAG:ident = $value:expr
            $(, since ($major:literal, $minor:literal $(, $patch:literal)?))?;)*
    } $(numbers { $($mask:expr),* $(,)? })?) => {
        $(#[$meta])*
        ///
        /// [`all`](Self::all) has every bit set, also those that no kernel knows; [`KNOWN`](Self::KNOWN) has those with a name here.
        #[repr(transparent)]
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[cfg_attr(feature = "zerocopy-08", derive(zerocopy::FromBytes, zerocopy::IntoBytes))]
        #[cfg_attr(feature = "zerocopy-08", derive(zerocopy::Immutable, zerocopy::KnownLayout))]
        pub struct $Name(pub $int);

        impl crate::zero::Zero for $Name {
            const ZERO: Self = Self(0);
        }

        bitflags::bitflags! {
            impl $Name: $int {
                $(
                    $(#[$attr $($attr_args)*])*
                    $(#[doc = concat!("\n\nSince Linux ", $major, ".", $minor $(, ".", $patch)?, ".")])?
                    #[doc(alias = $c_name)]
                    const $FLAG = $value;
                )*
                // A newer kernel may define any of the other bits: `all` and `from_bits` accept
                // them.
                const _ = !0;
            }
        }

        impl $Name {
            /// Every bit that has a name here: the union of the flags above and of the numbers
            /// beside them.
            ///
            /// Unlike `all`, which has every bit set: `bits.difference(Self::KNOWN)` are the bits
            /// that this crate does not know.
            pub const KNOWN: Self = Self(0 $(| Self::$FLAG.0)* $($(| $mask)*)?);

            /// Every flag by its name in C, for the comparisons in `headers`.
            #[cfg(test)]
            #[allow(clippy::cast_lossless, reason = "`from` is not const")]
            pub(crate) const C_NAMES: &'static [(&'static str, i128)] = &[$(($c_name, Self::$FLAG.0 as i128)),*];
        }
    };
}

/// Asserts the kernel's size and offsets of a struct at compile time.
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
///
/// `layout!(new Header, ...)` also declares the constructor of a struct that is `non_exhaustive`:
///
/// ```text
/// impl Header {
///     pub const fn new() -> Self { /* all fields 0 */ }
/// }
/// ```
macro_rules! layout {
    (new $Name:ident, $size:literal { $($field:ident: $offset:literal),* $(,)? }) => {
        layout!($Name, $size { $($field: $offset),* });

        impl $Name {
            /// Returns the struct with all fields 0.
            ///
            /// The fields are public: set those that the kernel reads. A later version may add fields of a newer kernel, which
            /// are 0 then.
            #[allow(clippy::new_without_default)] // those that are large have none
            pub const fn new() -> Self {
                Self { $($field: crate::zero::Zero::ZERO),* }
            }
        }
    };
    ($Name:ident, $size:literal { $($field:ident: $offset:literal),* $(,)? }) => {
        const _: () = {
            assert!(size_of::<$Name>() == $size);
            $(assert!(core::mem::offset_of!($Name, $field) == $offset);)*
        };
    };
}
