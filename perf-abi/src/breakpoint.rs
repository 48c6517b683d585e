//! Hardware breakpoints.

bit_set! {
    /// `HW_BREAKPOINT_*`—the accesses that a hardware breakpoint counts.
    ///
    /// # References
    ///  - `include/uapi/linux/hw_breakpoint.h`
    pub struct BreakpointType(u32) {
        /// None; the kernel fails with `EINVAL`.
        "HW_BREAKPOINT_EMPTY" EMPTY = 0, since (2, 6, 33);
        /// Reads; x86 cannot watch reads alone, the kernel fails with `EINVAL`.
        "HW_BREAKPOINT_R" READ = 1, since (2, 6, 33);
        /// Writes.
        "HW_BREAKPOINT_W" WRITE = 2, since (2, 6, 33);
        /// Reads and writes.
        "HW_BREAKPOINT_RW" READ_WRITE = 3, since (2, 6, 33);
        /// Execution, see [`Attr::breakpoint_execute`](crate::Attr::breakpoint_execute).
        "HW_BREAKPOINT_X" EXECUTE = 4, since (2, 6, 33);
        /// All of them at once; the kernel fails with `EINVAL`.
        "HW_BREAKPOINT_INVALID" INVALID = 7, since (2, 6, 33);
    }
}

open_enum! {
    /// `HW_BREAKPOINT_LEN_*`—the number of bytes that a hardware breakpoint watches.
    ///
    /// x86 watches 1, 2, 4 or 8 bytes at an address aligned to that length, arm64 any of 1 to 8.
    ///
    /// # References
    ///  - `include/uapi/linux/hw_breakpoint.h`
    pub struct BreakpointLen(u64) {
        /// 1 byte. Since Linux 2.6.33.
        "HW_BREAKPOINT_LEN_1" ONE = 1;
        /// 2 bytes. Since Linux 2.6.33.
        "HW_BREAKPOINT_LEN_2" TWO = 2;
        /// 3 bytes. Since Linux 4.10.
        "HW_BREAKPOINT_LEN_3" THREE = 3;
        /// 4 bytes. Since Linux 2.6.33.
        "HW_BREAKPOINT_LEN_4" FOUR = 4;
        /// 5 bytes. Since Linux 4.10.
        "HW_BREAKPOINT_LEN_5" FIVE = 5;
        /// 6 bytes. Since Linux 4.10.
        "HW_BREAKPOINT_LEN_6" SIX = 6;
        /// 7 bytes. Since Linux 4.10.
        "HW_BREAKPOINT_LEN_7" SEVEN = 7;
        /// 8 bytes. Since Linux 2.6.33.
        "HW_BREAKPOINT_LEN_8" EIGHT = 8;
    }
}

impl BreakpointLen {
    /// The length of [`BreakpointType::EXECUTE`]: the size of a C `long`, in bytes.
    ///
    /// x86 demands the size that `long` has in the *kernel*. A 32-bit program on a 64-bit kernel
    /// needs [`EIGHT`](Self::EIGHT) instead.
    pub const EXECUTE: Self = Self(size_of::<core::ffi::c_long>() as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn accesses_of_a_breakpoint_are_bits() {
        assert_eq!(BreakpointType::READ | BreakpointType::WRITE, BreakpointType::READ_WRITE);
        assert_eq!(BreakpointType::from_bits_retain(3), BreakpointType::READ_WRITE);
        let unknown = BreakpointType::READ_WRITE | BreakpointType::from_bits_retain(8);
        assert_eq!(format!("{unknown}"), "READ|WRITE|0x8");
    }
}
