//! Flags of the system call, request numbers of its ioctls.
//!
//! The kernel's `asm/ioctl.h` has two encodings of a request: most architectures use two bits for
//! the direction, mips, powerpc and sparc use three. Some requests encode the size of a *pointer*,
//! so their numbers differ between 32-bit and 64-bit programs.

#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

bit_set! {
    /// `PERF_FLAG_*`—the last argument of `perf_event_open`, an unsigned long.
    ///
    /// # References
    ///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "Arguments"
    #[doc(alias = "PERF_FLAG")]
    pub struct OpenFlags(u64) {
        /// Does not join the group of `group_fd`; useful only with `FD_OUTPUT`.
        "PERF_FLAG_FD_NO_GROUP" FD_NO_GROUP = 1 << 0, since (2, 6, 32);
        /// Redirects records to the ring of `group_fd`; [`IOC_SET_OUTPUT`] is the usual way.
        "PERF_FLAG_FD_OUTPUT" FD_OUTPUT = 1 << 1, since (2, 6, 32);
        /// `pid` is a descriptor of a cgroup's directory; needs a CPU.
        "PERF_FLAG_PID_CGROUP" PID_CGROUP = 1 << 2, since (2, 6, 39);
        /// Closes the descriptor on exec.
        "PERF_FLAG_FD_CLOEXEC" FD_CLOEXEC = 1 << 3, since (3, 14);
    }
}

const THREE_DIRECTION_BITS: bool = cfg!(any(
    target_arch = "mips",
    target_arch = "mips32r6",
    target_arch = "mips64",
    target_arch = "mips64r6",
    target_arch = "powerpc",
    target_arch = "powerpc64",
    target_arch = "sparc",
    target_arch = "sparc64",
));

const NONE: u32 = if THREE_DIRECTION_BITS { 1 << 29 } else { 0 };
const WRITE: u32 = if THREE_DIRECTION_BITS { 4 << 29 } else { 1 << 30 };
const READ: u32 = if THREE_DIRECTION_BITS { 2 << 29 } else { 2 << 30 };

const fn request<Arg>(direction: u32, number: u32) -> u32 {
    direction | (size_of::<Arg>() as u32) << 16 | (b'$' as u32) << 8 | number
}

type Pointer = *const u8;

/// `PERF_EVENT_IOC_ENABLE`—enables the event and its inherited copies; takes [`IocFlags`]. Since
/// Linux 2.6.31.
#[doc(alias = "PERF_EVENT_IOC_ENABLE")]
pub const IOC_ENABLE: u32 = request::<()>(NONE, 0);

/// `PERF_EVENT_IOC_DISABLE`—disables the event and its inherited copies; takes [`IocFlags`]. Since
/// Linux 2.6.31.
#[doc(alias = "PERF_EVENT_IOC_DISABLE")]
pub const IOC_DISABLE: u32 = request::<()>(NONE, 1);

/// `PERF_EVENT_IOC_REFRESH`—enables the event for a number of overflows; takes the number by value.
/// Since Linux 2.6.31.
#[doc(alias = "PERF_EVENT_IOC_REFRESH")]
pub const IOC_REFRESH: u32 = request::<()>(NONE, 2);

/// `PERF_EVENT_IOC_RESET`—resets the count to 0, but not the times; takes [`IocFlags`]. Since Linux
/// 2.6.31.
#[doc(alias = "PERF_EVENT_IOC_RESET")]
pub const IOC_RESET: u32 = request::<()>(NONE, 3);

/// `PERF_EVENT_IOC_PERIOD`—changes period or frequency; takes a pointer to `u64`. Since Linux
/// 2.6.31.
#[doc(alias = "PERF_EVENT_IOC_PERIOD")]
pub const IOC_PERIOD: u32 = request::<u64>(WRITE, 4);

/// `PERF_EVENT_IOC_SET_OUTPUT`—redirects records to the ring of another event; takes a descriptor,
/// or -1 to detach. Since Linux 2.6.35.
#[doc(alias = "PERF_EVENT_IOC_SET_OUTPUT")]
pub const IOC_SET_OUTPUT: u32 = request::<()>(NONE, 5);

/// `PERF_EVENT_IOC_SET_FILTER`—sets a filter; takes a pointer to a C string. Since Linux 2.6.33.
#[doc(alias = "PERF_EVENT_IOC_SET_FILTER")]
pub const IOC_SET_FILTER: u32 = request::<Pointer>(WRITE, 6);

/// `PERF_EVENT_IOC_ID`—returns the event's id; takes a pointer to `u64`. Since Linux 3.12.
#[doc(alias = "PERF_EVENT_IOC_ID")]
pub const IOC_ID: u32 = request::<Pointer>(READ, 7);

/// `PERF_EVENT_IOC_SET_BPF`—attaches a BPF program; takes its descriptor by value. Since Linux 4.1.
#[doc(alias = "PERF_EVENT_IOC_SET_BPF")]
pub const IOC_SET_BPF: u32 = request::<u32>(WRITE, 8);

/// `PERF_EVENT_IOC_PAUSE_OUTPUT`—pauses the ring: records are dropped and counted as lost; takes 1
/// or 0 by value. Since Linux 4.7.
#[doc(alias = "PERF_EVENT_IOC_PAUSE_OUTPUT")]
pub const IOC_PAUSE_OUTPUT: u32 = request::<u32>(WRITE, 9);

/// `PERF_EVENT_IOC_QUERY_BPF`—returns the ids of the programs on a tracepoint; takes a pointer to
/// [`PerfEventQueryBpf`](crate::PerfEventQueryBpf), followed by a buffer for the ids. Since
/// Linux 4.16.
#[doc(alias = "PERF_EVENT_IOC_QUERY_BPF")]
pub const IOC_QUERY_BPF: u32 = request::<Pointer>(WRITE | READ, 10);

/// `PERF_EVENT_IOC_MODIFY_ATTRIBUTES`—modifies a breakpoint; takes a pointer to
/// [`Attr`](crate::Attr). Since Linux 4.17.
#[doc(alias = "PERF_EVENT_IOC_MODIFY_ATTRIBUTES")]
pub const IOC_MODIFY_ATTRIBUTES: u32 = request::<Pointer>(WRITE, 11);

bit_set! {
    /// `enum perf_event_ioc_flags`—the argument of [`IOC_ENABLE`], [`IOC_DISABLE`] and
    /// [`IOC_RESET`].
    #[doc(alias = "perf_event_ioc_flags")]
    pub struct IocFlags(u32) {
        /// Applies to the whole group of the event, for the leader and for any sibling.
        "PERF_IOC_FLAG_GROUP" GROUP = 1, since (2, 6, 31);
    }
}

// In a block, because rustc 1.85 takes a constant that only assertions use for unused.
const _: () = {
    #[rustfmt::skip]
    let expected: [u32; 12] = match (THREE_DIRECTION_BITS, size_of::<Pointer>()) {
        (false, 8) => [
            0x0000_2400, 0x0000_2401, 0x0000_2402, 0x0000_2403, 0x4008_2404, 0x0000_2405,
            0x4008_2406, 0x8008_2407, 0x4004_2408, 0x4004_2409, 0xc008_240a, 0x4008_240b,
        ],
        (false, _) => [
            0x0000_2400, 0x0000_2401, 0x0000_2402, 0x0000_2403, 0x4008_2404, 0x0000_2405,
            0x4004_2406, 0x8004_2407, 0x4004_2408, 0x4004_2409, 0xc004_240a, 0x4004_240b,
        ],
        (true, 8) => [
            0x2000_2400, 0x2000_2401, 0x2000_2402, 0x2000_2403, 0x8008_2404, 0x2000_2405,
            0x8008_2406, 0x4008_2407, 0x8004_2408, 0x8004_2409, 0xc008_240a, 0x8008_240b,
        ],
        (true, _) => [
            0x2000_2400, 0x2000_2401, 0x2000_2402, 0x2000_2403, 0x8008_2404, 0x2000_2405,
            0x8004_2406, 0x4004_2407, 0x8004_2408, 0x8004_2409, 0xc004_240a, 0x8004_240b,
        ],
    };
    assert!(IOC_ENABLE == expected[0]);
    assert!(IOC_DISABLE == expected[1]);
    assert!(IOC_REFRESH == expected[2]);
    assert!(IOC_RESET == expected[3]);
    assert!(IOC_PERIOD == expected[4]);
    assert!(IOC_SET_OUTPUT == expected[5]);
    assert!(IOC_SET_FILTER == expected[6]);
    assert!(IOC_ID == expected[7]);
    assert!(IOC_SET_BPF == expected[8]);
    assert!(IOC_PAUSE_OUTPUT == expected[9]);
    assert!(IOC_QUERY_BPF == expected[10]);
    assert!(IOC_MODIFY_ATTRIBUTES == expected[11]);
};

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

/// `struct perf_event_query_bpf`—head of the argument of [`IOC_QUERY_BPF`](crate::IOC_QUERY_BPF).
/// Since Linux 4.16.
///
/// `ids_len` ids, each a `u32`, follow it.
#[doc(alias = "perf_event_query_bpf")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct PerfEventQueryBpf {
    /// Capacity for ids; the kernel does not change it.
    pub ids_len: u32,
    /// Number of programs, written by the kernel; can exceed `ids_len`.
    pub prog_cnt: u32,
}

layout!(PerfEventQueryBpf, 8 { ids_len: 0, prog_cnt: 4 });
