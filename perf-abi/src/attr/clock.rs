//! The clock of an event's times.

open_enum! {
    /// `CLOCK_*`—the clock of an event's times, for [`Attr::with_clock`](crate::Attr::with_clock).
    ///
    /// Hardware events, tracepoints and breakpoints can overflow in a non-maskable interrupt, where
    /// the kernel can read only `MONOTONIC` and `MONOTONIC_RAW`. Software events, cpu-clock and
    /// task-clock take all five. The kernel fails with `EINVAL` for every other clock.
    ///
    /// All events of a group, and all that write to one ring, must have the same clock.
    ///
    /// # References
    ///  - [`clock_gettime(2)`](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)
    pub struct Clock(i32) {
        /// Wall-clock time, which is set and adjusted; software events only. Since Linux 4.1.
        "CLOCK_REALTIME" REALTIME = 0;
        /// Time since boot without suspend, adjusted by NTP. Since Linux 4.1.
        "CLOCK_MONOTONIC" MONOTONIC = 1;
        /// Time since boot without suspend, not adjusted. Since Linux 4.1.
        "CLOCK_MONOTONIC_RAW" MONOTONIC_RAW = 4;
        /// Time since boot with suspend; software events only. Since Linux 4.1.
        "CLOCK_BOOTTIME" BOOTTIME = 7;
        /// International atomic time; software events only. Since Linux 4.1.
        "CLOCK_TAI" TAI = 11;
    }
}
