//! Numbers of `BPF_EVENT` records.

open_enum! {
    /// `enum perf_bpf_event_type`—what happened to a BPF program. Since Linux 5.1.
    #[doc(alias = "perf_bpf_event_type")]
    pub struct BpfEventType(u16) {
        /// Not told. Since Linux 5.1.
        "PERF_BPF_EVENT_UNKNOWN" UNKNOWN = 0;
        /// Loaded. Since Linux 5.1.
        "PERF_BPF_EVENT_PROG_LOAD" PROG_LOAD = 1;
        /// Unloaded. Since Linux 5.1.
        "PERF_BPF_EVENT_PROG_UNLOAD" PROG_UNLOAD = 2;
    }
}

/// Length of the tag that names the code of a BPF program, in bytes. Since Linux 4.10.
pub const BPF_TAG_SIZE: usize = 8;
