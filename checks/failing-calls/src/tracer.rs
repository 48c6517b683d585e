//! Runs a program under ptrace and makes one of its calls fail.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc::{self, user_regs_struct};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::calls::{self, Fault, Kind, Place};

/// Time after which a program hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time in which the processes that a program leaves can end.
const GRACE: Duration = Duration::from_secs(3);

/// A call by its kind and its place among the calls of this kind, from 1.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub number: i64,
    pub nth: usize,
    pub fault: Fault,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(Signal),
    /// It was killed because it did not end.
    Hang,
}

/// The end of a program, and its calls.
#[derive(Debug)]
pub struct Outcome {
    pub end: End,
    /// The call that failed and its place, if the program came to it.
    pub failed: Option<(&'static Kind, String)>,
    /// Calls of all kinds, with their places: only if no target was given.
    pub calls: Vec<(&'static Kind, String)>,
    /// Processes that were left and killed.
    pub left: usize,
}

/// The state of a thread.
#[derive(Default)]
struct Thread {
    in_call: bool,
    fails_with: Option<Errno>,
}

/// Runs a program to its end, with one call failing, or with none and a list of its calls. Calls
/// before `main` and of commands that the program executes are left alone. Sets the flag when the
/// program has ended, and then waits for the processes that it left.
pub fn run(command: &mut Command, target: Option<Target>, has_ended: &AtomicBool) -> io::Result<Outcome> {
    // SAFETY: ptrace(PTRACE_TRACEME) is a bare system call, so it can be made between fork and
    // exec.
    unsafe { command.pre_exec(|| ptrace::traceme().map_err(Into::into)) };
    let child = command.spawn()?;
    let root = Pid::from_raw(child.id().cast_signed());
    waitpid(root, None)?;
    ptrace::setoptions(
        root,
        Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_EXITKILL,
    )?;
    ptrace::syscall(root, None)?;
    let (ended, watchdog) = watch(root);
    let mut tracer = Tracer { root, target, ..Tracer::new(root) };
    let end = tracer.follow();
    has_ended.store(true, Ordering::Relaxed);
    // The other side is gone if the watchdog has killed the program.
    let hang = ended.send(()).is_err();
    let _ = watchdog.join();
    let left = kill_the_rest();
    let end = if hang { End::Hang } else { end? };
    Ok(Outcome { end, failed: tracer.failed, calls: tracer.calls, left })
}

/// Starts a thread that kills the program unless it ends in time.
fn watch(root: Pid) -> (mpsc::SyncSender<()>, thread::JoinHandle<()>) {
    let (ended, wait) = mpsc::sync_channel::<()>(0);
    let watchdog = thread::spawn(move || {
        if wait.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            drop(wait);
            let _ = kill(root, Signal::SIGKILL);
        }
    });
    (ended, watchdog)
}

struct Tracer {
    root: Pid,
    target: Option<Target>,
    threads: HashMap<Pid, Thread>,
    /// The runtime of Rust sets its stack for signals last before it calls `main`.
    signal_stacks: usize,
    /// Calls of the target's kind until now.
    seen: usize,
    failed: Option<(&'static Kind, String)>,
    calls: Vec<(&'static Kind, String)>,
}

impl Tracer {
    fn new(root: Pid) -> Self {
        Self {
            root,
            target: None,
            threads: HashMap::from([(root, Thread::default())]),
            signal_stacks: 0,
            seen: 0,
            failed: None,
            calls: Vec::new(),
        }
    }

    /// Resumes threads until the program has ended.
    fn follow(&mut self) -> io::Result<End> {
        loop {
            let (pid, signal) = match waitpid(None, Some(WaitPidFlag::__WALL))? {
                WaitStatus::Exited(pid, status) if pid == self.root => return Ok(End::Exit(status)),
                WaitStatus::Signaled(pid, signal, _) if pid == self.root => return Ok(End::Signal(signal)),
                WaitStatus::PtraceSyscall(pid) => {
                    // A thread can be gone by now.
                    let _ = self.at_call(pid);
                    (pid, None)
                }
                WaitStatus::PtraceEvent(pid, _, libc::PTRACE_EVENT_EXEC) if pid != self.root => {
                    self.threads.remove(&pid);
                    let _ = ptrace::detach(pid, None);
                    continue;
                }
                WaitStatus::PtraceEvent(pid, ..) => (pid, None),
                WaitStatus::Stopped(pid, signal) => {
                    let is_new = !self.threads.contains_key(&pid);
                    if is_new {
                        self.threads.insert(pid, Thread::default());
                    }
                    (pid, (!is_new || signal != Signal::SIGSTOP).then_some(signal))
                }
                _ => continue,
            };
            let _ = ptrace::syscall(pid, signal);
        }
    }

    /// Looks at the entry to a call or the return from it.
    fn at_call(&mut self, pid: Pid) -> nix::Result<()> {
        let mut registers = ptrace::getregs(pid)?;
        let thread = self.threads.entry(pid).or_default();
        thread.in_call = !thread.in_call;
        if !thread.in_call {
            if let Some(errno) = thread.fails_with.take() {
                registers.rax = i64::from(-(errno as i32)).cast_unsigned();
                ptrace::setregs(pid, registers)?;
            }
            return Ok(());
        }
        let number = registers.orig_rax.cast_signed();
        if number == libc::SYS_sigaltstack && pid == self.root {
            self.signal_stacks += 1;
        }
        let Some(kind) = calls::of(number).filter(|_| self.signal_stacks > 1) else { return Ok(()) };
        let Some(target) = self.target else {
            let place = place(pid, kind, &registers);
            self.calls.push((kind, place));
            return Ok(());
        };
        if number != target.number {
            return Ok(());
        }
        self.seen += 1;
        if self.seen != target.nth {
            return Ok(());
        }
        self.failed = Some((kind, place(pid, kind, &registers)));
        let is_wake = self
            .failed
            .as_ref()
            .is_some_and(|(kind, place)| kind.name == "write" && place.contains("[eventfd]"));
        match target.fault {
            // A wakeup is 8 bytes, and the kernel only returns that it would block.
            _ if is_wake && target.fault != Fault::Errno(Errno::EINTR) => self.failed = None,
            Fault::Errno(errno) => {
                thread.fails_with = Some(errno);
                // No call has this number.
                registers.orig_rax = u64::MAX;
            }
            Fault::Short => registers.rdx = registers.rdx.min(1),
        }
        ptrace::setregs(pid, registers)
    }
}

/// Names what a call is about, with `#` for digits, so that calls of a loop have one name.
fn place(pid: Pid, kind: &Kind, registers: &user_regs_struct) -> String {
    let argument = |index: usize| {
        [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9]
            .get(index)
            .copied()
    };
    let file = |index| {
        // The kernel reads the lower half of the register.
        let fd = argument(index).unwrap_or(0) as u32 as i32;
        fs::read_link(format!("/proc/{pid}/fd/{fd}"))
            .map_or_else(|_| "-".to_string(), |path| path.to_string_lossy().into_owned())
    };
    let text = match kind.place {
        Place::Path(index) => path_at(pid, argument(index).unwrap_or(0)),
        Place::File(index) => file(index),
        Place::Request => format!("{} {:x}", file(0), registers.rsi as u32),
        Place::None => String::new(),
    };
    without_numbers(&text)
}

fn without_numbers(text: &str) -> String {
    let mut name = String::new();
    // Events of tracefs differ in their names.
    let (text, events) = text.split_once("/events/").map_or((text, None), |(text, rest)| (text, Some(rest)));
    for character in text.chars() {
        let character = if character.is_ascii_digit() { '#' } else { character };
        if character != '#' || !name.ends_with('#') {
            name.push(character);
        }
    }
    match events.map(|rest| rest.split('/').collect::<Vec<_>>()).as_deref() {
        None => {}
        Some([_]) => name.push_str("/events/*"),
        Some([_, _]) => name.push_str("/events/*/*"),
        Some([.., file]) => name.push_str(&format!("/events/*/*/{file}")),
        Some([]) => {}
    }
    name
}

fn path_at(pid: Pid, address: u64) -> String {
    let mut bytes = [0; 256];
    let length = File::open(format!("/proc/{pid}/mem"))
        .and_then(|memory| memory.read_at(&mut bytes, address))
        .unwrap_or(0);
    let path = bytes.get(..length).unwrap_or(&[]).split(|&byte| byte == 0).next().unwrap_or(&[]);
    String::from_utf8_lossy(path).into_owned()
}

/// Waits for the processes that the program left, kills what does not end, and returns their
/// number.
fn kill_the_rest() -> usize {
    let mut waited = Duration::ZERO;
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG)) {
            Err(_) => return 0,
            Ok(WaitStatus::StillAlive) if waited < GRACE => {
                let step = Duration::from_millis(5);
                thread::sleep(step);
                waited += step;
            }
            Ok(WaitStatus::StillAlive) => break,
            Ok(WaitStatus::PtraceSyscall(pid) | WaitStatus::PtraceEvent(pid, ..)) => {
                let _ = ptrace::detach(pid, None);
            }
            Ok(WaitStatus::Stopped(pid, signal)) => {
                let _ = ptrace::detach(pid, (signal != Signal::SIGSTOP).then_some(signal));
            }
            Ok(_) => {}
        }
    }
    let children = children();
    for pid in &children {
        let _ = kill(*pid, Signal::SIGKILL);
    }
    while waitpid(None, Some(WaitPidFlag::__WALL)).is_ok() {}
    children.len()
}

/// Children of this process: those of the program became its children when the program ended.
fn children() -> Vec<Pid> {
    let own = std::process::id().to_string();
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        if parent == Some(own.as_str()) {
            children.push(Pid::from_raw(pid));
        }
    }
    children
}
