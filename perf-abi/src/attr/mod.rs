//! `struct perf_event_attr`: what to count, when to sample, what to record.

mod setters;
mod size;

use crate::bits::flag32;
use crate::{
    AttrFlags, BranchSampleType, BreakpointType, Cache, CacheEvent, CacheOp, CacheResult, EventType,
    Hardware, ReadFormat, SampleType, Software,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct perf_event_attr`—what to count, when to sample, what to record.
///
/// Holding one proves nothing about the kernel: whether this machine can do it is known only after the call.
/// All fields are plain and public; fields that are unions in C have one name here and one setter per
/// meaning. All setters are `const`, so an attr, and the layout of its samples, can be a constant.
///
/// # References
///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "Arguments"
#[doc(alias = "perf_event_attr")]
#[must_use = "an attr does nothing until an event is opened with it"]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Attr {
    /// Which PMU.
    #[doc(alias = "type")]
    pub kind: EventType,
    /// Length of this struct in bytes, as far as the kernel shall look.
    ///
    /// If it answers `E2BIG` it has written the length it knows into this field.
    pub size: u32,
    /// Which event of that PMU.
    pub config: u64,
    /// Events between two samples, or samples per second if [`AttrFlags::FREQ`] is set; 0 only counts.
    #[doc(alias = "sample_freq")]
    pub sample_period: u64,
    /// What a sample holds.
    pub sample_type: SampleType,
    /// What comes with a counter's value.
    pub read_format: ReadFormat,
    /// The one-bit fields, and `precise_ip`.
    pub flags: AttrFlags,
    /// Wake the reader after so many samples, or bytes if [`AttrFlags::WATERMARK`] is set.
    #[doc(alias = "wakeup_events")]
    #[doc(alias = "wakeup_watermark")]
    pub wakeup: u32,
    /// Which accesses a breakpoint counts. Since Linux 2.6.33.
    pub bp_type: BreakpointType,
    /// More of the event: address of a breakpoint, or of a string that names the function or file of a probe.
    #[doc(alias = "bp_addr")]
    #[doc(alias = "kprobe_func")]
    #[doc(alias = "uprobe_path")]
    pub config1: u64,
    /// More of the event: length of a breakpoint in bytes, address or offset of a probe. Since Linux 2.6.33.
    #[doc(alias = "bp_len")]
    #[doc(alias = "kprobe_addr")]
    #[doc(alias = "probe_offset")]
    pub config2: u64,
    /// Which branches [`SampleType::BRANCH_STACK`] records. Since Linux 3.4.
    pub branch_sample_type: BranchSampleType,
    /// Which registers [`SampleType::REGS_USER`] records, one bit each. Since Linux 3.7.
    pub sample_regs_user: u64,
    /// How many bytes [`SampleType::STACK_USER`] records: a multiple of 8 below 65535. Since Linux 3.7.
    pub sample_stack_user: u32,
    /// `CLOCK_*` of all times if [`AttrFlags::USE_CLOCKID`] is set. Since Linux 4.1.
    pub clockid: i32,
    /// Which registers [`SampleType::REGS_INTR`] records, one bit each. Since Linux 3.19.
    pub sample_regs_intr: u64,
    /// Wake the reader after so many bytes of AUX data; 0 means half the area. Since Linux 4.1.
    pub aux_watermark: u32,
    /// Most addresses in a callchain; 0 means `/proc/sys/kernel/perf_event_max_stack`. Since Linux 4.8.
    pub sample_max_stack: u16,
    /// Must be 0.
    #[doc(alias = "__reserved_2")]
    pub reserved_2: u16,
    /// How many bytes of AUX data [`SampleType::AUX`] records. Since Linux 5.5.
    pub aux_sample_size: u32,
    /// Pausing and resuming an AUX event by others of its group. Since Linux 6.13.
    pub aux_action: AuxAction,
    /// Handed to the handler of the `SIGTRAP` that [`AttrFlags::SIGTRAP`] sends. Since Linux 5.13.
    pub sig_data: u64,
    /// More of the event. Since Linux 6.3.
    pub config3: u64,
    /// More of the event. Since Linux 6.19.
    pub config4: u64,
}

layout!(Attr, 144 {
    kind: 0, size: 4, config: 8, sample_period: 16, sample_type: 24, read_format: 32, flags: 40, wakeup: 48,
    bp_type: 52, config1: 56, config2: 64, branch_sample_type: 72, sample_regs_user: 80, sample_stack_user: 88,
    clockid: 92, sample_regs_intr: 96, aux_watermark: 104, sample_max_stack: 108, reserved_2: 110,
    aux_sample_size: 112, aux_action: 116, sig_data: 120, config3: 128, config4: 136,
});

bit_set! {
    /// The one-bit fields of `aux_action`: what an event does to the AUX event that leads its group.
    ///
    /// Since Linux 6.13.
    #[doc(alias = "aux_action")]
    pub struct AuxAction(u32) {
        /// The AUX event itself: starts paused. Since Linux 6.13.
        "aux_start_paused" START_PAUSED = flag32(0);
        /// Pauses the AUX event when this event fires. Since Linux 6.13.
        "aux_pause" PAUSE = flag32(1);
        /// Resumes the AUX event when this event fires. Since Linux 6.13.
        "aux_resume" RESUME = flag32(2);
    }
}

impl Attr {
    /// An event that only counts; all other fields are 0 and `size` is [`Attr::SIZE`].
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
            clockid: 0,
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

    /// A generic hardware event.
    pub const fn hardware(event: Hardware) -> Self {
        Self::new(EventType::HARDWARE, event.0)
    }

    /// An event that the kernel counts itself.
    pub const fn software(event: Software) -> Self {
        Self::new(EventType::SOFTWARE, event.0)
    }

    /// A generic cache event.
    pub const fn cache(cache: Cache, op: CacheOp, result: CacheResult) -> Self {
        Self::new(EventType::HW_CACHE, CacheEvent { cache, op, result }.config())
    }

    /// The tracepoint whose `id` file in tracefs holds this number.
    pub const fn tracepoint(id: u64) -> Self {
        Self::new(EventType::TRACEPOINT, id)
    }

    /// An event in the encoding of the CPU's own PMU.
    pub const fn raw(config: u64) -> Self {
        Self::new(EventType::RAW, config)
    }

    /// A hardware breakpoint on `len` bytes at `addr`.
    pub const fn breakpoint(kind: BreakpointType, addr: u64, len: u64) -> Self {
        Self::new(EventType::BREAKPOINT, 0).with_breakpoint(kind, addr, len)
    }
}

impl Default for Attr {
    /// All fields 0, but `size` is [`Attr::SIZE`].
    fn default() -> Self {
        Self::new(EventType(0), 0)
    }
}

#[cfg(test)]
mod tests;
