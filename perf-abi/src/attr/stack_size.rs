//! The size of the sampled user stack.

/// The size of a sampled user stack that the kernel accepts: a multiple of 8 from 8 to 65528 bytes.
///
/// ```
/// use perf_abi::StackSize;
///
/// assert_eq!(StackSize::new(16384).map(StackSize::bytes), Some(16384));
/// assert_eq!(StackSize::new(100), None);
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StackSize(u16);

impl StackSize {
    /// 8192 bytes, the size that `perf record --call-graph dwarf` samples by default.
    pub const DEFAULT: Self = Self(8192);

    /// 65528 bytes, the most that a record can have; the kernel samples less where the other fields
    /// of the record need the space.
    pub const MAX: Self = Self(u16::MAX - u16::MAX % 8);

    /// Returns the size; `None` if `bytes` is 0, above [`MAX`](Self::MAX) or not a multiple of 8.
    ///
    /// The kernel fails with `EINVAL` for the latter two. It accepts 0, but then writes one word
    /// more than it reserves, so the last 8 bytes of the sample are lost.
    pub const fn new(bytes: u32) -> Option<Self> {
        if bytes == 0 || bytes > Self::MAX.bytes() || bytes % 8 != 0 {
            return None;
        }
        Some(Self(bytes as u16))
    }

    /// Returns the size in bytes.
    pub const fn bytes(self) -> u32 {
        self.0 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_multiples_of_eight_that_the_kernel_accepts() {
        let accepted = (0..=1 << 17).filter(|&bytes| StackSize::new(bytes).is_some());
        assert!(accepted.eq((8..=65528).step_by(8)));
        assert_eq!(StackSize::new(1 << 16 | 8), None);
        assert_eq!((StackSize::MAX.bytes(), StackSize::DEFAULT.bytes()), (65528, 8192));
    }
}
