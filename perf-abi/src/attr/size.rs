//! The published lengths of `struct perf_event_attr`.

use crate::Attr;

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
