//! The byte order of a file.

/// The order of the bytes of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first: x86, `AArch64`, RISC-V, `ppc64le`.
    Little,
    /// Most significant byte first: s390x, `ppc64`.
    Big,
}

impl ByteOrder {
    /// The byte order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };

    /// Returns whether this is the byte order of this machine.
    #[inline]
    pub const fn is_native(self) -> bool {
        matches!((self, Self::NATIVE), (Self::Little, Self::Little) | (Self::Big, Self::Big))
    }

    /// Returns the other byte order.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Little => Self::Big,
            Self::Big => Self::Little,
        }
    }

    /// Returns the number in two bytes of this order.
    #[inline]
    pub const fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    /// Returns the number in four bytes of this order.
    #[inline]
    pub const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// Returns the number in eight bytes of this order.
    #[inline]
    pub const fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }
}
