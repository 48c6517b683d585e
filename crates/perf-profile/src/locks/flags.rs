//! The kinds of the kernel's locks.

use std::fmt;

/// The field `flags` of `lock:contention_begin` (`LCB_F_*` in `include/trace/events/lock.h`), since
/// Linux 5.19.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentionFlags(pub u32);

impl ContentionFlags {
    /// The waiter spins.
    #[doc(alias = "LCB_F_SPIN")]
    pub const SPIN: Self = Self(1);
    /// It wants to read, and share the lock with other readers.
    #[doc(alias = "LCB_F_READ")]
    pub const READ: Self = Self(1 << 1);
    /// It wants to write.
    #[doc(alias = "LCB_F_WRITE")]
    pub const WRITE: Self = Self(1 << 2);
    /// A lock of a real-time kernel.
    #[doc(alias = "LCB_F_RT")]
    pub const RT: Self = Self(1 << 3);
    /// A lock with a part on each CPU.
    #[doc(alias = "LCB_F_PERCPU")]
    pub const PERCPU: Self = Self(1 << 4);
    /// The lock is a mutex, which spins or sleeps.
    #[doc(alias = "LCB_F_MUTEX")]
    pub const MUTEX: Self = Self(1 << 5);
}

/// Prints the name that the perf tool has for the kind of lock, such as `rwsem:R`, or else the
/// number.
impl fmt::Display for ContentionFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self.0 {
            0 => "semaphore",
            0b1 => "spinlock",
            0b11 => "rwlock:R",
            0b101 => "rwlock:W",
            0b10 => "rwsem:R",
            0b100 => "rwsem:W",
            0b1000 => "rt-mutex",
            0b1010 => "rwlock-rt:R",
            0b1100 => "rwlock-rt:W",
            0b1_0010 => "pcpu-sem:R",
            0b1_0100 => "pcpu-sem:W",
            0b10_0000 | 0b10_0001 => "mutex",
            flags => return f.pad(&format!("flags {flags:#x}")),
        })
    }
}
