//! The `const` setters of [`Attr`].

use crate::{
    Attr, AttrFlags, AuxAction, BranchSampleType, BreakpointType, HW_EVENT_MASK, PMU_TYPE_SHIFT, ReadFormat,
    SampleType,
};

/// # Setters
///
/// Each takes the attr by value and returns it changed.
impl Attr {
    /// Samples after every `events` events; clears [`AttrFlags::FREQ`]. 0 only counts.
    pub const fn with_period(mut self, events: u64) -> Self {
        self.sample_period = events;
        self.without_flags(AttrFlags::FREQ)
    }

    /// Samples about `hertz` times a second; sets [`AttrFlags::FREQ`].
    #[doc(alias = "sample_freq")]
    pub const fn with_frequency(mut self, hertz: u64) -> Self {
        self.sample_period = hertz;
        self.with_flags(AttrFlags::FREQ)
    }

    /// Replaces what a sample holds.
    pub const fn with_sample_type(mut self, fields: SampleType) -> Self {
        self.sample_type = fields;
        self
    }

    /// Replaces what comes with a counter's value.
    pub const fn with_read_format(mut self, format: ReadFormat) -> Self {
        self.read_format = format;
        self
    }

    /// Sets these flags and leaves all others as they are.
    pub const fn with_flags(mut self, flags: AttrFlags) -> Self {
        self.flags = self.flags.union(flags);
        self
    }

    /// Clears these flags and leaves all others as they are.
    pub const fn without_flags(mut self, flags: AttrFlags) -> Self {
        self.flags = self.flags.difference(flags);
        self
    }

    /// Says how far the sampled instruction pointer may be off, see [`AttrFlags::precise_ip`].
    pub const fn with_precise_ip(mut self, level: u8) -> Self {
        self.flags = self.flags.with_precise_ip(level);
        self
    }

    /// Wakes the reader after so many samples; clears [`AttrFlags::WATERMARK`].
    pub const fn with_wakeup_events(mut self, samples: u32) -> Self {
        self.wakeup = samples;
        self.without_flags(AttrFlags::WATERMARK)
    }

    /// Wakes the reader after so many bytes; sets [`AttrFlags::WATERMARK`].
    pub const fn with_wakeup_watermark(mut self, bytes: u32) -> Self {
        self.wakeup = bytes;
        self.with_flags(AttrFlags::WATERMARK)
    }

    /// Takes times from this `CLOCK_*`; sets [`AttrFlags::USE_CLOCKID`]. Since Linux 4.1.
    pub const fn with_clock(mut self, clockid: i32) -> Self {
        self.clockid = clockid;
        self.with_flags(AttrFlags::USE_CLOCKID)
    }

    /// Registers for [`SampleType::REGS_USER`], one bit each; sets that bit too. Since Linux 3.7.
    pub const fn with_regs_user(mut self, mask: u64) -> Self {
        self.sample_regs_user = mask;
        self.sample_type = self.sample_type.union(SampleType::REGS_USER);
        self
    }

    /// Registers for [`SampleType::REGS_INTR`], one bit each; sets that bit too. Since Linux 3.19.
    pub const fn with_regs_intr(mut self, mask: u64) -> Self {
        self.sample_regs_intr = mask;
        self.sample_type = self.sample_type.union(SampleType::REGS_INTR);
        self
    }

    /// Bytes for [`SampleType::STACK_USER`], a multiple of 8 below 65535; sets that bit too. Since Linux 3.7.
    pub const fn with_stack_user(mut self, bytes: u32) -> Self {
        self.sample_stack_user = bytes;
        self.sample_type = self.sample_type.union(SampleType::STACK_USER);
        self
    }

    /// Branches for [`SampleType::BRANCH_STACK`]; sets that bit too. Since Linux 3.4.
    pub const fn with_branch_sample_type(mut self, branches: BranchSampleType) -> Self {
        self.branch_sample_type = branches;
        self.sample_type = self.sample_type.union(SampleType::BRANCH_STACK);
        self
    }

    /// Place and kind of a hardware breakpoint. Since Linux 2.6.33.
    #[doc(alias = "bp_addr")]
    #[doc(alias = "bp_len")]
    pub const fn with_breakpoint(mut self, kind: BreakpointType, addr: u64, len: u64) -> Self {
        self.bp_type = kind;
        self.config1 = addr;
        self.config2 = len;
        self
    }

    /// Names one core PMU of a hybrid CPU by its `type` number, for hardware and cache events. Since Linux
    /// 5.13.
    pub const fn with_hybrid_pmu(mut self, pmu_type: u32) -> Self {
        self.config = (self.config & HW_EVENT_MASK) | (pmu_type as u64) << PMU_TYPE_SHIFT;
        self
    }

    /// More of the event. Since Linux 2.6.39.
    pub const fn with_config1(mut self, config: u64) -> Self {
        self.config1 = config;
        self
    }

    /// More of the event. Since Linux 2.6.39.
    pub const fn with_config2(mut self, config: u64) -> Self {
        self.config2 = config;
        self
    }

    /// More of the event. Since Linux 6.3.
    pub const fn with_config3(mut self, config: u64) -> Self {
        self.config3 = config;
        self
    }

    /// More of the event. Since Linux 6.19.
    pub const fn with_config4(mut self, config: u64) -> Self {
        self.config4 = config;
        self
    }

    /// Most addresses in a callchain. Since Linux 4.8.
    pub const fn with_max_stack(mut self, addresses: u16) -> Self {
        self.sample_max_stack = addresses;
        self
    }

    /// Wakes the reader after so many bytes of AUX data. Since Linux 4.1.
    pub const fn with_aux_watermark(mut self, bytes: u32) -> Self {
        self.aux_watermark = bytes;
        self
    }

    /// Bytes for [`SampleType::AUX`]; sets that bit too. Since Linux 5.5.
    pub const fn with_aux_sample_size(mut self, bytes: u32) -> Self {
        self.aux_sample_size = bytes;
        self.sample_type = self.sample_type.union(SampleType::AUX);
        self
    }

    /// Replaces what the event does to the AUX event that leads its group. Since Linux 6.13.
    pub const fn with_aux_action(mut self, action: AuxAction) -> Self {
        self.aux_action = action;
        self
    }

    /// What the handler of the event's `SIGTRAP` is given. Since Linux 5.13.
    pub const fn with_sig_data(mut self, data: u64) -> Self {
        self.sig_data = data;
        self
    }

    /// How much of the struct the kernel shall look at, in bytes: one of the published lengths.
    pub const fn with_size(mut self, bytes: u32) -> Self {
        self.size = bytes;
        self
    }
}
