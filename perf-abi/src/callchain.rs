//! Context markers in callchains.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_below_the_lowest_marker_are_addresses() {
        assert_eq!(CallchainContext::from_entry(0xffff_ffff_ffff_f000), None);
        assert_eq!(CallchainContext::from_entry(0xffff_ffff_ffff_f001), Some(CallchainContext::MAX));
        assert_eq!(CallchainContext::from_entry(0xffff_ffff_ffff_fe00), Some(CallchainContext::USER));
    }
}
