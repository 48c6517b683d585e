//! The `const` setters of [`Attr`].

use super::{Clock, Skid, StackSize};
use crate::{
    Attr, AttrFlags, AuxAction, BranchSampleType, BreakpointLen, BreakpointType, HW_EVENT_MASK,
    PMU_TYPE_SHIFT, ReadFormat, SampleType,
};

/// # Setters
///
/// Each takes the attr by value and returns it changed. The setters of bits (`sample_type`,
/// `read_format`, flags, branches, registers, `aux_action`) add, so that calls in any order give the
/// union of their bits; `replace_*` and `without_*` remove bits. The setters of a number replace it.
///
/// A setter of a sample field's parameter, such as [`with_regs_user`](Self::with_regs_user), also
/// sets the field's bit in `sample_type`, but not for a parameter that selects nothing, because the
/// kernel fails with `EINVAL` for the bit alone.
impl Attr {
    /// Samples after every `events` events and clears [`AttrFlags::FREQ`]; 0 only counts.
    ///
    /// The kernel fails with `EINVAL` for 2^63 and more. The period of the clocks is in ns.
    ///
    /// On software events (except the clocks) and tracepoints, [`SampleType::PERIOD`] makes every hit
    /// one sample, whatever the period is, with the count of the hit as its period. Add it to a period
    /// of 1 on tracepoints: some hits count more than 1 (those of `sched:sched_stat_runtime`
    /// count ns), and without the field the kernel writes a copy of the sample for each unit, hundreds
    /// of them, until it throttles the event and loses the following hits (kernel errata).
    pub const fn with_period(mut self, events: u64) -> Self {
        self.sample_period = events;
        self.without_flags(AttrFlags::FREQ)
    }

    /// Samples about `hertz` times a second and sets [`AttrFlags::FREQ`]; 0 only counts.
    ///
    /// The kernel fails with `EINVAL` above `/proc/sys/kernel/perf_event_max_sample_rate`, which it
    /// lowers itself when sampling takes too much time. It converts the frequency of cpu-clock and
    /// task-clock to a period in ns when the event is opened: the `PERIOD` of their samples and the
    /// argument of `PERF_EVENT_IOC_PERIOD` are in ns (kernel errata).
    #[doc(alias = "sample_freq")]
    pub const fn with_frequency(mut self, hertz: u64) -> Self {
        self.sample_period = hertz;
        self.with_flags(AttrFlags::FREQ)
    }

    /// Adds these fields to a sample and keeps all others.
    ///
    /// Set `REGS_USER`, `REGS_INTR`, `STACK_USER`, `BRANCH_STACK` and `AUX` by the setters of their
    /// parameters instead. The kernel fails with `EINVAL` for [`SampleType::WEIGHT`] together with
    /// [`SampleType::WEIGHT_STRUCT`]. [`SampleType::PERIOD`] overrides the period of some events: see
    /// [`with_period`](Self::with_period).
    pub const fn with_sample_type(mut self, fields: SampleType) -> Self {
        self.sample_type = self.sample_type.union(fields);
        self
    }

    /// Removes these fields from a sample and keeps all others.
    pub const fn without_sample_type(mut self, fields: SampleType) -> Self {
        self.sample_type = self.sample_type.difference(fields);
        self
    }

    /// Replaces the fields of a sample: removes all that are not in `fields`, also those that another
    /// setter added.
    pub const fn replace_sample_type(mut self, fields: SampleType) -> Self {
        self.sample_type = fields;
        self
    }

    /// Adds these words to a count and keeps all others.
    pub const fn with_read_format(mut self, format: ReadFormat) -> Self {
        self.read_format = self.read_format.union(format);
        self
    }

    /// Replaces the words beside a count.
    pub const fn replace_read_format(mut self, format: ReadFormat) -> Self {
        self.read_format = format;
        self
    }

    /// Sets these flags and keeps all others.
    ///
    /// Some flags request nothing alone: `MMAP2`, and on events of all tasks of a CPU `NAMESPACES`,
    /// `CGROUP`, `BUILD_ID` and `DEFER_OUTPUT`.
    pub const fn with_flags(mut self, flags: AttrFlags) -> Self {
        self.flags = self.flags.union(flags);
        self
    }

    /// Clears these flags and keeps all others.
    pub const fn without_flags(mut self, flags: AttrFlags) -> Self {
        self.flags = self.flags.difference(flags);
        self
    }

    /// Replaces the skid that the sampled instruction pointer may have. Since Linux 2.6.35.
    ///
    /// Software events and breakpoints accept and ignore it (kernel errata).
    pub const fn with_precise_ip(mut self, skid: Skid) -> Self {
        self.flags = self.flags.with_precise_ip(skid);
        self
    }

    /// Wakes the reader after a number of samples and clears [`AttrFlags::WATERMARK`].
    ///
    /// Side-band records are not counted: they alone wake the reader only when the ring is half full.
    /// 0 is the kernel's default: half the ring, for samples too.
    pub const fn with_wakeup_events(mut self, samples: u32) -> Self {
        self.wakeup = samples;
        self.without_flags(AttrFlags::WATERMARK)
    }

    /// Wakes the reader after a number of bytes and sets [`AttrFlags::WATERMARK`]. Since Linux
    /// 2.6.32.
    ///
    /// 0, and more than the size of the ring, mean half the ring. The event that is mapped decides
    /// for its ring, also for events whose records are redirected into it. No timer wakes the reader
    /// for fewer bytes.
    pub const fn with_wakeup_watermark(mut self, bytes: u32) -> Self {
        self.wakeup = bytes;
        self.with_flags(AttrFlags::WATERMARK)
    }

    /// Takes times from this clock and sets [`AttrFlags::USE_CLOCKID`]. Since Linux 4.1.
    pub const fn with_clock(mut self, clock: Clock) -> Self {
        self.clockid = clock;
        self.with_flags(AttrFlags::USE_CLOCKID)
    }

    /// Adds these sampled user registers, one bit each, and sets [`SampleType::REGS_USER`] if there
    /// are any. Since Linux 3.7.
    ///
    /// [`Architecture::registers`](crate::regs::Architecture::registers) are the bits that the
    /// kernel accepts on every CPU.
    ///
    /// Use one mask for all software events of a kind: with different masks the kernel writes samples
    /// longer than the space that it reserved, over unread records (kernel errata).
    pub const fn with_regs_user(mut self, mask: u64) -> Self {
        self.sample_regs_user |= mask;
        self.with_field_if(SampleType::REGS_USER, mask != 0)
    }

    /// Replaces the sampled user registers, one bit each; 0 clears [`SampleType::REGS_USER`]. Since
    /// Linux 3.7.
    pub const fn replace_regs_user(mut self, mask: u64) -> Self {
        self.sample_regs_user = mask;
        self.replace_field(SampleType::REGS_USER, mask != 0)
    }

    /// Adds these registers sampled at the interrupt, one bit each, and sets
    /// [`SampleType::REGS_INTR`] if there are any. Since Linux 3.19.
    ///
    /// [`Architecture::registers`](crate::regs::Architecture::registers) are the bits that the
    /// kernel accepts on every CPU. Use one mask for all software events of a kind, as for
    /// [`with_regs_user`](Self::with_regs_user).
    pub const fn with_regs_intr(mut self, mask: u64) -> Self {
        self.sample_regs_intr |= mask;
        self.with_field_if(SampleType::REGS_INTR, mask != 0)
    }

    /// Replaces the registers sampled at the interrupt, one bit each; 0 clears
    /// [`SampleType::REGS_INTR`]. Since Linux 3.19.
    pub const fn replace_regs_intr(mut self, mask: u64) -> Self {
        self.sample_regs_intr = mask;
        self.replace_field(SampleType::REGS_INTR, mask != 0)
    }

    /// Samples this many bytes of the user stack and sets [`SampleType::STACK_USER`]. Since Linux
    /// 3.7.
    pub const fn with_stack_user(mut self, size: StackSize) -> Self {
        self.sample_stack_user = size.bytes();
        self.with_sample_type(SampleType::STACK_USER)
    }

    /// Adds these sampled branches and sets [`SampleType::BRANCH_STACK`] if there are any. Since Linux
    /// 3.4.
    ///
    /// The kernel fails with `EINVAL` if only privilege bits are set.
    pub const fn with_branch_sample_type(mut self, branches: BranchSampleType) -> Self {
        self.branch_sample_type = self.branch_sample_type.union(branches);
        self.with_field_if(SampleType::BRANCH_STACK, !branches.is_empty())
    }

    /// Replaces the sampled branches; none clears [`SampleType::BRANCH_STACK`]. Since Linux 3.4.
    pub const fn replace_branch_sample_type(mut self, branches: BranchSampleType) -> Self {
        self.branch_sample_type = branches;
        self.replace_field(SampleType::BRANCH_STACK, !branches.is_empty())
    }

    /// Replaces address and accesses of a hardware breakpoint. Since Linux 2.6.33.
    ///
    /// The kernel fails with `EINVAL` if `addr` is not aligned to `len`.
    #[doc(alias = "bp_addr")]
    #[doc(alias = "bp_len")]
    pub const fn with_breakpoint(mut self, kind: BreakpointType, addr: u64, len: BreakpointLen) -> Self {
        self.bp_type = kind;
        self.config1 = addr;
        self.config2 = len.0;
        self
    }

    /// Selects a core PMU of a hybrid CPU by its `type` number, for hardware and cache events.
    /// Since Linux 5.13.
    pub const fn with_hybrid_pmu(mut self, pmu_type: u32) -> Self {
        self.config = (self.config & HW_EVENT_MASK) | (pmu_type as u64) << PMU_TYPE_SHIFT;
        self
    }

    /// Replaces the second word of the event selector. Since Linux 2.6.39.
    pub const fn with_config1(mut self, config: u64) -> Self {
        self.config1 = config;
        self
    }

    /// Replaces the third word of the event selector. Since Linux 2.6.39.
    pub const fn with_config2(mut self, config: u64) -> Self {
        self.config2 = config;
        self
    }

    /// Replaces the fourth word of the event selector. Since Linux 6.3.
    pub const fn with_config3(mut self, config: u64) -> Self {
        self.config3 = config;
        self
    }

    /// Replaces the fifth word of the event selector. Since Linux 6.19.
    pub const fn with_config4(mut self, config: u64) -> Self {
        self.config4 = config;
        self
    }

    /// Limits the addresses in a callchain; 0 is `/proc/sys/kernel/perf_event_max_stack`. Since
    /// Linux 4.8.
    ///
    /// The kernel fails with `EOVERFLOW` above that sysctl.
    pub const fn with_max_stack(mut self, addresses: u16) -> Self {
        self.sample_max_stack = addresses;
        self
    }

    /// Wakes the reader after a number of bytes of AUX data; 0 means half the area. Since Linux
    /// 4.1.
    pub const fn with_aux_watermark(mut self, bytes: u32) -> Self {
        self.aux_watermark = bytes;
        self
    }

    /// Samples this many bytes of the group leader's AUX area; 0 clears [`SampleType::AUX`]. Since
    /// Linux 5.5.
    pub const fn with_aux_sample_size(mut self, bytes: u32) -> Self {
        self.aux_sample_size = bytes;
        self.replace_field(SampleType::AUX, bytes != 0)
    }

    /// Adds these effects on the AUX event that leads the group. Since Linux 6.13.
    ///
    /// The kernel fails with `EINVAL` for `PAUSE` together with `RESUME`.
    pub const fn with_aux_action(mut self, action: AuxAction) -> Self {
        self.aux_action = self.aux_action.union(action);
        self
    }

    /// Replaces the data that the handler of the event's `SIGTRAP` receives. Since Linux 5.13.
    pub const fn with_sig_data(mut self, data: u64) -> Self {
        self.sig_data = data;
        self
    }

    /// Replaces the length of the struct that the kernel reads, in bytes: one of the
    /// [published lengths](Self#published-lengths).
    ///
    /// The kernel fails with `E2BIG` for 1 to 63, and for lengths above its own if the rest is not
    /// 0.
    pub const fn with_size(mut self, bytes: u32) -> Self {
        self.size = bytes;
        self
    }

    const fn with_field_if(self, field: SampleType, is_sampled: bool) -> Self {
        if is_sampled { self.with_sample_type(field) } else { self }
    }

    const fn replace_field(self, field: SampleType, is_sampled: bool) -> Self {
        self.without_sample_type(field).with_field_if(field, is_sampled)
    }
}
