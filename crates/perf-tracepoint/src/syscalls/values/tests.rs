//! Words as strace prints them.

use linux_raw_sys::general::*;

use crate::payload::Format;
use crate::syscalls::SyscallTable;

/// Returns the arguments of a call as text, without their names. `declared` is as in C:
/// `int fd, int how`.
fn printed(call: &str, declared: &str, words: [u64; 6]) -> String {
    let fields = declared.split(", ").enumerate().map(|(index, field)| {
        let size = if field.starts_with("__data_loc") { 4 } else { 8 };
        format!("\tfield:{field};\toffset:{};\tsize:{size};\tsigned:0;\n", 16 + 8 * index)
    });
    let format = format!(
        "name: sys_enter_{call}\nID: 7\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
         \tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n{}",
        fields.collect::<String>()
    );
    let table = SyscallTable::from_formats([Format::parse(&format).unwrap()]);
    let name = call.trim_start_matches("new");
    let numbers = table.matching(|known| known == call || known == name);
    let text = table.with_values(*numbers.first().unwrap(), words).to_string();
    let args = text.split(", ").map(|arg| arg.split_once(": ").map_or(arg, |(_, text)| text));
    args.collect::<Vec<_>>().join(", ")
}

const OPENAT: &str = "int dfd, const char * filename, int flags, umode_t mode";
/// The bits of -100 in an `int`.
const CWD: u64 = 0xffff_ff9c;

#[test]
fn flags_of_open_have_a_mode_of_access_and_permissions_if_a_file_is_created() {
    if !SyscallTable::HAS_NAMES {
        return;
    }
    let text = |flags: u32, mode| printed("openat", OPENAT, [CWD, 16, flags.into(), mode, 9, 9]);
    assert_eq!(text(O_CLOEXEC, 7), "AT_FDCWD, 0x10, O_RDONLY|O_CLOEXEC");
    assert_eq!(text(O_WRONLY | O_CREAT | O_TRUNC, 0o666), "AT_FDCWD, 0x10, O_WRONLY|O_CREAT|O_TRUNC, 0666");
    assert_eq!(text(O_RDWR | O_TMPFILE, 0o600), "AT_FDCWD, 0x10, O_RDWR|O_TMPFILE, 0600");
    assert_eq!(text(O_RDWR | 1 << 30, 0), "AT_FDCWD, 0x10, O_RDWR|0x40000000");
    assert_eq!(
        printed("openat", OPENAT, [4, 0, O_DIRECTORY.into(), 0, 0, 0]),
        "4, NULL, O_RDONLY|O_DIRECTORY"
    );
}

#[test]
fn memory_calls_have_protections_and_addresses() {
    if !SyscallTable::HAS_NAMES {
        return;
    }
    let mmap = "unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags, unsigned long fd, unsigned long off";
    if cfg!(target_pointer_width = "64") {
        let text = printed("mmap", mmap, [0, 8192, 3, 0x22, u64::MAX, 0]);
        assert_eq!(text, "NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0");
        let text = printed("mmap", mmap, [4096, 1, 0, 0x812, 3, 0x26000]);
        assert_eq!(text, "0x1000, 1, PROT_NONE, MAP_PRIVATE|MAP_FIXED|MAP_DENYWRITE, 3, 0x26000");
    }
    let remap = "unsigned long addr, unsigned long old_len, unsigned long new_len, unsigned long flags, unsigned long new_addr";
    assert_eq!(printed("mremap", remap, [4096, 1, 2, 1, 7, 0]), "0x1000, 1, 2, MREMAP_MAYMOVE");
    assert_eq!(printed("brk", "unsigned long brk", [0; 6]), "NULL");
    assert_eq!(
        printed("madvise", "unsigned long start, size_t len_in, int behavior", [4096, 1, 4, 0, 0, 0]),
        "0x1000, 1, MADV_DONTNEED"
    );
    assert_eq!(
        printed("madvise", "unsigned long start, size_t len_in, int behavior", [0, 1, 999, 0, 0, 0]),
        "NULL, 1, 999"
    );
}

#[test]
fn requests_of_ioctl_have_names_or_parts() {
    if !SyscallTable::HAS_NAMES {
        return;
    }
    let text = |request| {
        printed(
            "ioctl",
            "unsigned int fd, unsigned int cmd, unsigned long arg",
            [1, request, 0x7ffe, 0, 0, 0],
        )
    };
    assert_eq!(text(u64::from(linux_raw_sys::ioctl::TCGETS)), "1, TCGETS, 0x7ffe");
    assert_eq!(text(0x8008_3412), "1, _IOC(_IOC_READ, 0x34, 0x12, 0x8), 0x7ffe");
}

#[test]
fn arguments_depend_on_the_command() {
    if !SyscallTable::HAS_NAMES {
        return;
    }
    let fcntl = "unsigned int fd, unsigned int cmd, unsigned long arg";
    // s390x alone numbers these calls differently.
    assert_eq!(printed("fcntl", fcntl, [1, 0, 10, 0, 0, 0]), "1, F_DUPFD, 10");
    assert_eq!(printed("fcntl", fcntl, [1, 1, 10, 0, 0, 0]), "1, F_GETFD");
    assert_eq!(printed("fcntl", fcntl, [1, 2, 1, 0, 0, 0]), "1, F_SETFD, FD_CLOEXEC");
    let futex =
        "u32 * uaddr, int op, u32 val, const struct __kernel_timespec * utime, u32 * uaddr2, u32 val3";
    assert_eq!(printed("futex", futex, [16, 0x81, 1, 5, 5, 5]), "0x10, FUTEX_WAKE_PRIVATE, 1");
    assert_eq!(printed("futex", futex, [16, 0x80, 2, 0, 5, 5]), "0x10, FUTEX_WAIT_PRIVATE, 2, NULL");
    let text = printed("futex", futex, [16, 0x189, 0, 0, 0, u64::from(u32::MAX)]);
    assert_eq!(
        text,
        "0x10, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 0, NULL, NULL, FUTEX_BITSET_MATCH_ANY"
    );
}

#[test]
fn sockets_signals_and_processes_have_names() {
    if !SyscallTable::HAS_NAMES {
        return;
    }
    let socket = "int family, int type, int protocol";
    assert_eq!(
        printed("socket", socket, [2, 0o2_000_001, 6, 0, 0, 0]),
        "AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP"
    );
    assert_eq!(
        printed("socket", socket, [16, 3, 15, 0, 0, 0]),
        "AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT"
    );
    assert_eq!(printed("socket", socket, [1, 2, 0, 0, 0, 0]), "AF_UNIX, SOCK_DGRAM, 0");
    assert_eq!(printed("kill", "pid_t pid, int sig", [7, 15, 0, 0, 0, 0]), "7, SIGTERM");
    assert_eq!(printed("kill", "pid_t pid, int sig", [7, 0, 0, 0, 0, 0]), "7, 0");
    assert_eq!(printed("kill", "pid_t pid, int sig", [7, 34, 0, 0, 0, 0]), "7, SIGRT_2");
    let clone = "unsigned long clone_flags, unsigned long newsp";
    assert_eq!(
        printed("clone", clone, [0x0120_0011, 0, 0, 0, 0, 0]),
        "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, 0"
    );
    let wait = "pid_t upid, int * stat_addr, int options, struct rusage * ru";
    assert_eq!(printed("wait4", wait, [u64::MAX, 16, 1, 0, 0, 0]), "-1, 0x10, WNOHANG, NULL");
    let access = "const char * filename, int mode";
    assert_eq!(
        printed("faccessat", &format!("int dfd, {access}"), [CWD, 16, 0, 0, 0, 0]),
        "AT_FDCWD, 0x10, F_OK"
    );
    assert_eq!(
        printed("faccessat", &format!("int dfd, {access}"), [CWD, 16, 5, 0, 0, 0]),
        "AT_FDCWD, 0x10, R_OK|X_OK"
    );
}

#[test]
fn copies_of_newer_kernels_are_no_arguments() {
    if !SyscallTable::HAS_NAMES {
        return;
    }
    let declared = "int dfd, const char * pathname, umode_t mode, __data_loc char[] __pathname_val";
    assert_eq!(printed("mkdirat", declared, [CWD, 16, 0o755, 5, 5, 5]), "AT_FDCWD, 0x10, 0755");
}
