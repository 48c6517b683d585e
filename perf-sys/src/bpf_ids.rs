use core::fmt;
use core::ops::Deref;

use perf_abi::bpf::PerfEventQueryBpf;

/// The BPF programs on one tracepoint, as [`Event::query_bpf`](crate::Event::query_bpf) finds them: a
/// slice of their ids.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct BpfIds {
    head: PerfEventQueryBpf,
    ids: [u32; Self::MAX],
}

impl BpfIds {
    /// A tracepoint never has more: `BPF_TRACE_MAX_PROGS` in `kernel/trace/bpf_trace.c`.
    const MAX: usize = 64;

    /// The question: room for all of them.
    pub(crate) const EMPTY: Self =
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
    fn only_the_ids_that_were_found_are_there() {
        let mut found = BpfIds::EMPTY;
        found.head.prog_cnt = 1;
        found.ids[0] = 7;
        assert_eq!(*found, [7]);
    }
}
