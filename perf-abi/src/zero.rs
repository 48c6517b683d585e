//! Zeros for the constructors of structs, see [`layout!`].

/// A type of fields of the kernel's structs. `Default` cannot be called in constants.
pub(crate) trait Zero {
    /// All bytes 0.
    const ZERO: Self;
}

macro_rules! zeros {
    ($($int:ty)*) => {$(
        impl Zero for $int {
            const ZERO: Self = 0;
        }

        impl<const N: usize> Zero for [$int; N] {
            const ZERO: Self = [0; N];
        }
    )*};
}
zeros! { u8 u16 u32 u64 i32 i64 }
