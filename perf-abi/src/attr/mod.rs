//! `struct perf_event_attr`, the description of an event.

mod clock;
mod flags;
mod sampling;
mod setters;
mod size;
mod skid;
mod stack_size;

pub use clock::Clock;
pub use flags::AttrFlags;
pub use sampling::Sampling;
pub use skid::Skid;
pub use stack_size::StackSize;

use crate::bits::flag32;
use crate::{
    BranchSampleType, BreakpointLen, BreakpointType, Cache, CacheEvent, CacheOp, CacheResult, EventType,
    Hardware, ReadFormat, SampleType, Software,
};
#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct perf_event_attr`—the event to count, when to sample it, and the fields to record.
///
/// An attr proves nothing about the machine: only the system call shows whether kernel and PMU
/// support it. All fields are plain and public; a field that is a union in C has one name here and
/// a setter for each meaning. All setters are `const`, so an attr, and the layout of its samples,
/// can be a constant.
///
/// # References
///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "Arguments"
#[doc(alias = "perf_event_attr")]
#[must_use = "an attr does nothing until an event is opened with it"]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

#[cfg(test)]
mod tests;
