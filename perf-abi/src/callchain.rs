//! Context markers in callchains.

open_enum! {
    /// `enum perf_callchain_context`—an entry of a callchain that is no address.
    ///
    /// A marker says where the addresses after it belong, until the next marker.
    #[doc(alias = "perf_callchain_context")]
    pub struct CallchainContext(u64) {
        /// The hypervisor. Since Linux 2.6.31.
        "PERF_CONTEXT_HV" HV = 0_u64.wrapping_sub(32);
        /// The kernel. Since Linux 2.6.31.
        "PERF_CONTEXT_KERNEL" KERNEL = 0_u64.wrapping_sub(128);
        /// User space. Since Linux 2.6.31.
        "PERF_CONTEXT_USER" USER = 0_u64.wrapping_sub(512);
        /// User space, delivered later: the next entry is the cookie to find it by, not an address. Since
        /// Linux 6.19.
        "PERF_CONTEXT_USER_DEFERRED" USER_DEFERRED = 0_u64.wrapping_sub(640);
        /// A guest. Since Linux 2.6.31.
        "PERF_CONTEXT_GUEST" GUEST = 0_u64.wrapping_sub(2048);
        /// The kernel of a guest. Since Linux 2.6.31.
        "PERF_CONTEXT_GUEST_KERNEL" GUEST_KERNEL = 0_u64.wrapping_sub(2176);
        /// User space of a guest. Since Linux 2.6.31.
        "PERF_CONTEXT_GUEST_USER" GUEST_USER = 0_u64.wrapping_sub(2560);
    }
}

/// The lowest value that is a marker: everything below is an address.
#[doc(alias = "PERF_CONTEXT_MAX")]
pub const MAX_CONTEXT: u64 = 0_u64.wrapping_sub(4095);

impl CallchainContext {
    /// The marker, known or not, that an entry of a callchain is; `None` if the entry is an address.
    ///
    /// Do not ask about the entry after [`USER_DEFERRED`](Self::USER_DEFERRED): a cookie can have any value.
    pub const fn from_entry(entry: u64) -> Option<Self> {
        if entry >= MAX_CONTEXT { Some(Self(entry)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_end_where_markers_begin() {
        assert_eq!(CallchainContext::from_entry(0xffff_ffff_ffff_f000), None);
        assert_eq!(CallchainContext::from_entry(MAX_CONTEXT), Some(CallchainContext(MAX_CONTEXT)));
        assert_eq!(CallchainContext::from_entry(0xffff_ffff_ffff_fe00), Some(CallchainContext::USER));
    }
}
