//! The instructions that read a counter or a clock in user space.
//!
//! # Safety
//!
//! This file may use `unsafe` because no library has these instructions. Each writes only its named
//! output registers. If the kernel does not permit the instruction, a signal ends the program. None
//! has the option `nomem`, so the compiler keeps them between the loads of the control page's
//! seqlock.
#![allow(unsafe_code)]
#![allow(clippy::unnecessary_wraps)] // `None` on other architectures

#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
use core::arch::asm;

/// `RDPMC`—Reads the hardware counter `index`, which is the control page's `index - 1`. Fixed
/// counters have bit 30.
///
/// Returns `None` on architectures without an instruction here.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(super) fn counter(index: u32) -> Option<u64> {
    let (low, high): (u32, u32);
    // SAFETY: reads ECX, writes EAX and EDX, and accesses no memory and no stack.
    unsafe {
        asm!("rdpmc", in("ecx") index, out("eax") low, out("edx") high, options(nostack, preserves_flags));
    }
    Some(u64::from(high) << 32 | u64::from(low))
}

/// `RDTSC`—Reads the time-stamp counter.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(super) fn clock() -> Option<u64> {
    let (low, high): (u32, u32);
    // SAFETY: writes EAX and EDX, and accesses no memory and no stack.
    unsafe { asm!("rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    Some(u64::from(high) << 32 | u64::from(low))
}

/// `MRS`—Reads a system register. The name is part of the instruction, so it is a literal.
///
/// ```text
/// read_register!("cntvct_el0")
/// // { let value: u64; unsafe { asm!("mrs {}, cntvct_el0", out(reg) value, ..) }; value }
/// ```
#[cfg(target_arch = "aarch64")]
macro_rules! read_register {
    ($($name:expr),+) => {{
        let value: u64;
        // SAFETY: writes its output register, and accesses no memory and no stack.
        unsafe { asm!(concat!("mrs {}, ", $($name),+), out(reg) value, options(nostack, preserves_flags)) };
        value
    }};
}

/// `MRS PMEVCNTRn_EL0`—Reads the event counter `index`; 31 is the cycle counter.
#[cfg(target_arch = "aarch64")]
pub(super) fn counter(index: u32) -> Option<u64> {
    macro_rules! event_counter {
        ($($n:literal)*) => {
            match index {
                $($n => read_register!("pmevcntr", $n, "_el0"),)*
                31 => read_register!("pmccntr_el0"),
                _ => return None,
            }
        };
    }
    Some(event_counter!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30))
}

/// `MRS CNTVCT_EL0`—Reads the virtual counter-timer.
#[cfg(target_arch = "aarch64")]
pub(super) fn clock() -> Option<u64> {
    Some(read_register!("cntvct_el0"))
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn counter(_index: u32) -> Option<u64> {
    None
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn clock() -> Option<u64> {
    None
}
