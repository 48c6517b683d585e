//! The signal of an event with [`AttrFlags::SIGTRAP`](crate::AttrFlags::SIGTRAP).

/// `si_code` of a `SIGTRAP` that an event sent. Since Linux 5.13.
///
/// `si_addr` is the data address, 0 unless the event samples [`ADDR`](crate::SampleType::ADDR);
/// `si_perf_data` is the attr's `sig_data` and `si_perf_type` its `type`.
///
/// # References
///  - [`sigaction(2)`](https://man7.org/linux/man-pages/man2/sigaction.2.html)
pub const TRAP_PERF: i32 = 6;

bit_set! {
    /// `si_perf_flags`—the delivery of the signal. Since Linux 5.18.
    #[doc(alias = "si_perf_flags")]
    pub struct SigtrapFlags(u32) {
        /// Asynchronous: delivered after the instruction that overflowed the event.
        "TRAP_PERF_FLAG_ASYNC" ASYNC = 1, since (5, 18);
    }
}
