//! `struct perf_event_attr`, the description of an event.

use crate::bits::flag32;
use crate::{
    BranchSampleType, BreakpointLen, BreakpointType, Cache, CacheEvent, CacheOp, CacheResult, EventType,
    HW_EVENT_MASK, Hardware, PMU_TYPE_SHIFT, ReadFormat, SampleType, Software,
};
#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

mod flags;
mod values;

pub use flags::AttrFlags;
pub use values::{Clock, Sampling, Skid, StackSize};
#[cfg(test)]
mod tests;

/// `struct perf_event_attr`—the event to count, when to sample it, and the fields to record.
///
/// An attr proves nothing about the machine: only the system call shows whether kernel and PMU
/// support it. All fields are plain and public; a field that is a union in C has one name here and
/// a setter for each meaning. All setters are `const`, so an attr, and the layout of its samples,
/// can be a constant.
///
/// The struct grows with the kernel and cannot be written as a literal: start with a constructor, then call setters, or assign
/// to the fields of a `mut` one ([`with`](Self::with) does it in an expression).
///
/// # References
///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "Arguments"
#[doc(alias = "perf_event_attr")]
#[must_use = "an attr does nothing until an event is opened with it"]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct Attr {
    /// PMU of the event.
    #[doc(alias = "type")]
    pub kind: EventType,
    /// Length of this struct that the kernel reads, in bytes.
    ///
    /// When the call fails with `E2BIG`, the kernel has written the length that it knows to this
    /// field.
    pub size: u32,
    /// Event selector; its encoding depends on the PMU.
    pub config: u64,
    /// Events between two samples, or samples per second if [`AttrFlags::FREQ`] is set; 0 only
    /// counts. [`sampling`](Self::sampling) returns which of these it is.
    ///
    /// Tracepoints, and software events other than the two clocks, ignore a period and sample every
    /// event if [`SampleType::PERIOD`] is set.
    #[doc(alias = "sample_freq")]
    pub sample_period: u64,
    /// Fields of a sample.
    pub sample_type: SampleType,
    /// Words beside a count.
    pub read_format: ReadFormat,
    /// One-bit fields, and `precise_ip`.
    pub flags: AttrFlags,
    /// Samples after which the kernel wakes the reader, or bytes if [`AttrFlags::WATERMARK`] is
    /// set.
    #[doc(alias = "wakeup_events")]
    #[doc(alias = "wakeup_watermark")]
    pub wakeup: u32,
    /// Accesses that a breakpoint counts. Since Linux 2.6.33.
    pub bp_type: BreakpointType,
    /// Second word of the event selector: address of a breakpoint, or pointer to the C string with
    /// the function or file of a probe.
    #[doc(alias = "bp_addr")]
    #[doc(alias = "kprobe_func")]
    #[doc(alias = "uprobe_path")]
    pub config1: u64,
    /// Third word of the event selector: length of a breakpoint in bytes, address or offset of a
    /// probe. Since Linux 2.6.33.
    #[doc(alias = "bp_len")]
    #[doc(alias = "kprobe_addr")]
    #[doc(alias = "probe_offset")]
    pub config2: u64,
    /// Branches of [`SampleType::BRANCH_STACK`]. Since Linux 3.4.
    pub branch_sample_type: BranchSampleType,
    /// Registers of [`SampleType::REGS_USER`], one bit each; `EINVAL` for 0 with that bit. Since
    /// Linux 3.7.
    pub sample_regs_user: u64,
    /// Size of [`SampleType::STACK_USER`] in bytes, see [`StackSize`]. Since Linux 3.7.
    ///
    /// The kernel accepts 0 and then truncates samples (kernel errata).
    pub sample_stack_user: u32,
    /// Clock of all times; used only if [`AttrFlags::USE_CLOCKID`] is set. Since Linux 4.1.
    pub clockid: Clock,
    /// Registers of [`SampleType::REGS_INTR`], one bit each; `EINVAL` for 0 with that bit. Since
    /// Linux 3.19.
    pub sample_regs_intr: u64,
    /// Bytes of AUX data after which the kernel wakes the reader; 0 means half the area. Since
    /// Linux 4.1.
    pub aux_watermark: u32,
    /// Maximum number of addresses in a callchain; 0 means `/proc/sys/kernel/perf_event_max_stack`.
    /// Since Linux 4.8.
    pub sample_max_stack: u16,
    /// Must be 0.
    #[doc(alias = "__reserved_2")]
    pub reserved_2: u16,
    /// Size of [`SampleType::AUX`] in bytes. Since Linux 5.5.
    pub aux_sample_size: u32,
    /// Effects on the AUX event that leads the group. Since Linux 6.13.
    pub aux_action: AuxAction,
    /// Data for the handler of the `SIGTRAP` that [`AttrFlags::SIGTRAP`] sends. Since Linux 5.13.
    pub sig_data: u64,
    /// Fourth word of the event selector. Since Linux 6.3.
    pub config3: u64,
    /// Fifth word of the event selector. Since Linux 6.19.
    pub config4: u64,
}

layout!(Attr, 144 {
    kind: 0, size: 4, config: 8, sample_period: 16, sample_type: 24, read_format: 32, flags: 40,
    wakeup: 48, bp_type: 52, config1: 56, config2: 64, branch_sample_type: 72, sample_regs_user: 80,
    sample_stack_user: 88, clockid: 92, sample_regs_intr: 96, aux_watermark: 104,
    sample_max_stack: 108, reserved_2: 110, aux_sample_size: 112, aux_action: 116, sig_data: 120,
    config3: 128, config4: 136,
});

bit_set! {
    /// The one-bit fields of `aux_action`: the effects of an event on the AUX event that leads its
    /// group.
    ///
    /// Since Linux 6.13.
    #[doc(alias = "aux_action")]
    pub struct AuxAction(u32) {
        /// On the AUX event itself: starts it paused.
        "aux_start_paused" START_PAUSED = flag32(0), since (6, 13);
        /// Pauses the AUX event when this event overflows.
        "aux_pause" PAUSE = flag32(1), since (6, 13);
        /// Resumes the AUX event when this event overflows.
        "aux_resume" RESUME = flag32(2), since (6, 13);
    }
}

impl Attr {
    /// Returns an event that only counts: all other fields are 0 and `size` is [`Attr::SIZE`].
    pub const fn new(kind: EventType, config: u64) -> Self {
        Self {
            kind,
            size: Self::SIZE,
            config,
            sample_period: 0,
            sample_type: SampleType::empty(),
            read_format: ReadFormat::empty(),
            flags: AttrFlags::empty(),
            wakeup: 0,
            bp_type: BreakpointType::EMPTY,
            config1: 0,
            config2: 0,
            branch_sample_type: BranchSampleType::empty(),
            sample_regs_user: 0,
            sample_stack_user: 0,
            clockid: Clock(0),
            sample_regs_intr: 0,
            aux_watermark: 0,
            sample_max_stack: 0,
            reserved_2: 0,
            aux_sample_size: 0,
            aux_action: AuxAction::empty(),
            sig_data: 0,
            config3: 0,
            config4: 0,
        }
    }

    /// Returns a generic hardware event.
    pub const fn hardware(event: Hardware) -> Self {
        Self::new(EventType::HARDWARE, event.0)
    }

    /// Returns an event of the kernel itself.
    pub const fn software(event: Software) -> Self {
        Self::new(EventType::SOFTWARE, event.0)
    }

    /// Returns true if this is that event of the kernel itself.
    pub const fn is_software(&self, event: Software) -> bool {
        self.kind.0 == EventType::SOFTWARE.0 && self.config == event.0
    }

    /// Returns a generic cache event.
    pub const fn cache(cache: Cache, op: CacheOp, result: CacheResult) -> Self {
        Self::new(EventType::HW_CACHE, CacheEvent { cache, op, result }.config())
    }

    /// Returns the tracepoint event whose `id` file in tracefs holds this number.
    ///
    /// To sample every hit, set a period of 1 and [`SampleType::PERIOD`]: see
    /// [`with_period`](Self::with_period) for tracepoints that count more than 1 a hit.
    ///
    /// The tracepoints `syscalls:*` do not fire for 32-bit tasks on a 64-bit kernel (kernel errata).
    pub const fn tracepoint(id: u64) -> Self {
        Self::new(EventType::TRACEPOINT, id)
    }

    /// Returns an event in the encoding of the CPU's PMU.
    pub const fn raw(config: u64) -> Self {
        Self::new(EventType::RAW, config)
    }

    /// Returns a hardware breakpoint on accesses to `len` bytes of data at `addr`. Since Linux
    /// 2.6.33.
    ///
    /// The kernel fails with `EINVAL` if `addr` is not aligned to `len`.
    pub const fn breakpoint(kind: BreakpointType, addr: u64, len: BreakpointLen) -> Self {
        Self::new(EventType::BREAKPOINT, 0).with_breakpoint(kind, addr, len)
    }

    /// Returns a hardware breakpoint on execution of the instruction at `addr`. Since Linux 2.6.33.
    ///
    /// Its length is [`BreakpointLen::EXECUTE`].
    pub const fn breakpoint_execute(addr: u64) -> Self {
        Self::breakpoint(BreakpointType::EXECUTE, addr, BreakpointLen::EXECUTE)
    }
}

impl Default for Attr {
    /// Returns an attr of zeros, except that `size` is [`Attr::SIZE`].
    fn default() -> Self {
        Self::new(EventType(0), 0)
    }
}

/// # Published lengths
///
/// A kernel accepts an attr that is longer than its own struct if the rest is 0, so the newest
/// length works with every kernel as long as no newer field is used. `clockid`, `sample_max_stack`
/// and `aux_action` were added in the padding of a published length: only an attempt shows whether
/// the kernel knows them.
impl Attr {
    /// Length of this struct in bytes: [`SIZE_VER9`](Self::SIZE_VER9).
    pub const SIZE: u32 = Self::SIZE_VER9;
    /// First published length. Since Linux 2.6.31.
    #[doc(alias = "PERF_ATTR_SIZE_VER0")]
    pub const SIZE_VER0: u32 = 64;
    /// With `config2`. Since Linux 2.6.33.
    #[doc(alias = "PERF_ATTR_SIZE_VER1")]
    pub const SIZE_VER1: u32 = 72;
    /// With `branch_sample_type`. Since Linux 3.4.
    #[doc(alias = "PERF_ATTR_SIZE_VER2")]
    pub const SIZE_VER2: u32 = 80;
    /// With `sample_regs_user` and `sample_stack_user`. Since Linux 3.7.
    #[doc(alias = "PERF_ATTR_SIZE_VER3")]
    pub const SIZE_VER3: u32 = 96;
    /// With `sample_regs_intr`. Since Linux 3.19.
    #[doc(alias = "PERF_ATTR_SIZE_VER4")]
    pub const SIZE_VER4: u32 = 104;
    /// With `aux_watermark`. Since Linux 4.1.
    #[doc(alias = "PERF_ATTR_SIZE_VER5")]
    pub const SIZE_VER5: u32 = 112;
    /// With `aux_sample_size`. Since Linux 5.5.
    #[doc(alias = "PERF_ATTR_SIZE_VER6")]
    pub const SIZE_VER6: u32 = 120;
    /// With `sig_data`. Since Linux 5.13.
    #[doc(alias = "PERF_ATTR_SIZE_VER7")]
    pub const SIZE_VER7: u32 = 128;
    /// With `config3`. Since Linux 6.3.
    #[doc(alias = "PERF_ATTR_SIZE_VER8")]
    pub const SIZE_VER8: u32 = 136;
    /// With `config4`. Since Linux 6.19.
    #[doc(alias = "PERF_ATTR_SIZE_VER9")]
    pub const SIZE_VER9: u32 = 144;
}

const _: () = assert!(size_of::<Attr>() == Attr::SIZE as usize);

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

    /// Returns the attr with another value in some fields, where no setter above has the meaning.
    ///
    /// ```
    /// use perf_abi::{Attr, Clock, Software};
    ///
    /// let attr = Attr::software(Software::DUMMY).with(|attr| attr.clockid = Clock::TAI);
    /// assert_eq!(attr.clockid, Clock::TAI);
    /// ```
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    const fn with_field_if(self, field: SampleType, is_sampled: bool) -> Self {
        if is_sampled { self.with_sample_type(field) } else { self }
    }

    const fn replace_field(self, field: SampleType, is_sampled: bool) -> Self {
        self.without_sample_type(field).with_field_if(field, is_sampled)
    }
}
