//! Joins hits into calls.

use std::collections::HashMap;

use super::numbers::{EXECVE, EXECVEAT, NEW_TASK};
use super::{Syscall, SyscallEnd, SyscallEnter, SyscallHit, SyscallStep};

/// Joins the start and the return of each call, and also reports calls that lack one of them.
///
/// A thread makes one call at a time, so the state is one call for each thread within a call. Add
/// the hits of all CPUs in time order, because a thread may return on another CPU. Nothing is
/// guessed:
///
/// - A return without a start, or with another number than the start, becomes a call whose
///   [`enter`](Syscall::enter) is `None`. A return of number -1 belongs to the call in progress,
///   because the kernel forgets the number in `rt_sigreturn`.
/// - A new task begins with a return of 0 from the `clone`, `clone3`, `fork` or `vfork` of its
///   parent. This return is not reported, because the call is the parent's, to which the kernel
///   returns the id of the new task.
/// - A start that is followed by another start of the thread is [`NotSeen`](SyscallEnd::NotSeen).
/// - [`lose`](Self::lose) ends all calls in progress as [`Lost`](SyscallEnd::Lost), because any of
///   them may have returned, and been made again, in the gap. Their returns then have no start. The
///   kernel reports a loss with the next record of the CPU, so the records that other CPUs wrote
///   earlier were joined already.
/// - A hit from before the start of the thread's call is late, and does not belong to that call.
/// - A return of `execve` may belong to another thread of the process, whose id changes to the
///   process id.
///
/// Report ends of threads by [`end_thread`](Self::end_thread), from `EXIT` records.
///
/// ```
/// use perf_tracepoint::{SyscallEnd, SyscallHit, SyscallJoiner, SyscallStep};
///
/// let mut joiner = SyscallJoiner::new();
/// let mut calls = Vec::new();
/// let hit = |time, step| SyscallHit { pid: 7, tid: 7, time, number: 39, step };
/// joiner.add(hit(100, SyscallStep::Enter { args: [0; 6] }), &mut |call| calls.push(call));
/// joiner.add(hit(350, SyscallStep::Exit { result: 7 }), &mut |call| calls.push(call));
/// assert_eq!((calls[0].duration(), calls[0].result()), (Some(250), Some(7)));
/// ```
#[derive(Clone, Debug)]
pub struct SyscallJoiner {
    /// Call in progress of each thread, by thread id.
    pending: HashMap<u32, Pending>,
    /// Limit of the calls in progress.
    capacity: usize,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    pid: u32,
    number: i64,
    enter: SyscallEnter,
}

impl Pending {
    fn end(self, tid: u32, end: SyscallEnd) -> Syscall {
        Syscall { pid: self.pid, tid, number: self.number, enter: Some(self.enter), end }
    }
}

impl Default for SyscallJoiner {
    fn default() -> Self {
        Self::new()
    }
}

impl SyscallJoiner {
    /// Returns a joiner for up to 65536 threads within a call, which take at most 6 MB.
    pub fn new() -> Self {
        Self::with_capacity(1 << 16)
    }

    /// Returns a joiner for up to `threads` threads within a call, at least 2. When it is full, the
    /// older half of the calls ends as [`InProgress`](SyscallEnd::InProgress). This also removes
    /// calls of threads whose end was lost.
    pub fn with_capacity(threads: usize) -> Self {
        Self { pending: HashMap::new(), capacity: threads.max(2) }
    }

    /// Returns the number of calls in progress.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Adds a hit, and passes the calls that it ends to `done`: at most two, unless the joiner is
    /// full.
    pub fn add(&mut self, hit: SyscallHit, done: &mut (impl FnMut(Syscall) + ?Sized)) {
        let SyscallHit { pid, tid, time, number, step } = hit;
        if self.pending.get(&tid).is_some_and(|call| time < call.enter.time) {
            if let Some(call) = alone(hit) {
                done(call);
            }
            return;
        }
        match step {
            SyscallStep::Enter { args } => {
                let entered = Pending { pid, number, enter: SyscallEnter { time, args } };
                match self.pending.insert(tid, entered) {
                    Some(before) => done(before.end(tid, SyscallEnd::NotSeen)),
                    None if self.pending.len() > self.capacity => self.evict(done),
                    None => {}
                }
            }
            SyscallStep::Exit { result } => {
                let end = SyscallEnd::Returned { time, result };
                let own = self.pending.remove(&tid);
                if let Some(own) = own {
                    if own.number == number || number == -1 {
                        return done(own.end(tid, end));
                    }
                    // Another thread's `execve` ended this thread and its call.
                    let is_killed = is_exec(number) && result == 0;
                    done(
                        own.end(
                            tid,
                            if is_killed { SyscallEnd::Exited { time } } else { SyscallEnd::NotSeen },
                        ),
                    );
                }
                let caller = self.remove_exec(&hit).map(|caller| caller.end(tid, end));
                if let Some(call) = caller.or_else(|| alone(hit)) {
                    done(call);
                }
            }
        }
    }

    /// Notes that a thread has exited, and passes its call to `done`.
    pub fn end_thread(&mut self, tid: u32, time: u64, done: &mut (impl FnMut(Syscall) + ?Sized)) {
        if let Some(call) = self.pending.remove(&tid) {
            done(call.end(tid, SyscallEnd::Exited { time }));
        }
    }

    /// Notes that records were lost, and passes all calls in progress to `done`, ordered by start.
    pub fn lose(&mut self, done: &mut (impl FnMut(Syscall) + ?Sized)) {
        self.end_all(SyscallEnd::Lost, done);
    }

    /// Passes all calls in progress to `done`, ordered by start. Call this at the end of the trace.
    pub fn finish(&mut self, done: &mut (impl FnMut(Syscall) + ?Sized)) {
        self.end_all(SyscallEnd::InProgress, done);
    }

    fn end_all(&mut self, end: SyscallEnd, done: &mut (impl FnMut(Syscall) + ?Sized)) {
        let mut calls: Vec<_> = self.pending.drain().collect();
        calls.sort_unstable_by_key(|(tid, call)| (call.enter.time, *tid));
        for (tid, call) in calls {
            done(call.end(tid, end));
        }
    }

    /// Ends the older half of the calls. The cost is amortized over as many added calls.
    fn evict(&mut self, done: &mut (impl FnMut(Syscall) + ?Sized)) {
        let mut starts: Vec<_> = self.pending.iter().map(|(tid, call)| (call.enter.time, *tid)).collect();
        starts.sort_unstable();
        for (_, tid) in starts.into_iter().take(self.capacity / 2) {
            if let Some(call) = self.pending.remove(&tid) {
                done(call.end(tid, SyscallEnd::InProgress));
            }
        }
    }

    /// Removes the `execve` of another thread of the process, if the hit is its return.
    fn remove_exec(&mut self, hit: &SyscallHit) -> Option<Pending> {
        if !is_exec(hit.number) || hit.pid != hit.tid {
            return None;
        }
        // This scans all calls, but only for a process whose first thread did not call `execve`
        // itself.
        let mut calls =
            self.pending.iter().filter(|(_, call)| call.pid == hit.pid && call.number == hit.number);
        match (calls.next(), calls.next()) {
            (Some((&caller, _)), None) => self.pending.remove(&caller),
            _ => None,
        }
    }
}

/// Returns the call that one hit alone describes; `None` for the first return of a new task.
fn alone(hit: SyscallHit) -> Option<Syscall> {
    let SyscallHit { pid, tid, time, number, step } = hit;
    let (enter, end) = match step {
        SyscallStep::Enter { args } => (Some(SyscallEnter { time, args }), SyscallEnd::NotSeen),
        // The parent gets an id or an error, never 0.
        SyscallStep::Exit { result: 0 } if NEW_TASK.contains(&number) => return None,
        SyscallStep::Exit { result } => (None, SyscallEnd::Returned { time, result }),
    };
    Some(Syscall { pid, tid, number, enter, end })
}

/// Returns whether a call replaces the program of the process.
fn is_exec(number: i64) -> bool {
    [EXECVE, EXECVEAT].contains(&number)
}
