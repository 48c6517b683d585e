//! The place at which a thread waits, as text: the system call, and what its arguments say.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use perf_tracepoint::SyscallTable;

use super::{System, ThreadState, WaitPlace};

/// System calls whose first argument is a descriptor, and which wait for its file.
const OF_DESCRIPTOR: &[&str] = &[
    "accept",
    "accept4",
    "connect",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "fdatasync",
    "flock",
    "fsync",
    "io_uring_enter",
    "ioctl",
    "pread64",
    "pwrite64",
    "read",
    "readv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "sendfile",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "splice",
    "write",
    "writev",
];

/// Commands of `futex` without flags: wait, and wait with a mask, whose time is absolute.
const FUTEX_WAIT: u64 = 0;

/// The flag of `clock_nanosleep` for a time at which it ends.
const TIMER_ABSTIME: u64 = 1;

/// The type of `waitid` for a process.
const P_PID: u64 = 1;

impl ThreadState {
    /// Returns one line with the thread and the place at which it waits now, such as
    /// `2426 sleep: clock_nanosleep, 30 s`. The place is missing if this program may not see it.
    pub fn wait_line(&self, system: &System) -> String {
        let name = self.name.to_string_lossy();
        let place = WaitPlace::read(system, self.tid).describe(system, self.tid);
        match place {
            Some(place) => format!("{} {name}: {place}", self.tid),
            None => format!("{} {name}", self.tid),
        }
    }
}

impl WaitPlace {
    /// Returns the name of the system call; `None` for a call of a program of another architecture,
    /// such as one of 32 bits.
    pub fn syscall_name(&self) -> Option<String> {
        let number = self.syscall.filter(|_| self.is_native)?;
        Some(SyscallTable::default().name(number).into_owned())
    }

    /// Returns the place as text: the system call with what its arguments say about the wait, or
    /// else the function of the kernel. `tid` is the thread, which still waits there: times and the
    /// files of descriptors are read from it. What cannot be read is left out.
    pub fn describe(&self, system: &System, tid: u32) -> Option<String> {
        let Some(name) = self.syscall_name() else {
            return self.function.as_ref().map(|function| format!("in {function}"));
        };
        let detail = self.detail(&name, system, tid);
        Some(detail.map_or(name.clone(), |detail| format!("{name}, {detail}")))
    }

    fn detail(&self, name: &str, system: &System, tid: u32) -> Option<String> {
        let [first, second, third, fourth, fifth, _] = self.arguments;
        let of_time = |address| duration(system, tid, address);
        let descriptor = || {
            let link = system.task(tid).path(&format!("fd/{}", first as u32));
            let file = fs::read_link(link).ok()?;
            Some(format!("descriptor {}: {}", first as u32, file.display()))
        };
        match name {
            "nanosleep" => of_time(first),
            "clock_nanosleep" if second & TIMER_ABSTIME == 0 => of_time(third),
            "futex" => {
                let timeout = match fourth {
                    0 => ", no timeout".to_owned(),
                    // The low bits are the command.
                    address if second & 0x7f == FUTEX_WAIT => {
                        of_time(address).map(|time| format!(", timeout {time}")).unwrap_or_default()
                    }
                    _ => String::new(),
                };
                Some(format!("address {first:#x}{timeout}"))
            }
            "poll" => Some(format!("{second} descriptors, {}", milliseconds(third))),
            "ppoll" => Some(format!("{second} descriptors, {}", timeout(third, of_time))),
            "select" => None,
            "pselect6" => Some(timeout(fifth, of_time)),
            "epoll_wait" | "epoll_pwait" => Some([descriptor()?, milliseconds(fourth)].join(", ")),
            "wait4" => match int(first) {
                -1 => Some("any child".to_owned()),
                pid if pid > 0 => Some(format!("process {pid}")),
                _ => None,
            },
            "waitid" => match first {
                0 => Some("any child".to_owned()),
                P_PID => Some(format!("process {}", second as u32)),
                _ => None,
            },
            _ if OF_DESCRIPTOR.contains(&name) => descriptor(),
            _ => None,
        }
    }
}

/// Returns an argument of the type `int`.
fn int(word: u64) -> i32 {
    i32::from_ne_bytes((word as u32).to_ne_bytes())
}

/// Returns a timeout in ms, of which a negative one means no limit.
fn milliseconds(word: u64) -> String {
    match u64::try_from(int(word)) {
        Ok(timeout) => format!("timeout {}", seconds(timeout.saturating_mul(1_000_000))),
        Err(_) => "no timeout".to_owned(),
    }
}

/// Returns the timeout at an address of a thread.
fn timeout(address: u64, read: impl Fn(u64) -> Option<String>) -> String {
    match address {
        0 => "no timeout".to_owned(),
        _ => read(address).map_or("a timeout".to_owned(), |time| format!("timeout {time}")),
    }
}

/// Reads a `struct timespec` of a thread.
fn duration(system: &System, tid: u32, address: u64) -> Option<String> {
    let memory = File::open(system.task(tid).path("mem")).ok()?;
    let mut bytes = [0; 16];
    memory.read_exact_at(&mut bytes, address).ok()?;
    let (whole, part) = bytes.split_first_chunk::<8>()?;
    let (whole, part) = (i64::from_ne_bytes(*whole), i64::from_ne_bytes(part.try_into().ok()?));
    let (whole, part) = (u64::try_from(whole).ok()?, u64::try_from(part).ok()?);
    Some(seconds(whole.checked_mul(1_000_000_000)?.checked_add(part)?))
}

/// Returns a time in ns as text: in s, or in ms below a second.
fn seconds(ns: u64) -> String {
    let text = |ns: u64, unit: u64, name: &str| {
        let fraction = format!("{:09}", ns % unit * (1_000_000_000 / unit));
        match fraction.trim_end_matches('0') {
            "" => format!("{} {name}", ns / unit),
            fraction => format!("{}.{fraction} {name}", ns / unit),
        }
    };
    if ns < 1_000_000_000 { text(ns, 1_000_000, "ms") } else { text(ns, 1_000_000_000, "s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tree::Tree;

    #[test]
    fn times_have_no_digits_that_are_zero() {
        let times = [30_000_000_000, 1_500_000_000, 200_000_000, 1_500, 0].map(seconds);
        assert_eq!(times, ["30 s", "1.5 s", "200 ms", "0.0015 ms", "0 ms"]);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn line_of_a_thread_has_what_the_arguments_say() {
        let tree = Tree::new();
        tree.file("/proc/8/status", "Name:\tsleep\nState:\tS (sleeping)\n");
        let mut memory = vec![0; 32];
        memory[16..24].copy_from_slice(&30_i64.to_ne_bytes());
        tree.file("/proc/8/mem", &memory);
        let state = ThreadState::read(tree.system(), 8).unwrap();
        let line = |text: &str| {
            tree.file("/proc/8/syscall", format!("{text} 0x7ffe0fd4fcb8 0x7fd657316503\n"));
            state.wait_line(tree.system())
        };
        assert_eq!(line("230 0x0 0x0 0x10 0x0 0x0 0x0"), "8 sleep: clock_nanosleep, 30 s");
        assert_eq!(line("230 0x0 0x1 0x10 0x0 0x0 0x0"), "8 sleep: clock_nanosleep");
        assert_eq!(line("202 0x50 0x80 0x2 0x0 0x0 0x0"), "8 sleep: futex, address 0x50, no timeout");
        assert_eq!(line("202 0x50 0x80 0x2 0x10 0x0 0x0"), "8 sleep: futex, address 0x50, timeout 30 s");
        assert_eq!(line("7 0x50 0x3 0xffffffff 0x0 0x0 0x0"), "8 sleep: poll, 3 descriptors, no timeout");
        assert_eq!(line("61 0xffffffff 0x0 0x0 0x0 0x0 0x0"), "8 sleep: wait4, any child");
        // The descriptor cannot be read.
        assert_eq!(line("0 0x3 0x0 0x0 0x0 0x0 0x0"), "8 sleep: read");
        // A program of 32 bits has other numbers.
        tree.file("/proc/8/syscall", "162 0x0 0x0 0x0 0x0 0x0 0x0 0xffe0fd4c 0xf7f5a549\n");
        tree.file("/proc/8/wchan", "hrtimer_nanosleep");
        assert_eq!(state.wait_line(tree.system()), "8 sleep: in hrtimer_nanosleep");
    }
}
