//! The view of `BPF_EVENT` records.

use perf_abi::BpfEventType;

view! {
    /// A BPF program was loaded or unloaded. Written for events with `bpf_event`.
    ///
    /// The KSYMBOL records of the program's parts precede it if the event has `ksymbol`. Since
    /// Linux 5.1.
    #[doc(alias = "PERF_RECORD_BPF_EVENT")]
    BpfEvent of BPF_EVENT {
        /// Returns whether the program was loaded or unloaded.
        bpf_type: BpfEventType,
        /// Returns the flags; none is defined.
        flags: u16,
        /// Returns the id of the program in bpf(2).
        id: u32,
        /// Returns the hash of the program's instructions, 8 bytes.
        tag: &'a [u8],
    }
}
