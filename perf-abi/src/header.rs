//! The header of every record, and the record kinds.

use crate::Misc;
#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct perf_event_header`—the first 8 bytes of every record.
///
/// In a ring it is always aligned to 8 bytes.
///
/// # References
///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "Ring-buffer layout"
#[doc(alias = "perf_event_header")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct Header {
    /// Record kind.
    #[doc(alias = "type")]
    pub kind: RecordType,
    /// CPU mode and flags; the meaning of the flags depends on `kind`.
    pub misc: Misc,
    /// Length of the record in bytes, this header included.
    ///
    /// The kernel writes multiples of 8, at most 65528. A size below 8 is malformed.
    pub size: u16,
}

layout!(Header, 8 { kind: 0, misc: 4, size: 6 });

impl Header {
    /// Returns the header in the first word of a record.
    #[inline]
    #[must_use]
    pub const fn from_word(word: u64) -> Self {
        let [k0, k1, k2, k3, m0, m1, s0, s1] = word.to_ne_bytes();
        Self {
            kind: RecordType(u32::from_ne_bytes([k0, k1, k2, k3])),
            misc: Misc::from_bits_retain(u16::from_ne_bytes([m0, m1])),
            size: u16::from_ne_bytes([s0, s1]),
        }
    }

    /// Returns the first word of a record with this header: the opposite of
    /// [`from_word`](Self::from_word).
    #[inline]
    #[must_use]
    pub const fn to_word(self) -> u64 {
        let [k0, k1, k2, k3] = self.kind.0.to_ne_bytes();
        let [m0, m1] = self.misc.bits().to_ne_bytes();
        let [s0, s1] = self.size.to_ne_bytes();
        u64::from_ne_bytes([k0, k1, k2, k3, m0, m1, s0, s1])
    }
}

open_enum! {
    /// `enum perf_event_type`—the kind of a record.
    ///
    /// The kernel uses numbers below 64; tools write others into their files.
    #[doc(alias = "perf_event_type")]
    pub struct RecordType(u32) {
        /// A file or memory was mapped. Since Linux 2.6.31.
        "PERF_RECORD_MMAP" MMAP = 1;
        /// Records were dropped because the ring was full. Since Linux 2.6.31.
        "PERF_RECORD_LOST" LOST = 2;
        /// A task changed its name. Since Linux 2.6.31.
        "PERF_RECORD_COMM" COMM = 3;
        /// A task exited. Since Linux 2.6.31.
        "PERF_RECORD_EXIT" EXIT = 4;
        /// The event fired too often and was stopped temporarily. Since Linux 2.6.31.
        "PERF_RECORD_THROTTLE" THROTTLE = 5;
        /// The event was started again after throttling. Since Linux 2.6.31.
        "PERF_RECORD_UNTHROTTLE" UNTHROTTLE = 6;
        /// A task was created. Since Linux 2.6.31.
        "PERF_RECORD_FORK" FORK = 7;
        /// Counts of an inherited task that exited. Since Linux 2.6.31.
        "PERF_RECORD_READ" READ = 8;
        /// The event overflowed. Since Linux 2.6.31.
        "PERF_RECORD_SAMPLE" SAMPLE = 9;
        /// A file or memory was mapped, with inode or build id. Since Linux 3.16.
        "PERF_RECORD_MMAP2" MMAP2 = 10;
        /// New data is in the AUX area. Since Linux 4.1.
        "PERF_RECORD_AUX" AUX = 11;
        /// An instruction trace started. Since Linux 4.1.
        "PERF_RECORD_ITRACE_START" ITRACE_START = 12;
        /// The PMU dropped samples. Since Linux 4.2.
        "PERF_RECORD_LOST_SAMPLES" LOST_SAMPLES = 13;
        /// The task was switched in or out. Since Linux 4.3.
        "PERF_RECORD_SWITCH" SWITCH = 14;
        /// The CPU switched between tasks. Since Linux 4.3.
        "PERF_RECORD_SWITCH_CPU_WIDE" SWITCH_CPU_WIDE = 15;
        /// The namespaces of a task. Since Linux 4.12.
        "PERF_RECORD_NAMESPACES" NAMESPACES = 16;
        /// A kernel symbol was registered or unregistered. Since Linux 5.1.
        "PERF_RECORD_KSYMBOL" KSYMBOL = 17;
        /// A BPF program was loaded or unloaded. Since Linux 5.1.
        "PERF_RECORD_BPF_EVENT" BPF_EVENT = 18;
        /// A cgroup was created. Since Linux 5.7.
        "PERF_RECORD_CGROUP" CGROUP = 19;
        /// Kernel text was modified. Since Linux 5.9.
        "PERF_RECORD_TEXT_POKE" TEXT_POKE = 20;
        /// The hardware id of an event that writes into the AUX area. Since Linux 5.16.
        "PERF_RECORD_AUX_OUTPUT_HW_ID" AUX_OUTPUT_HW_ID = 21;
        /// The user part of callchains sampled before. Since Linux 6.19.
        "PERF_RECORD_CALLCHAIN_DEFERRED" CALLCHAIN_DEFERRED = 22;
    }
}

impl RecordType {
    /// The newest kind that this crate knows; the kernel numbers kinds from 1 without gaps.
    pub const LAST: Self = match Self::ALL {
        [.., last] => *last,
        [] => Self(0),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn word_of_a_header_is_its_memory() {
        let header = Header { kind: RecordType(0x0403_0201), misc: Misc::from_bits_retain(0x8002), size: 40 };
        assert_eq!(header.to_word().to_ne_bytes(), header.as_bytes());
        assert_eq!(Header::from_word(header.to_word()), header);
    }

    #[test]
    fn known_kinds_print_their_name() {
        assert_eq!(format!("{}", RecordType::MMAP2), "MMAP2");
        assert_eq!(format!("{:?}", RecordType::MMAP2), "MMAP2");
        assert_eq!(format!("{:<6}|", RecordType::COMM), "COMM  |");
    }

    #[test]
    fn unknown_kinds_are_kept_and_print_their_number() {
        assert_eq!(format!("{}", RecordType(77)), "RecordType(77)");
        assert_eq!(RecordType(77).name(), None);
    }

    #[test]
    fn kinds_are_numbered_from_one_to_the_last_without_gaps() {
        assert!((1..=RecordType::LAST.0).map(RecordType).eq(RecordType::ALL.iter().copied()));
    }
}
