//! Numbers of side-band records: `KSYMBOL`, `BPF_EVENT`, `NAMESPACES`, `AUX`, `MMAP2`.

#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Maximum length of the build id in an `MMAP2` record, in bytes. Since Linux 5.12.
pub const BUILD_ID_SIZE_MAX: usize = 20;

open_enum! {
    /// `enum perf_record_ksymbol_type`—the owner of a kernel symbol. Since Linux 5.1.
    #[doc(alias = "perf_record_ksymbol_type")]
    pub struct KsymbolType(u16) {
        /// Unknown. Since Linux 5.1.
        "PERF_RECORD_KSYMBOL_TYPE_UNKNOWN" UNKNOWN = 0;
        /// Text of a BPF program. Since Linux 5.1.
        "PERF_RECORD_KSYMBOL_TYPE_BPF" BPF = 1;
        /// Out-of-line code, such as that of kprobes and ftrace. Since Linux 5.9.
        "PERF_RECORD_KSYMBOL_TYPE_OOL" OUT_OF_LINE = 2;
    }
}

bit_set! {
    /// `PERF_RECORD_KSYMBOL_FLAGS_*`—the change of a kernel symbol. Since Linux 5.1.
    #[doc(alias = "PERF_RECORD_KSYMBOL_FLAGS")]
    pub struct KsymbolFlags(u16) {
        /// Unregistered; registered if clear.
        "PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER" UNREGISTER = 1, since (5, 1);
    }
}

open_enum! {
    /// `enum perf_bpf_event_type`—the change of a BPF program. Since Linux 5.1.
    #[doc(alias = "perf_bpf_event_type")]
    pub struct BpfEventType(u16) {
        /// Unknown. Since Linux 5.1.
        "PERF_BPF_EVENT_UNKNOWN" UNKNOWN = 0;
        /// Loaded. Since Linux 5.1.
        "PERF_BPF_EVENT_PROG_LOAD" PROG_LOAD = 1;
        /// Unloaded. Since Linux 5.1.
        "PERF_BPF_EVENT_PROG_UNLOAD" PROG_UNLOAD = 2;
    }
}

open_enum! {
    /// `*_NS_INDEX`—the namespace that an entry of a `NAMESPACES` record describes, by the entry's
    /// index. Since Linux 4.12.
    pub struct NamespaceIndex(u32) {
        /// Network. Since Linux 4.12.
        "NET_NS_INDEX" NET = 0;
        /// Host and domain name. Since Linux 4.12.
        "UTS_NS_INDEX" UTS = 1;
        /// System V IPC and message queues. Since Linux 4.12.
        "IPC_NS_INDEX" IPC = 2;
        /// Process ids. Since Linux 4.12.
        "PID_NS_INDEX" PID = 3;
        /// User ids. Since Linux 4.12.
        "USER_NS_INDEX" USER = 4;
        /// Mounts. Since Linux 4.12.
        "MNT_NS_INDEX" MNT = 5;
        /// Control groups. Since Linux 4.12.
        "CGROUP_NS_INDEX" CGROUP = 6;
    }
}

/// `struct perf_ns_link_info`—device and inode of a namespace; both 0 if the kernel lacks the
/// namespace. Since Linux 4.12.
#[doc(alias = "perf_ns_link_info")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct NamespaceLink {
    /// Device of the namespace's file, in the kernel's internal encoding.
    pub dev: u64,
    /// Inode of the namespace's file.
    #[doc(alias = "ino")]
    pub inode: u64,
}

layout!(NamespaceLink, 16 { dev: 0, inode: 8 });

impl From<[u64; 2]> for NamespaceLink {
    /// Returns the device and inode of these words, in the order of memory.
    #[inline]
    fn from([dev, inode]: [u64; 2]) -> Self {
        Self { dev, inode }
    }
}

bit_set! {
    /// `PERF_AUX_FLAG_*`—the state of new AUX data.
    #[doc(alias = "PERF_AUX_FLAG")]
    pub struct AuxFlags(u64) {
        /// Truncated, because the area was full.
        "PERF_AUX_FLAG_TRUNCATED" TRUNCATED = 0x1, since (4, 1);
        /// Snapshot of an area in overwrite mode.
        "PERF_AUX_FLAG_OVERWRITE" OVERWRITE = 0x2, since (4, 1);
        /// Has gaps.
        "PERF_AUX_FLAG_PARTIAL" PARTIAL = 0x4, since (4, 12);
        /// A sample collided with another.
        "PERF_AUX_FLAG_COLLISION" COLLISION = 0x8, since (4, 15);
    }
    numbers { "format": Self::PMU_FORMAT_MASK }
}

impl AuxFlags {
    /// The bits that hold the PMU's format of the data. Since Linux 5.13.
    #[doc(alias = "PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK")]
    pub const PMU_FORMAT_MASK: u64 = 0xff00;

    /// `CoreSight`: framed data. Since Linux 5.13.
    #[doc(alias = "PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT")]
    pub const CORESIGHT_FRAMED: u8 = 0;

    /// `CoreSight`: raw data of one source, without frames. Since Linux 5.13.
    #[doc(alias = "PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW")]
    pub const CORESIGHT_RAW: u8 = 1;

    /// Returns the PMU's number of the data format. Since Linux 5.13.
    pub const fn pmu_format(self) -> u8 {
        (self.0 >> 8) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn the_format_prints_as_a_number() {
        let flags = AuxFlags::from_bits_retain(0x1_0105);
        assert_eq!(format!("{flags}"), "TRUNCATED|PARTIAL|format=1|0x10000");
        assert_eq!(flags.pmu_format(), AuxFlags::CORESIGHT_RAW);
        assert_eq!(AuxFlags::from_bits_retain(0x1_ab00).pmu_format(), 0xab);
        assert_eq!(AuxFlags::KNOWN.bits(), 0xff0f);
    }
}
