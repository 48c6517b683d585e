//! Kinds of waits, by the functions of the kernel in which it waits.

/// Functions of the kernel by what a thread in them waits for. A name stands for all functions that
/// begin with it, because compilers and releases of Linux add suffixes.
///
/// Sources: the functions that `/proc/PID/stack` shows on Linux 5.10 to 6.18.
const FUNCTIONS: &[(&str, &[&str])] = &[
    ("futex", &["futex_wait", "__futex_wait", "futex_do_wait", "futex_lock_pi", "do_futex"]),
    ("sleep", &["hrtimer_nanosleep", "do_nanosleep", "common_nsleep", "alarm_timer_nsleep"]),
    ("child", &["do_wait", "__do_wait", "kernel_wait4", "kernel_waitid", "wait_for_vfork_done"]),
    ("pipe", &["pipe_", "anon_pipe_", "fifo_pipe_", "fifo_open", "wait_for_partner"]),
    (
        "socket",
        &[
            "unix_stream_",
            "unix_dgram_",
            "unix_wait_for_peer",
            "unix_accept",
            "sk_wait_data",
            "sk_stream_wait",
            "sock_alloc_send",
            "sock_recvmsg",
            "sock_sendmsg",
            "__skb_wait_for_more_packets",
            "__skb_recv_",
            "skb_recv_datagram",
            "tcp_",
            "udp_",
            "inet_csk_accept",
            "inet_wait_for_connect",
            "inet_stream_connect",
            "__inet_stream_connect",
            "inet_accept",
            "netlink_",
            "packet_recvmsg",
            "vsock_",
            "__sys_accept",
            "__sys_connect",
        ],
    ),
    (
        "poll",
        &[
            "do_poll",
            "do_sys_poll",
            "poll_schedule_timeout",
            "do_select",
            "core_sys_select",
            "ep_poll",
            "do_epoll_wait",
        ],
    ),
    ("io_uring", &["io_cqring_wait", "io_wq_worker", "io_sq_thread"]),
    (
        "disk",
        &[
            "io_schedule",
            "folio_wait_",
            "wait_on_page_bit",
            "wait_on_buffer",
            "__wait_on_buffer",
            "bit_wait_io",
            "blk_",
            "submit_bio_wait",
            "dio_await_completion",
            "__iomap_dio_rw",
            "jbd2_",
            "xlog_",
            "balance_dirty_pages",
            "vfs_fsync",
            "do_fsync",
            "ksys_sync",
            "file_write_and_wait_range",
            "__filemap_fdatawait_range",
        ],
    ),
    ("terminal", &["n_tty_", "tty_"]),
    ("file lock", &["fcntl_setlk", "flock_lock_inode_wait", "locks_lock_inode_wait", "__x64_sys_flock"]),
    ("semaphore", &["do_semtimedop", "__do_semtimedop", "ksys_semtimedop"]),
    ("message queue", &["do_msgrcv", "do_msgsnd", "wq_sleep", "do_mq_timed"]),
    ("eventfd", &["eventfd_"]),
    ("timer", &["timerfd_"]),
    ("inotify", &["inotify_", "fanotify_"]),
    ("fuse", &["request_wait_answer", "fuse_"]),
    ("stop", &["do_signal_stop", "ptrace_stop", "do_freezer_trap", "__refrigerator"]),
    (
        "signal",
        &["sigsuspend", "do_sigtimedwait", "signalfd_", "__do_sys_pause", "__x64_sys_pause", "sys_pause"],
    ),
    (
        "kernel lock",
        &[
            "rwsem_",
            "__mutex_lock",
            "mutex_lock",
            "down_",
            "__down_",
            "__percpu_down",
            "rcu_barrier",
            "synchronize_rcu",
        ],
    ),
    (
        "work",
        &[
            "worker_thread",
            "rescuer_thread",
            "smpboot_thread_fn",
            "kthread",
            "rcu_gp_kthread",
            "kswapd",
            "kcompactd",
            "devtmpfsd",
        ],
    ),
];

/// Functions of a fault. A thread that reads a page from a disk in them waits for the page.
const FAULTS: &[&str] =
    &["exc_page_fault", "asm_exc_page_fault", "do_page_fault", "do_mem_abort", "do_translation_fault"];

/// Prefixes of the names of functions of system calls.
const SYSCALLS: &[&str] = &[
    "__x64_sys_",
    "__ia32_sys_",
    "__ia32_compat_sys_",
    "__arm64_sys_",
    "__s390x_sys_",
    "__riscv_sys_",
    "__do_sys_",
    "__se_sys_",
];

/// Returns what a thread waits for, by the functions of the kernel in which it waits, innermost
/// first: `futex`, `pipe`, `socket`, `poll`, `disk`, `page fault`, `sleep`, `child`, and others
/// that are rarer. If none of the functions is known, the name of the system call, and `None`
/// without one.
///
/// ```
/// use perf_profile::wait_kind;
///
/// let functions = ["schedule", "do_nanosleep", "hrtimer_nanosleep", "__x64_sys_clock_nanosleep"];
/// assert_eq!(wait_kind(functions), Some("sleep"));
/// assert_eq!(wait_kind(["schedule", "new_driver_ioctl", "__x64_sys_ioctl"]), Some("ioctl"));
/// assert_eq!(wait_kind(["schedule", "new_driver_thread"]), None);
/// ```
pub fn wait_kind<'n>(functions: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let begins_with = |name: &str, list: &[&str]| list.iter().any(|start| name.starts_with(start));
    let (mut kind, mut syscall) = (None, None);
    for name in functions {
        if begins_with(name, FAULTS) {
            return Some("page fault");
        }
        if let Some(call) = SYSCALLS.iter().find_map(|prefix| name.strip_prefix(prefix)) {
            syscall = Some(call);
        }
        kind = kind
            .or_else(|| FUNCTIONS.iter().find(|(_, list)| begins_with(name, list)).map(|(kind, _)| *kind));
    }
    kind.or(syscall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_is_the_innermost_known_function() {
        // Stacks of Linux 6.18, by `/proc/PID/stack`.
        for (functions, expected) in [
            ("futex_do_wait __futex_wait futex_wait do_futex __x64_sys_futex do_syscall_64", "futex"),
            ("hrtimer_nanosleep common_nsleep __x64_sys_clock_nanosleep", "sleep"),
            ("do_wait kernel_wait4 __do_sys_wait4 do_syscall_64", "child"),
            ("anon_pipe_read vfs_read ksys_read do_syscall_64", "pipe"),
            (
                "unix_stream_data_wait unix_stream_read_generic unix_stream_recvmsg sock_recvmsg __sys_recvfrom",
                "socket",
            ),
            ("poll_schedule_timeout do_sys_poll __x64_sys_poll", "poll"),
            ("schedule schedule_hrtimeout_range ep_poll do_epoll_wait __x64_sys_epoll_wait", "poll"),
            (
                "io_schedule folio_wait_bit_common filemap_get_pages filemap_read vfs_read __x64_sys_pread64",
                "disk",
            ),
            (
                "io_schedule folio_wait_bit_common filemap_fault do_user_addr_fault exc_page_fault",
                "page fault",
            ),
            ("schedule worker_thread kthread ret_from_fork", "work"),
        ] {
            assert_eq!(wait_kind(functions.split(' ')), Some(expected), "{functions}");
        }
        assert_eq!(wait_kind([]), None);
    }
}
