//! Values in samples that are no addresses: context markers in callchains, weights, aborts of transactions.

#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

open_enum! {
    /// `enum perf_callchain_context`—an entry of a callchain that is not an address.
    ///
    /// A marker gives the context of the addresses that follow it, up to the next marker.
    #[doc(alias = "perf_callchain_context")]
    pub struct CallchainContext(u64) {
        /// The hypervisor. Since Linux 2.6.31.
        "PERF_CONTEXT_HV" HV = 0_u64.wrapping_sub(32);
        /// The kernel. Since Linux 2.6.31.
        "PERF_CONTEXT_KERNEL" KERNEL = 0_u64.wrapping_sub(128);
        /// User space. Since Linux 2.6.31.
        "PERF_CONTEXT_USER" USER = 0_u64.wrapping_sub(512);
        /// User space, delivered later: the next entry is not an address but the cookie of the
        /// `CALLCHAIN_DEFERRED` record. Since Linux 6.19.
        "PERF_CONTEXT_USER_DEFERRED" USER_DEFERRED = 0_u64.wrapping_sub(640);
        /// A guest. Since Linux 2.6.31.
        "PERF_CONTEXT_GUEST" GUEST = 0_u64.wrapping_sub(2048);
        /// The kernel of a guest. Since Linux 2.6.31.
        "PERF_CONTEXT_GUEST_KERNEL" GUEST_KERNEL = 0_u64.wrapping_sub(2176);
        /// User space of a guest. Since Linux 2.6.31.
        "PERF_CONTEXT_GUEST_USER" GUEST_USER = 0_u64.wrapping_sub(2560);
    }
}

impl CallchainContext {
    /// The lowest value of a marker, known or not; every lower entry is an address. Since Linux
    /// 2.6.31.
    #[doc(alias = "PERF_CONTEXT_MAX")]
    pub const MAX: Self = Self(0_u64.wrapping_sub(4095));

    /// Returns the marker in an entry of a callchain, known or not; `None` if the entry is an
    /// address.
    ///
    /// The entry after [`USER_DEFERRED`](Self::USER_DEFERRED) is neither: a cookie can have any
    /// value.
    pub const fn from_entry(entry: u64) -> Option<Self> {
        if entry >= Self::MAX.0 { Some(Self(entry)) } else { None }
    }
}

/// Default of `/proc/sys/kernel/perf_event_max_stack`, the limit of addresses in a callchain. Since
/// Linux 2.6.31.
#[doc(alias = "PERF_MAX_STACK_DEPTH")]
pub const MAX_STACK_DEPTH: u16 = 127;

/// Default of `/proc/sys/kernel/perf_event_max_contexts_per_stack`, the limit of context markers in
/// a callchain. Since Linux 4.7.
#[doc(alias = "PERF_MAX_CONTEXTS_PER_STACK")]
pub const MAX_CONTEXTS_PER_STACK: u16 = 8;

/// `union perf_sample_weight`—the cost of the sampled operation. Since Linux 3.10.
///
/// With [`SampleType::WEIGHT`](crate::SampleType::WEIGHT) the word is one number; with
/// [`SampleType::WEIGHT_STRUCT`](crate::SampleType::WEIGHT_STRUCT) it holds three, at the same bits
/// in both byte orders. Their meaning depends on the CPU.
#[doc(alias = "perf_sample_weight")]
#[repr(transparent)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

bit_set! {
    /// `PERF_TXN_*`—the abort cause of a hardware transaction. Since Linux 3.13.
    #[doc(alias = "PERF_TXN")]
    pub struct Transaction(u64) {
        /// Abort of lock elision.
        "PERF_TXN_ELISION" ELISION = 1 << 0, since (3, 13);
        /// Abort of a generic transaction.
        "PERF_TXN_TRANSACTION" TRANSACTION = 1 << 1, since (3, 13);
        /// Synchronous: caused by the sampled instruction.
        "PERF_TXN_SYNC" SYNC = 1 << 2, since (3, 13);
        /// Asynchronous: not caused by the sampled instruction.
        "PERF_TXN_ASYNC" ASYNC = 1 << 3, since (3, 13);
        /// A retry can succeed.
        "PERF_TXN_RETRY" RETRY = 1 << 4, since (3, 13);
        /// Memory conflict with another CPU.
        "PERF_TXN_CONFLICT" CONFLICT = 1 << 5, since (3, 13);
        /// Write capacity exceeded.
        "PERF_TXN_CAPACITY_WRITE" CAPACITY_WRITE = 1 << 6, since (3, 13);
        /// Read capacity exceeded.
        "PERF_TXN_CAPACITY_READ" CAPACITY_READ = 1 << 7, since (3, 13);
    }
    numbers { "abort": Self::ABORT_MASK }
}

impl Transaction {
    /// The bits that hold the abort code. Since Linux 3.13.
    #[doc(alias = "PERF_TXN_ABORT_MASK")]
    pub const ABORT_MASK: u64 = 0xffff_ffff << 32;

    /// Returns the abort code that the program passed to the abort instruction. Since Linux 3.13.
    #[doc(alias = "PERF_TXN_ABORT_SHIFT")]
    pub const fn abort_code(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn values_below_the_lowest_marker_are_addresses() {
        assert_eq!(CallchainContext::from_entry(0xffff_ffff_ffff_f000), None);
        assert_eq!(CallchainContext::from_entry(0xffff_ffff_ffff_f001), Some(CallchainContext::MAX));
        assert_eq!(CallchainContext::from_entry(0xffff_ffff_ffff_fe00), Some(CallchainContext::USER));
    }

    #[test]
    fn three_numbers_share_the_word() {
        let weight = Weight(0x0009_0008_0000_0007);
        assert_eq!(weight.full(), 0x0009_0008_0000_0007);
        assert_eq!((weight.var1(), weight.var2(), weight.var3()), (7, 8, 9));
    }

    #[test]
    fn the_abort_code_prints_as_a_number() {
        let transaction = Transaction::from_bits_retain(0xab_0000_0102);
        assert_eq!(transaction.abort_code(), 0xab);
        assert_eq!(transaction.to_string(), "TRANSACTION|abort=171|0x100");
    }
}
