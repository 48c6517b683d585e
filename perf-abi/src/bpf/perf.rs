//! Structs that perf events and BPF programs exchange.

#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct bpf_perf_event_value`—the result of the helper
/// [`PERF_EVENT_READ_VALUE`](super::BpfHelper::PERF_EVENT_READ_VALUE). Since Linux 4.15.
#[doc(alias = "bpf_perf_event_value")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfPerfEventValue {
    /// The count.
    pub counter: u64,
    /// Time enabled, in ns.
    pub enabled: u64,
    /// Time running, in ns.
    pub running: u64,
}

layout!(BpfPerfEventValue, 24 { counter: 0, enabled: 8, running: 16 });

#[cfg(target_arch = "x86_64")]
pub use x86_64::{BpfPerfEventData, PtRegs};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    #[cfg(feature = "zerocopy")]
    use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

    /// `struct pt_regs`—the registers of a task on x86-64. Since Linux 2.6.31.
    #[doc(alias = "pt_regs")]
    #[repr(C)]
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    #[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
    #[allow(missing_docs)] // the fields are the registers of their names
    pub struct PtRegs {
        pub r15: u64,
        pub r14: u64,
        pub r13: u64,
        pub r12: u64,
        pub bp: u64,
        pub bx: u64,
        pub r11: u64,
        pub r10: u64,
        pub r9: u64,
        pub r8: u64,
        pub ax: u64,
        pub cx: u64,
        pub dx: u64,
        pub si: u64,
        pub di: u64,
        pub orig_ax: u64,
        pub ip: u64,
        pub cs: u64,
        pub flags: u64,
        pub sp: u64,
        pub ss: u64,
    }

    layout!(PtRegs, 168 {
        r15: 0, r14: 8, r13: 16, r12: 24, bp: 32, bx: 40, r11: 48, r10: 56, r9: 64, r8: 72, ax: 80,
        cx: 88, dx: 96, si: 104, di: 112, orig_ax: 120, ip: 128, cs: 136, flags: 144, sp: 152,
        ss: 160,
    });

    /// `struct bpf_perf_event_data`—the context of a program on a perf event. Since Linux 4.9.
    #[doc(alias = "bpf_perf_event_data")]
    #[repr(C)]
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    #[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
    pub struct BpfPerfEventData {
        /// Registers at the overflow.
        pub regs: PtRegs,
        /// Events since the preceding sample.
        pub sample_period: u64,
        /// Data address. Since Linux 4.17.
        pub addr: u64,
    }

    layout!(BpfPerfEventData, 184 { regs: 0, sample_period: 168, addr: 176 });
}
