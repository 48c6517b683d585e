//! The first page of a mapped event.

use crate::bits::flag64;
#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct perf_event_mmap_page`—the first page of a mapped event.
///
/// The kernel writes the page at any time, so a `&MmapPage` to a mapping is unsound: take the
/// offsets from here (`core::mem::offset_of!`) and load each field atomically.
///
/// # References
///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "MMAP layout"
#[doc(alias = "perf_event_mmap_page")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct MmapPage {
    /// Version of this struct; 0 so far.
    pub version: u32,
    /// Lowest version that this one is compatible with; 0 so far.
    pub compat_version: u32,
    /// Sequence counter: odd while the kernel changes the fields up to `time_mask`.
    pub lock: u32,
    /// Index of the hardware counter plus 1; 0 if it cannot be read now.
    pub index: u32,
    /// Offset to add to the value of the hardware counter.
    pub offset: i64,
    /// Time enabled, in ns.
    pub time_enabled: u64,
    /// Time running, in ns.
    pub time_running: u64,
    /// Valid fields.
    pub capabilities: MmapCapabilities,
    /// Width of the hardware counter, in bits. Since Linux 3.4.
    pub pmc_width: u16,
    /// Shift of the conversion from cycles to ns. Since Linux 3.4.
    pub time_shift: u16,
    /// Factor of the conversion from cycles to ns. Since Linux 3.4.
    pub time_mult: u32,
    /// Offset to add to converted cycles to extend the times to now, in ns. Since Linux 3.4.
    pub time_offset: u64,
    /// Offset to add to converted cycles to get the time of a sample, in ns. Since Linux 3.12.
    pub time_zero: u64,
    /// Length of the fields up to `time_mask`, in bytes; 0 before Linux 3.12.
    pub size: u32,
    /// Padding.
    #[doc(alias = "__reserved_1")]
    pub reserved_1: u32,
    /// Value of a clock shorter than 64 bits at the last update, in cycles. Since Linux 5.9.
    pub time_cycles: u64,
    /// Mask of the valid bits of a clock shorter than 64 bits. Since Linux 5.9.
    pub time_mask: u64,
    /// Reserved for more fields.
    #[doc(alias = "__reserved")]
    pub reserved: [u8; 928],
    /// Bytes written to the ring by the kernel, free-running; take it modulo `data_size`.
    pub data_head: u64,
    /// Bytes consumed from the ring, free-running; written by the reader.
    pub data_tail: u64,
    /// Offset of the ring from the start of the page, in bytes; 0, which means one page, before
    /// Linux 4.1.
    pub data_offset: u64,
    /// Size of the ring, in bytes; 0 before Linux 4.1.
    pub data_size: u64,
    /// Bytes written to the AUX area by the kernel, free-running. Since Linux 4.1.
    pub aux_head: u64,
    /// Bytes consumed from the AUX area, free-running; written by the reader. Since Linux 4.1.
    pub aux_tail: u64,
    /// File offset at which the AUX area is mapped; written by the reader before it maps. Since
    /// Linux 4.1.
    pub aux_offset: u64,
    /// Size of the AUX area, in bytes; written by the reader before it maps. Since Linux 4.1.
    pub aux_size: u64,
}

layout!(new MmapPage, 1088 {
    version: 0, compat_version: 4, lock: 8, index: 12, offset: 16, time_enabled: 24,
    time_running: 32, capabilities: 40, pmc_width: 48, time_shift: 50, time_mult: 52,
    time_offset: 56, time_zero: 64, size: 72, reserved_1: 76, time_cycles: 80, time_mask: 88,
    reserved: 96, data_head: 1024, data_tail: 1032, data_offset: 1040, data_size: 1048,
    aux_head: 1056, aux_tail: 1064, aux_offset: 1072, aux_size: 1080,
});

bit_set! {
    /// The one-bit fields of `capabilities`: the valid fields of the page.
    pub struct MmapCapabilities(u64) {
        /// Always clear; Linux 3.4 to 3.11 set it with two different meanings.
        "cap_bit0" BIT0 = flag64(0), since (3, 12);
        /// The following bits are valid.
        "cap_bit0_is_deprecated" BIT0_IS_DEPRECATED = flag64(1), since (3, 12);
        /// The hardware counter can be read without a system call.
        "cap_user_rdpmc" USER_RDPMC = flag64(2), since (3, 12);
        /// `time_shift`, `time_mult` and `time_offset` are valid.
        "cap_user_time" USER_TIME = flag64(3), since (3, 12);
        /// `time_zero` is valid.
        "cap_user_time_zero" USER_TIME_ZERO = flag64(4), since (3, 12);
        /// `time_cycles` and `time_mask` are valid.
        "cap_user_time_short" USER_TIME_SHORT = flag64(5), since (5, 9);
    }
}
