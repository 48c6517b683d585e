//! The flag word of the attr.

use super::Skid;
use crate::bits::{BitField, flag64};

bit_set! {
    /// The one-bit fields of `struct perf_event_attr`, and `precise_ip`.
    ///
    /// The constants are the bits that a C compiler for this target uses: numbered from the least
    /// significant bit on little-endian machines, from the most significant one on big-endian ones.
    /// The kernel fails with `EINVAL` for a flag that it does not know.
    ///
    /// # References
    ///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "Arguments"
    pub struct AttrFlags(u64) {
        /// Starts disabled. Since Linux 2.6.31.
        "disabled" DISABLED = flag64(0);
        /// Child tasks get a copy of the event. Since Linux 2.6.31.
        ///
        /// The kernel maps no ring for an inherited event on any CPU: open one for each CPU. With
        /// [`SampleType::READ`](crate::SampleType::READ) the kernel fails with `EINVAL` from Linux
        /// 4.13 to 6.11, and needs [`TID`](crate::SampleType::TID) since 6.12. With an inherited
        /// uprobe or kprobe, forks of the observed tasks fail (kernel errata).
        "inherit" INHERIT = flag64(1);
        /// Group leader: must always be on the PMU; enters the error state if it cannot. Since
        /// Linux 2.6.31.
        "pinned" PINNED = flag64(2);
        /// Group leader: the only group on the PMU. Since Linux 2.6.31.
        "exclusive" EXCLUSIVE = flag64(3);
        /// Does not count in user space. Since Linux 2.6.31.
        "exclude_user" EXCLUDE_USER = flag64(4);
        /// Does not count in the kernel. Since Linux 2.6.31.
        "exclude_kernel" EXCLUDE_KERNEL = flag64(5);
        /// Does not count in the hypervisor. Since Linux 2.6.31.
        "exclude_hv" EXCLUDE_HV = flag64(6);
        /// Does not count in the idle task. Since Linux 2.6.31.
        "exclude_idle" EXCLUDE_IDLE = flag64(7);
        /// `MMAP` records of executable mappings. Since Linux 2.6.31.
        "mmap" MMAP = flag64(8);
        /// `COMM`, `FORK` and `EXIT` records. Since Linux 2.6.31.
        "comm" COMM = flag64(9);
        /// `sample_period` is a frequency in Hz. Since Linux 2.6.31.
        ///
        /// The clocks convert it to a period in ns once: see
        /// [`Attr::with_frequency`](crate::Attr::with_frequency).
        "freq" FREQ = flag64(10);
        /// A `READ` record for each inherited task that exits. Since Linux 2.6.31.
        "inherit_stat" INHERIT_STAT = flag64(11);
        /// Enables the event at the target's next exec; `EINVAL` together with `REMOVE_ON_EXEC`.
        /// Since Linux 2.6.31.
        "enable_on_exec" ENABLE_ON_EXEC = flag64(12);
        /// `FORK` and `EXIT` records. Since Linux 2.6.31.
        "task" TASK = flag64(13);
        /// `wakeup` is a number of bytes, not of samples; 0 bytes mean half the ring. Since Linux
        /// 2.6.32.
        "watermark" WATERMARK = flag64(14);
        /// `MMAP` records of mappings that are not executable. Since Linux 2.6.36.
        "mmap_data" MMAP_DATA = flag64(17);
        /// A `sample_id` trailer on every record that is not a sample. Since Linux 2.6.38.
        "sample_id_all" SAMPLE_ID_ALL = flag64(18);
        /// Does not count in the host. Since Linux 3.2.
        "exclude_host" EXCLUDE_HOST = flag64(19);
        /// Does not count in guests. Since Linux 3.2.
        "exclude_guest" EXCLUDE_GUEST = flag64(20);
        /// No kernel part in callchains. Since Linux 3.7.
        "exclude_callchain_kernel" EXCLUDE_CALLCHAIN_KERNEL = flag64(21);
        /// No user part in callchains. Since Linux 3.7.
        "exclude_callchain_user" EXCLUDE_CALLCHAIN_USER = flag64(22);
        /// `MMAP2` records in place of `MMAP`; set it together with `MMAP`. Since Linux 3.16.
        ///
        /// Alone it requests no records: the event receives them only while any event of the system
        /// has `MMAP` or `MMAP_DATA` (kernel errata).
        "mmap2" MMAP2 = flag64(23);
        /// Announces to readers of the attr that the `COMM` records of an exec have
        /// [`Misc::COMM_EXEC`](crate::Misc::COMM_EXEC), which the kernel sets in any case. Since
        /// Linux 3.16.
        "comm_exec" COMM_EXEC = flag64(24);
        /// Times are those of the clock in `clockid`. Since Linux 4.1.
        "use_clockid" USE_CLOCKID = flag64(25);
        /// `SWITCH` or `SWITCH_CPU_WIDE` records. Since Linux 4.3.
        "context_switch" CONTEXT_SWITCH = flag64(26);
        /// The kernel fills the ring from its end to its start. Since Linux 4.7.
        "write_backward" WRITE_BACKWARD = flag64(27);
        /// `NAMESPACES` records. Since Linux 4.12.
        ///
        /// Set `COMM` or `TASK` too on an event of all tasks of a CPU: alone it delivers no record
        /// there, and no error (kernel errata).
        "namespaces" NAMESPACES = flag64(28);
        /// `KSYMBOL` records. Since Linux 5.1.
        "ksymbol" KSYMBOL = flag64(29);
        /// `BPF_EVENT` records. Since Linux 5.1.
        "bpf_event" BPF_EVENT = flag64(30);
        /// Writes event data into the AUX area of the group leader. Since Linux 5.4.
        "aux_output" AUX_OUTPUT = flag64(31);
        /// `CGROUP` records. Since Linux 5.7.
        ///
        /// Set `COMM` or `TASK` too on an event of all tasks of a CPU, as for `NAMESPACES`.
        "cgroup" CGROUP = flag64(32);
        /// `TEXT_POKE` records. Since Linux 5.9.
        ///
        /// Linux 6.18 accepted it in a virtual machine and wrote no record (kernel errata). The
        /// stable releases of autumn 2026 need `CAP_PERFMON`.
        "text_poke" TEXT_POKE = flag64(33);
        /// `MMAP2` records hold a build id where one can be read. Since Linux 5.12.
        ///
        /// Needs `MMAP` and `MMAP2`: alone it requests no records.
        "build_id" BUILD_ID = flag64(34);
        /// Only new threads inherit the event; `EINVAL` without `INHERIT`. Since Linux 5.13.
        "inherit_thread" INHERIT_THREAD = flag64(35);
        /// Removes the event from the task at exec; `EINVAL` together with `ENABLE_ON_EXEC`. Since
        /// Linux 5.13.
        "remove_on_exec" REMOVE_ON_EXEC = flag64(36);
        /// Sends `SIGTRAP` to the task on overflow; `EINVAL` without `REMOVE_ON_EXEC`. Since Linux
        /// 5.13.
        "sigtrap" SIGTRAP = flag64(37);
        /// Delivers the user part of callchains later, in `CALLCHAIN_DEFERRED` records. Since Linux
        /// 6.19.
        "defer_callchain" DEFER_CALLCHAIN = flag64(38);
        /// This event receives the `CALLCHAIN_DEFERRED` records. Since Linux 6.19.
        ///
        /// Set `COMM` or `TASK` too on an event of all tasks of a CPU, as for `NAMESPACES`.
        "defer_output" DEFER_OUTPUT = flag64(39);
    }
    numbers { "precise_ip": Self::PRECISE_IP_MASK }
}

const PRECISE_IP: BitField = BitField::declared(15, 2);

impl AttrFlags {
    /// The two bits that hold `precise_ip`.
    #[doc(alias = "precise_ip")]
    pub const PRECISE_IP_MASK: u64 = PRECISE_IP.mask();

    /// Returns the skid that the sampled instruction pointer may have. Since Linux 2.6.35.
    pub const fn precise_ip(self) -> Skid {
        Skid(PRECISE_IP.get(self.0) as u8)
    }

    /// Returns the same flags with another skid.
    #[must_use]
    pub const fn with_precise_ip(self, skid: Skid) -> Self {
        Self(PRECISE_IP.set(self.0, skid.level() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn precise_ip_prints_as_a_number() {
        let flags = (AttrFlags::DISABLED | AttrFlags::MMAP2).with_precise_ip(Skid::ZERO);
        assert_eq!(flags.precise_ip(), Skid::ZERO);
        assert_eq!(format!("{flags}"), "DISABLED|MMAP2|precise_ip=3");
        assert_eq!(format!("{}", flags.with_precise_ip(Skid::ARBITRARY)), "DISABLED|MMAP2");
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_skid_takes_bits_15_and_16() {
        let bits = [Skid::ARBITRARY, Skid::CONSTANT, Skid::REQUESTED_ZERO, Skid::ZERO]
            .map(|skid| AttrFlags::empty().with_precise_ip(skid).bits());
        assert_eq!(bits, [0, 1 << 15, 1 << 16, 1 << 15 | 1 << 16]);
    }

    #[test]
    fn every_skid_is_read_back() {
        for &skid in Skid::ALL {
            assert_eq!(AttrFlags::empty().with_precise_ip(skid).precise_ip(), skid);
        }
    }

    #[test]
    fn unknown_flags_are_kept_and_print() {
        let unknown = flag64(40);
        let flags = AttrFlags::from_bits_retain(unknown | flag64(39));
        assert_eq!(format!("{flags:?}"), format!("DEFER_OUTPUT|{unknown:#x}"));
        assert_eq!(flags.difference(AttrFlags::KNOWN).bits(), unknown);
    }
}
