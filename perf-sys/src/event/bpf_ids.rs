use core::fmt;
use core::ops::Deref;

use perf_abi::PerfEventQueryBpf;

/// The ids of the BPF programs attached to a tracepoint, from
/// [`Event::query_bpf`](crate::Event::query_bpf). Dereferences to a slice.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct BpfIds {
    head: PerfEventQueryBpf,
    ids: [u32; Self::MAX],
}

impl BpfIds {
    /// The kernel's limit for a tracepoint: `BPF_TRACE_MAX_PROGS` in `kernel/trace/bpf_trace.c`.
    const MAX: usize = 64;

    /// The argument of the ioctl before the call, with space for [`MAX`](Self::MAX) ids.
    pub(super) const EMPTY: Self =
        Self { head: PerfEventQueryBpf { ids_len: Self::MAX as u32, prog_cnt: 0 }, ids: [0; Self::MAX] };
}

impl Deref for BpfIds {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        self.ids.get(..self.head.prog_cnt as usize).unwrap_or(&self.ids)
    }
}

impl fmt::Debug for BpfIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_returned_ids_are_in_the_slice() {
        let mut found = BpfIds::EMPTY;
        found.head.prog_cnt = 1;
        found.ids[0] = 7;
        assert_eq!(*found, [7]);
    }
}
