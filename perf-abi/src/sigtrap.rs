//! The signal of an event with [`AttrFlags::SIGTRAP`](crate::AttrFlags::SIGTRAP).

/// `si_code` of a `SIGTRAP` that an event sent. Since Linux 5.13.
///
/// `si_addr` is then the data address, if the event samples it, `si_perf_data` the attr's `sig_data` and
/// `si_perf_type` its `type`.
///
/// # References
///  - [`sigaction(2)`](https://man7.org/linux/man-pages/man2/sigaction.2.html)
pub const TRAP_PERF: i32 = 6;

bit_set! {
    /// `si_perf_flags`—how the signal came. Since Linux 5.18.
    #[doc(alias = "si_perf_flags")]
    pub struct SigtrapFlags(u32) {
        /// Not while the task ran the instruction that fired the event. Since Linux 5.18.
        "TRAP_PERF_FLAG_ASYNC" ASYNC = 1;
    }
}
