//! `attr.sample_type`, `attr.read_format`, `attr.branch_sample_type`: the fields of samples and
//! counts.

bit_set! {
    /// `enum perf_event_sample_format`—the fields of a sample.
    ///
    /// The order of the fields in the record is *not* the order of the bits. `TID`, `TIME`, `ID`,
    /// `STREAM_ID`, `CPU` and `IDENTIFIER` also select the fields of the `sample_id` trailer of all
    /// side-band records if [`SAMPLE_ID_ALL`](crate::AttrFlags::SAMPLE_ID_ALL) is set.
    ///
    /// # References
    ///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), `sample_type`
    #[doc(alias = "perf_event_sample_format")]
    pub struct SampleType(u64) {
        /// Instruction pointer.
        "PERF_SAMPLE_IP" IP = 1 << 0, since (2, 6, 31);
        /// Process and thread id.
        "PERF_SAMPLE_TID" TID = 1 << 1, since (2, 6, 31);
        /// Time, in ns of the event's clock.
        ///
        /// In samples of software events it may be that of another event of the same kind, and of
        /// its clock: see `IDENTIFIER`.
        "PERF_SAMPLE_TIME" TIME = 1 << 2, since (2, 6, 31);
        /// Data address.
        "PERF_SAMPLE_ADDR" ADDR = 1 << 3, since (2, 6, 31);
        /// Counts in the layout of `read_format`.
        "PERF_SAMPLE_READ" READ = 1 << 4, since (2, 6, 31);
        /// Callchain.
        ///
        /// Without `CAP_PERFMON` the stable releases of autumn 2026 fail with `EACCES` unless
        /// [`EXCLUDE_CALLCHAIN_KERNEL`](crate::AttrFlags::EXCLUDE_CALLCHAIN_KERNEL) is set.
        "PERF_SAMPLE_CALLCHAIN" CALLCHAIN = 1 << 5, since (2, 6, 31);
        /// Id of the opened event.
        "PERF_SAMPLE_ID" ID = 1 << 6, since (2, 6, 31);
        /// CPU.
        "PERF_SAMPLE_CPU" CPU = 1 << 7, since (2, 6, 31);
        /// Events since the preceding sample.
        ///
        /// Not with a fixed period on a software event (except the clocks) or tracepoint: the
        /// kernel then samples every hit, whatever the period is (kernel errata).
        "PERF_SAMPLE_PERIOD" PERIOD = 1 << 8, since (2, 6, 31);
        /// Id of the event that overflowed; differs from `ID` in inherited copies.
        "PERF_SAMPLE_STREAM_ID" STREAM_ID = 1 << 9, since (2, 6, 32);
        /// Raw data, such as a tracepoint's fields.
        ///
        /// Their size includes padding with old content of the ring (kernel errata).
        "PERF_SAMPLE_RAW" RAW = 1 << 10, since (2, 6, 32);
        /// Branch stack: the last branches taken; needs `branch_sample_type`.
        "PERF_SAMPLE_BRANCH_STACK" BRANCH_STACK = 1 << 11, since (3, 4);
        /// User registers; needs a register mask, and fails with `EINVAL` without one.
        ///
        /// Use one mask for all software events of a kind: see
        /// [`Attr::with_regs_user`](crate::Attr::with_regs_user).
        "PERF_SAMPLE_REGS_USER" REGS_USER = 1 << 12, since (3, 7);
        /// Top of the user stack; needs a size.
        ///
        /// With a size of 0 the kernel writes one word more than it reserves, and the end of the
        /// sample is missing (kernel errata).
        /// [`Attr::with_stack_user`](crate::Attr::with_stack_user) sets both.
        "PERF_SAMPLE_STACK_USER" STACK_USER = 1 << 13, since (3, 7);
        /// Cost of the sampled operation, one number; `EINVAL` together with `WEIGHT_STRUCT`.
        "PERF_SAMPLE_WEIGHT" WEIGHT = 1 << 14, since (3, 10);
        /// Data source of a memory access.
        "PERF_SAMPLE_DATA_SRC" DATA_SRC = 1 << 15, since (3, 10);
        /// Id of the opened event at a position that does not depend on other fields.
        ///
        /// In samples of software events it may be that of another event of the same kind, also of
        /// another user's; only the id in the values of `READ` is certain (kernel errata).
        "PERF_SAMPLE_IDENTIFIER" IDENTIFIER = 1 << 16, since (3, 12);
        /// Abort cause of a hardware transaction.
        "PERF_SAMPLE_TRANSACTION" TRANSACTION = 1 << 17, since (3, 13);
        /// Registers at the interrupt, of kernel or user; needs a register mask, and fails with
        /// `EINVAL` without one.
        "PERF_SAMPLE_REGS_INTR" REGS_INTR = 1 << 18, since (3, 19);
        /// Physical data address.
        "PERF_SAMPLE_PHYS_ADDR" PHYS_ADDR = 1 << 19, since (4, 14);
        /// Data of the AUX area; needs a size.
        "PERF_SAMPLE_AUX" AUX = 1 << 20, since (5, 5);
        /// Id of the task's cgroup.
        "PERF_SAMPLE_CGROUP" CGROUP = 1 << 21, since (5, 7);
        /// Size of the page of the data address, in bytes.
        "PERF_SAMPLE_DATA_PAGE_SIZE" DATA_PAGE_SIZE = 1 << 22, since (5, 11);
        /// Size of the page of the instruction pointer, in bytes.
        "PERF_SAMPLE_CODE_PAGE_SIZE" CODE_PAGE_SIZE = 1 << 23, since (5, 11);
        /// Cost of the sampled operation, three numbers; `EINVAL` together with `WEIGHT`.
        "PERF_SAMPLE_WEIGHT_STRUCT" WEIGHT_STRUCT = 1 << 24, since (5, 12);
    }
}

bit_set! {
    /// `enum perf_event_read_format`—the words beside a count.
    ///
    /// `read(2)`, `READ` records and samples with [`SampleType::READ`] share the layout. All words
    /// are `u64`, in this order, without those that are not asked for: the count, the time enabled, the time
    /// running, the id, the lost samples. With [`GROUP`](Self::GROUP): the number of events, the time enabled, the
    /// time running, and then the count, the id and the lost samples of each.
    #[doc(alias = "perf_event_read_format")]
    pub struct ReadFormat(u64) {
        /// Time enabled, in ns.
        "PERF_FORMAT_TOTAL_TIME_ENABLED" TOTAL_TIME_ENABLED = 1 << 0, since (2, 6, 31);
        /// Time running, in ns; less than the time enabled if the event was multiplexed.
        "PERF_FORMAT_TOTAL_TIME_RUNNING" TOTAL_TIME_RUNNING = 1 << 1, since (2, 6, 31);
        /// Id of the event.
        "PERF_FORMAT_ID" ID = 1 << 2, since (2, 6, 31);
        /// Counts of the whole group, leader first.
        "PERF_FORMAT_GROUP" GROUP = 1 << 3, since (2, 6, 31);
        /// Number of lost samples of the event.
        "PERF_FORMAT_LOST" LOST = 1 << 4, since (6, 0);
    }
}

bit_set! {
    /// `enum perf_branch_sample_type`—the branches of a branch stack, and the fields of each.
    ///
    /// The kernel fails with `EINVAL` unless a bit besides the privilege bits `USER`, `KERNEL` and
    /// `HV` is set. Without a privilege bit it uses the attr's exclude flags.
    #[doc(alias = "perf_branch_sample_type")]
    pub struct BranchSampleType(u64) {
        /// Branches with a target in user space.
        "PERF_SAMPLE_BRANCH_USER" USER = 1 << 0, since (3, 4);
        /// Branches with a target in the kernel.
        "PERF_SAMPLE_BRANCH_KERNEL" KERNEL = 1 << 1, since (3, 4);
        /// Branches with a target in the hypervisor.
        "PERF_SAMPLE_BRANCH_HV" HV = 1 << 2, since (3, 4);
        /// Any branch.
        "PERF_SAMPLE_BRANCH_ANY" ANY = 1 << 3, since (3, 4);
        /// Any call, direct, indirect or to the kernel.
        "PERF_SAMPLE_BRANCH_ANY_CALL" ANY_CALL = 1 << 4, since (3, 4);
        /// Any return.
        "PERF_SAMPLE_BRANCH_ANY_RETURN" ANY_RETURN = 1 << 5, since (3, 4);
        /// Indirect calls.
        "PERF_SAMPLE_BRANCH_IND_CALL" IND_CALL = 1 << 6, since (3, 4);
        /// Transaction aborts.
        "PERF_SAMPLE_BRANCH_ABORT_TX" ABORT_TX = 1 << 7, since (3, 11);
        /// Inside transactions.
        "PERF_SAMPLE_BRANCH_IN_TX" IN_TX = 1 << 8, since (3, 11);
        /// Outside transactions.
        "PERF_SAMPLE_BRANCH_NO_TX" NO_TX = 1 << 9, since (3, 11);
        /// Conditional branches.
        "PERF_SAMPLE_BRANCH_COND" COND = 1 << 10, since (3, 16);
        /// Call stack of the hardware: calls that have not returned.
        "PERF_SAMPLE_BRANCH_CALL_STACK" CALL_STACK = 1 << 11, since (4, 1);
        /// Indirect jumps.
        "PERF_SAMPLE_BRANCH_IND_JUMP" IND_JUMP = 1 << 12, since (4, 2);
        /// Direct calls.
        "PERF_SAMPLE_BRANCH_CALL" CALL = 1 << 13, since (4, 4);
        /// Omits the flags of each branch.
        "PERF_SAMPLE_BRANCH_NO_FLAGS" NO_FLAGS = 1 << 14, since (4, 5);
        /// Omits the cycles of each branch.
        "PERF_SAMPLE_BRANCH_NO_CYCLES" NO_CYCLES = 1 << 15, since (4, 5);
        /// Records the type of each branch.
        "PERF_SAMPLE_BRANCH_TYPE_SAVE" TYPE_SAVE = 1 << 16, since (4, 14);
        /// Records the hardware index of the newest branch.
        "PERF_SAMPLE_BRANCH_HW_INDEX" HW_INDEX = 1 << 17, since (5, 7);
        /// Records the privilege level of each branch.
        "PERF_SAMPLE_BRANCH_PRIV_SAVE" PRIV_SAVE = 1 << 18, since (6, 1);
        /// Records occurrences of the group's events between branches, in words after the branches.
        "PERF_SAMPLE_BRANCH_COUNTERS" COUNTERS = 1 << 19, since (6, 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn known_bits_are_the_union_of_the_flags() {
        let union = |flags: &[(&str, i128)]| flags.iter().fold(0, |bits, (_, flag)| bits | *flag);
        assert_eq!(i128::from(SampleType::KNOWN.bits()), union(SampleType::C_NAMES));
        assert_eq!(i128::from(ReadFormat::KNOWN.bits()), union(ReadFormat::C_NAMES));
        assert_eq!(i128::from(BranchSampleType::KNOWN.bits()), union(BranchSampleType::C_NAMES));
        let bits = SampleType::from_bits_retain(1 << 40) | SampleType::IP;
        assert_eq!(bits.difference(SampleType::KNOWN).bits(), 1 << 40);
    }

    #[test]
    fn unknown_bits_are_kept_and_print() {
        let bits = SampleType::from_bits_retain(1 << 40) | SampleType::IP | SampleType::TIME;
        assert_eq!(format!("{bits}"), "IP|TIME|0x10000000000");
        assert_eq!(format!("{:?}", SampleType::empty()), "0x0");
    }
}
