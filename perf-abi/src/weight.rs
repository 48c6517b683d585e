//! The cost of the sampled operation.

#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `union perf_sample_weight`—the cost of the sampled operation. Since Linux 3.10.
///
/// With [`SampleType::WEIGHT`](crate::SampleType::WEIGHT) the word is one number; with
/// [`SampleType::WEIGHT_STRUCT`](crate::SampleType::WEIGHT_STRUCT) it holds three, at the same bits
/// in both byte orders. Their meaning depends on the CPU.
#[doc(alias = "perf_sample_weight")]
#[repr(transparent)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct Weight(pub u64);

impl Weight {
    /// Returns the whole word. Since Linux 3.10.
    pub const fn full(self) -> u64 {
        self.0
    }

    /// Returns the first number; on x86 the cache latency, in cycles. Since Linux 5.12.
    #[doc(alias = "var1_dw")]
    pub const fn var1(self) -> u32 {
        self.0 as u32
    }

    /// Returns the second number; on x86 the instruction latency, in cycles. Since Linux 5.12.
    #[doc(alias = "var2_w")]
    pub const fn var2(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// Returns the third number; on x86 the retirement latency, in cycles. Since Linux 5.12.
    #[doc(alias = "var3_w")]
    pub const fn var3(self) -> u16 {
        (self.0 >> 48) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_share_the_word() {
        let weight = Weight(0x0009_0008_0000_0007);
        assert_eq!(weight.full(), 0x0009_0008_0000_0007);
        assert_eq!((weight.var1(), weight.var2(), weight.var3()), (7, 8, 9));
    }
}
