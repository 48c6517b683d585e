//! The `misc` half-word of the record header: CPU mode and flags.

use crate::RecordType;
use crate::bits::write_bits;
use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `PERF_RECORD_MISC_*`—CPU mode and flags of a record.
///
/// The kernel uses the same bit for different things in different records, so several names share one bit:
/// [`names`](Misc::names) prints the ones that apply, plain `Display` only the CPU mode and the bits.
#[doc(alias = "PERF_RECORD_MISC")]
#[repr(transparent)]
#[derive(
    Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
pub struct Misc(u16);

bitflags::bitflags! {
    impl Misc: u16 {
        /// `MMAP`, `MMAP2` made by tools: reading the process's list of mappings timed out.
        #[doc(alias = "PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT")]
        const PROC_MAP_PARSE_TIMEOUT = 1 << 12;
        /// `MMAP`, `MMAP2`: the mapping is not executable. Since Linux 3.10.
        #[doc(alias = "PERF_RECORD_MISC_MMAP_DATA")]
        const MMAP_DATA = 1 << 13;
        /// `COMM`: the name changed by an exec. Since Linux 3.16.
        #[doc(alias = "PERF_RECORD_MISC_COMM_EXEC")]
        const COMM_EXEC = 1 << 13;
        /// `FORK` made by tools: stands for a process that already runs; do not clone its parent's mappings.
        #[doc(alias = "PERF_RECORD_MISC_FORK_EXEC")]
        const FORK_EXEC = 1 << 13;
        /// `SWITCH`, `SWITCH_CPU_WIDE`: switched out; in if clear. Since Linux 4.3.
        #[doc(alias = "PERF_RECORD_MISC_SWITCH_OUT")]
        const SWITCH_OUT = 1 << 13;
        /// `SAMPLE`: the instruction pointer is exact. Since Linux 2.6.35.
        #[doc(alias = "PERF_RECORD_MISC_EXACT_IP")]
        const EXACT_IP = 1 << 14;
        /// `SWITCH`, `SWITCH_CPU_WIDE`: switched out while it could have run on. Since Linux 4.17.
        #[doc(alias = "PERF_RECORD_MISC_SWITCH_OUT_PREEMPT")]
        const SWITCH_OUT_PREEMPT = 1 << 14;
        /// `MMAP2`: holds a build id in place of device and inode. Since Linux 5.12.
        #[doc(alias = "PERF_RECORD_MISC_MMAP_BUILD_ID")]
        const MMAP_BUILD_ID = 1 << 14;
        /// Set aside by the kernel for a longer header; never set today.
        #[doc(alias = "PERF_RECORD_MISC_EXT_RESERVED")]
        const EXT_RESERVED = 1 << 15;
        const _ = !0;
    }
}

impl Misc {
    /// The bits that hold the CPU mode.
    #[doc(alias = "PERF_RECORD_MISC_CPUMODE_MASK")]
    pub const CPU_MODE_MASK: u16 = 7;

    /// Every flag above by its name in the kernel's header.
    pub const C_NAMES: &'static [(&'static str, u16)] = &[
        ("PERF_RECORD_MISC_CPUMODE_MASK", Self::CPU_MODE_MASK),
        ("PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT", 1 << 12),
        ("PERF_RECORD_MISC_MMAP_DATA", 1 << 13),
        ("PERF_RECORD_MISC_COMM_EXEC", 1 << 13),
        ("PERF_RECORD_MISC_FORK_EXEC", 1 << 13),
        ("PERF_RECORD_MISC_SWITCH_OUT", 1 << 13),
        ("PERF_RECORD_MISC_EXACT_IP", 1 << 14),
        ("PERF_RECORD_MISC_SWITCH_OUT_PREEMPT", 1 << 14),
        ("PERF_RECORD_MISC_MMAP_BUILD_ID", 1 << 14),
        ("PERF_RECORD_MISC_EXT_RESERVED", 1 << 15),
    ];

    /// Where the CPU was.
    ///
    /// The kernel fills it in for `SAMPLE`, `MMAP`, `MMAP2`, `TEXT_POKE` and `CALLCHAIN_DEFERRED`.
    pub const fn cpu_mode(self) -> CpuMode {
        CpuMode((self.0 & Self::CPU_MODE_MASK) as u8)
    }

    /// The same flags with another CPU mode.
    #[must_use]
    pub const fn with_cpu_mode(self, mode: CpuMode) -> Self {
        Self((self.0 & !Self::CPU_MODE_MASK) | (mode.0 as u16 & Self::CPU_MODE_MASK))
    }

    /// Prints the flags by the names they have in a record of this kind.
    pub const fn names(self, kind: RecordType) -> MiscNames {
        MiscNames { misc: self, kind }
    }
}

impl fmt::Debug for Misc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.names(RecordType(0)), f)
    }
}

impl fmt::Display for Misc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The flags of one record, ready to print; made by [`Misc::names`].
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct MiscNames {
    misc: Misc,
    kind: RecordType,
}

impl fmt::Debug for MiscNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bit_12, bit_13, bit_14] = match self.kind {
            RecordType::MMAP => ["PROC_MAP_PARSE_TIMEOUT", "MMAP_DATA", ""],
            RecordType::MMAP2 => ["PROC_MAP_PARSE_TIMEOUT", "MMAP_DATA", "MMAP_BUILD_ID"],
            RecordType::COMM => ["", "COMM_EXEC", ""],
            RecordType::FORK => ["", "FORK_EXEC", ""],
            RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE => ["", "SWITCH_OUT", "SWITCH_OUT_PREEMPT"],
            RecordType::SAMPLE => ["", "", "EXACT_IP"],
            _ => ["", "", ""],
        };
        // An empty mask matches nothing: that bit has no name in this record.
        let mask = |name: &str, bit: u64| if name.is_empty() { 0 } else { bit };
        let names = [
            (bit_12, mask(bit_12, 1 << 12)),
            (bit_13, mask(bit_13, 1 << 13)),
            (bit_14, mask(bit_14, 1 << 14)),
        ];
        write!(f, "{}", self.misc.cpu_mode())?;
        match u64::from(self.misc.0 & !Misc::CPU_MODE_MASK) {
            0 => Ok(()),
            flags => {
                f.write_str("|")?;
                write_bits(f, flags, &names, &[])
            }
        }
    }
}

impl fmt::Display for MiscNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

open_enum! {
    /// Where the CPU was when the record was made: the low three bits of [`Misc`].
    pub struct CpuMode(u8) {
        /// Not told. Since Linux 2.6.31.
        "PERF_RECORD_MISC_CPUMODE_UNKNOWN" UNKNOWN = 0;
        /// In the kernel. Since Linux 2.6.31.
        "PERF_RECORD_MISC_KERNEL" KERNEL = 1;
        /// In user space. Since Linux 2.6.31.
        "PERF_RECORD_MISC_USER" USER = 2;
        /// In the hypervisor. Since Linux 2.6.31.
        "PERF_RECORD_MISC_HYPERVISOR" HYPERVISOR = 3;
        /// In the kernel of a guest. Since Linux 2.6.35.
        "PERF_RECORD_MISC_GUEST_KERNEL" GUEST_KERNEL = 4;
        /// In user space of a guest. Since Linux 2.6.35.
        "PERF_RECORD_MISC_GUEST_USER" GUEST_USER = 5;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::format;

    #[test]
    fn the_same_bit_is_named_by_the_kind_of_record() {
        let misc = Misc::from_bits_retain(0x2000).with_cpu_mode(CpuMode::USER);
        assert_eq!(format!("{}", misc.names(RecordType::COMM)), "USER|COMM_EXEC");
        assert_eq!(format!("{}", misc.names(RecordType::SWITCH)), "USER|SWITCH_OUT");
        assert_eq!(format!("{misc}"), "USER|0x2000");
    }

    #[test]
    fn unknown_modes_and_bits_survive() {
        let misc = Misc::from_bits_retain(0x8407);
        assert_eq!(misc.cpu_mode(), CpuMode(7));
        assert_eq!(format!("{misc}"), "CpuMode(7)|0x8400");
    }
}
