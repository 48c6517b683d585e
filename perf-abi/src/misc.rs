//! The `misc` half-word of the record header: CPU mode and flags.

use crate::RecordType;
use crate::bits::write_bits;
use core::fmt;

flag_word! {
    /// `PERF_RECORD_MISC_*`—CPU mode and flags of a record.
    ///
    /// Several flags share one bit, because its meaning depends on the record kind.
    /// [`names`](Misc::names) prints the flags of a kind; plain `Display` prints the CPU mode and
    /// the bits.
    #[doc(alias = "PERF_RECORD_MISC")]
    pub struct Misc(u16) {
        /// `MMAP`, `MMAP2` written by tools: reading the process's list of mappings timed out.
        "PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT" PROC_MAP_PARSE_TIMEOUT = 1 << 12;
        /// `MMAP`, `MMAP2`: the mapping is not executable.
        "PERF_RECORD_MISC_MMAP_DATA" MMAP_DATA = 1 << 13, since (3, 10);
        /// `COMM`: the name changed by an exec.
        "PERF_RECORD_MISC_COMM_EXEC" COMM_EXEC = 1 << 13, since (3, 16);
        /// `FORK` written by tools: the process was already running; its parent's mappings do not
        /// apply.
        "PERF_RECORD_MISC_FORK_EXEC" FORK_EXEC = 1 << 13;
        /// `SWITCH`, `SWITCH_CPU_WIDE`: switched out; switched in if clear.
        "PERF_RECORD_MISC_SWITCH_OUT" SWITCH_OUT = 1 << 13, since (4, 3);
        /// `SAMPLE`: the instruction pointer is exact.
        "PERF_RECORD_MISC_EXACT_IP" EXACT_IP = 1 << 14, since (2, 6, 35);
        /// `SWITCH`, `SWITCH_CPU_WIDE`: preempted while runnable.
        "PERF_RECORD_MISC_SWITCH_OUT_PREEMPT" SWITCH_OUT_PREEMPT = 1 << 14, since (4, 17);
        /// `MMAP2`: holds a build id in place of device and inode.
        "PERF_RECORD_MISC_MMAP_BUILD_ID" MMAP_BUILD_ID = 1 << 14, since (5, 12);
        /// Reserved by the kernel for a longer header; never set so far.
        "PERF_RECORD_MISC_EXT_RESERVED" EXT_RESERVED = 1 << 15;
    }
    numbers { Self::CPU_MODE_MASK }
}

impl Misc {
    /// The bits that hold the CPU mode.
    #[doc(alias = "PERF_RECORD_MISC_CPUMODE_MASK")]
    pub const CPU_MODE_MASK: u16 = 7;

    /// Returns the mode of the CPU.
    ///
    /// The kernel sets it in `SAMPLE`, `MMAP`, `MMAP2`, `TEXT_POKE` and `CALLCHAIN_DEFERRED`
    /// records.
    pub const fn cpu_mode(self) -> CpuMode {
        CpuMode((self.0 & Self::CPU_MODE_MASK) as u8)
    }

    /// Returns the same flags with another CPU mode, of which only the low three bits are kept.
    #[must_use]
    pub const fn with_cpu_mode(self, mode: CpuMode) -> Self {
        Self((self.0 & !Self::CPU_MODE_MASK) | (mode.0 as u16 & Self::CPU_MODE_MASK))
    }

    /// Returns a value that prints the flags by the names they have in a record of this kind. An unknown
    /// CPU mode is printed only if nothing else is set.
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

/// The flags of a record with the names that its kind gives them; returned by [`Misc::names`].
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
        // An empty mask matches nothing, because that bit has no name in this record.
        let mask = |name: &str, bit: u64| if name.is_empty() { 0 } else { bit };
        let names = [
            (bit_12, mask(bit_12, 1 << 12)),
            (bit_13, mask(bit_13, 1 << 13)),
            (bit_14, mask(bit_14, 1 << 14)),
        ];
        let (mode, flags) = (self.misc.cpu_mode(), u64::from(self.misc.0 & !Misc::CPU_MODE_MASK));
        // The kernel sets no mode in most kinds: beside other names, "unknown" would read like an error.
        match (mode, flags) {
            (_, 0) => fmt::Display::fmt(&mode, f),
            (CpuMode::UNKNOWN, _) => write_bits(f, flags, &names, &[]),
            _ => {
                write!(f, "{mode}|")?;
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
    /// `PERF_RECORD_MISC_CPUMODE_MASK`—the mode of the CPU: the low three bits of [`Misc`].
    pub struct CpuMode(u8) {
        /// Unknown. Since Linux 2.6.31.
        "PERF_RECORD_MISC_CPUMODE_UNKNOWN" UNKNOWN = 0;
        /// Kernel. Since Linux 2.6.31.
        "PERF_RECORD_MISC_KERNEL" KERNEL = 1;
        /// User space. Since Linux 2.6.31.
        "PERF_RECORD_MISC_USER" USER = 2;
        /// Hypervisor. Since Linux 2.6.31.
        "PERF_RECORD_MISC_HYPERVISOR" HYPERVISOR = 3;
        /// Kernel of a guest. Since Linux 2.6.35.
        "PERF_RECORD_MISC_GUEST_KERNEL" GUEST_KERNEL = 4;
        /// User space of a guest. Since Linux 2.6.35.
        "PERF_RECORD_MISC_GUEST_USER" GUEST_USER = 5;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn the_same_bit_is_named_by_the_kind_of_record() {
        let misc = Misc::from_bits_retain(0x2000).with_cpu_mode(CpuMode::USER);
        assert_eq!(format!("{}", misc.names(RecordType::COMM)), "USER|COMM_EXEC");
        assert_eq!(format!("{}", misc.names(RecordType::SWITCH)), "USER|SWITCH_OUT");
        assert_eq!(format!("{misc}"), "USER|0x2000");
    }

    #[test]
    fn unknown_modes_and_bits_are_kept() {
        let misc = Misc::from_bits_retain(0x8407);
        assert_eq!(misc.cpu_mode(), CpuMode(7));
        assert_eq!(format!("{misc}"), "CpuMode(7)|0x8400");
        assert_eq!(format!("{}", Misc::empty()), "UNKNOWN");
    }

    #[test]
    fn every_bit_has_its_name_in_some_kind() {
        let all = Misc::from_bits_retain(0xf000);
        let name = |kind| format!("{}", all.names(kind));
        assert_eq!(name(RecordType::MMAP), "PROC_MAP_PARSE_TIMEOUT|MMAP_DATA|0xc000");
        assert_eq!(name(RecordType::MMAP2), "PROC_MAP_PARSE_TIMEOUT|MMAP_DATA|MMAP_BUILD_ID|0x8000");
        assert_eq!(name(RecordType::COMM), "COMM_EXEC|0xd000");
        assert_eq!(name(RecordType::FORK), "FORK_EXEC|0xd000");
        assert_eq!(name(RecordType::SAMPLE), "EXACT_IP|0xb000");
        assert_eq!(name(RecordType::SWITCH_CPU_WIDE), "SWITCH_OUT|SWITCH_OUT_PREEMPT|0x9000");
    }

    #[test]
    fn a_cpu_mode_leaves_the_flags_alone() {
        let misc = Misc::from_bits_retain(0xffff).with_cpu_mode(CpuMode::KERNEL);
        assert_eq!((misc.bits(), misc.cpu_mode()), (0xfff9, CpuMode::KERNEL));
        assert_eq!(misc.with_cpu_mode(CpuMode(0xff)).bits(), 0xffff);
        assert_eq!(Misc::KNOWN.bits(), 0xf007);
    }
}
