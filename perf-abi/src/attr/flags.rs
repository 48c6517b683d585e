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
        /// Starts disabled.
        "disabled" DISABLED = flag64(0), since (2, 6, 31);
        /// Child tasks get a copy of the event.
        ///
        /// The kernel maps no ring for an inherited event on any CPU: open one for each CPU. With
        /// [`SampleType::READ`](crate::SampleType::READ) the kernel fails with `EINVAL` from Linux
        /// 4.13 to 6.11, and needs [`TID`](crate::SampleType::TID) since 6.12. With an inherited
        /// uprobe or kprobe, forks of the observed tasks fail (kernel errata).
        "inherit" INHERIT = flag64(1), since (2, 6, 31);
        /// Group leader: must always be on the PMU; enters the error state if it cannot.
        "pinned" PINNED = flag64(2), since (2, 6, 31);
        /// Group leader: the only group on the PMU.
        "exclusive" EXCLUSIVE = flag64(3), since (2, 6, 31);
        /// Does not count in user space.
        "exclude_user" EXCLUDE_USER = flag64(4), since (2, 6, 31);
        /// Does not count in the kernel. Events that happen there, such as context switches, count nothing then.
        "exclude_kernel" EXCLUDE_KERNEL = flag64(5), since (2, 6, 31);
        /// Does not count in the hypervisor.
        "exclude_hv" EXCLUDE_HV = flag64(6), since (2, 6, 31);
        /// Does not count in the idle task.
        "exclude_idle" EXCLUDE_IDLE = flag64(7), since (2, 6, 31);
        /// `MMAP` records of executable mappings.
        "mmap" MMAP = flag64(8), since (2, 6, 31);
        /// `COMM`, `FORK` and `EXIT` records, of what happens from now on: the names of tasks that run already are in
        /// `/proc/TID/comm`, and a new task has its parent's name.
        "comm" COMM = flag64(9), since (2, 6, 31);
        /// `sample_period` is a frequency in Hz.
        ///
        /// The clocks convert it to a period in ns once: see
        /// [`Attr::with_frequency`](crate::Attr::with_frequency).
        "freq" FREQ = flag64(10), since (2, 6, 31);
        /// A `READ` record for each inherited task that exits.
        "inherit_stat" INHERIT_STAT = flag64(11), since (2, 6, 31);
        /// Enables the event at the target's next exec; `EINVAL` together with `REMOVE_ON_EXEC`.
        "enable_on_exec" ENABLE_ON_EXEC = flag64(12), since (2, 6, 31);
        /// `FORK` and `EXIT` records.
        "task" TASK = flag64(13), since (2, 6, 31);
        /// `wakeup` is a number of bytes, not of samples; 0 bytes mean half the ring.
        "watermark" WATERMARK = flag64(14), since (2, 6, 32);
        /// `MMAP` records of mappings that are not executable.
        "mmap_data" MMAP_DATA = flag64(17), since (2, 6, 36);
        /// A `sample_id` trailer on every record that is not a sample.
        "sample_id_all" SAMPLE_ID_ALL = flag64(18), since (2, 6, 38);
        /// Does not count in the host.
        "exclude_host" EXCLUDE_HOST = flag64(19), since (3, 2);
        /// Does not count in guests.
        "exclude_guest" EXCLUDE_GUEST = flag64(20), since (3, 2);
        /// No kernel part in callchains.
        "exclude_callchain_kernel" EXCLUDE_CALLCHAIN_KERNEL = flag64(21), since (3, 7);
        /// No user part in callchains.
        "exclude_callchain_user" EXCLUDE_CALLCHAIN_USER = flag64(22), since (3, 7);
        /// `MMAP2` records in place of `MMAP`; set it together with `MMAP`.
        ///
        /// Alone it requests no records: the event receives them only while any event of the system
        /// has `MMAP` or `MMAP_DATA` (kernel errata).
        "mmap2" MMAP2 = flag64(23), since (3, 16);
        /// Announces to readers of the attr that the `COMM` records of an exec have
        /// [`Misc::COMM_EXEC`](crate::Misc::COMM_EXEC), which the kernel sets in any case.
        "comm_exec" COMM_EXEC = flag64(24), since (3, 16);
        /// Times are those of the clock in `clockid`, else of the kernel's own, which no call of user space reads.
        "use_clockid" USE_CLOCKID = flag64(25), since (4, 1);
        /// `SWITCH` or `SWITCH_CPU_WIDE` records.
        "context_switch" CONTEXT_SWITCH = flag64(26), since (4, 3);
        /// The kernel fills the ring from its end to its start.
        "write_backward" WRITE_BACKWARD = flag64(27), since (4, 7);
        /// `NAMESPACES` records.
        ///
        /// Set `COMM` or `TASK` too on an event of all tasks of a CPU: alone it delivers no record
        /// there, and no error (kernel errata).
        "namespaces" NAMESPACES = flag64(28), since (4, 12);
        /// `KSYMBOL` records.
        "ksymbol" KSYMBOL = flag64(29), since (5, 1);
        /// `BPF_EVENT` records.
        "bpf_event" BPF_EVENT = flag64(30), since (5, 1);
        /// Writes event data into the AUX area of the group leader.
        "aux_output" AUX_OUTPUT = flag64(31), since (5, 4);
        /// `CGROUP` records.
        ///
        /// Set `COMM` or `TASK` too on an event of all tasks of a CPU, as for `NAMESPACES`.
        "cgroup" CGROUP = flag64(32), since (5, 7);
        /// `TEXT_POKE` records.
        ///
        /// Linux 6.18 accepted it in a virtual machine and wrote no record (kernel errata). The
        /// stable releases of autumn 2026 need `CAP_PERFMON`.
        "text_poke" TEXT_POKE = flag64(33), since (5, 9);
        /// `MMAP2` records hold a build id where one can be read.
        ///
        /// Needs `MMAP` and `MMAP2`: alone it requests no records.
        "build_id" BUILD_ID = flag64(34), since (5, 12);
        /// Only new threads inherit the event; `EINVAL` without `INHERIT`.
        "inherit_thread" INHERIT_THREAD = flag64(35), since (5, 13);
        /// Removes the event from the task at exec; `EINVAL` together with `ENABLE_ON_EXEC`.
        "remove_on_exec" REMOVE_ON_EXEC = flag64(36), since (5, 13);
        /// Sends `SIGTRAP` to the task on overflow; `EINVAL` without `REMOVE_ON_EXEC`.
        "sigtrap" SIGTRAP = flag64(37), since (5, 13);
        /// Delivers the user part of callchains later, in `CALLCHAIN_DEFERRED` records.
        "defer_callchain" DEFER_CALLCHAIN = flag64(38), since (6, 19);
        /// This event receives the `CALLCHAIN_DEFERRED` records.
        ///
        /// Set `COMM` or `TASK` too on an event of all tasks of a CPU, as for `NAMESPACES`.
        "defer_output" DEFER_OUTPUT = flag64(39), since (6, 19);
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
