//! The waits for each lock.

use std::hash::Hash;

use perf_decode::{Layout, Record, Sample};
use rustc_hash::FxHashMap;

use super::event::Kind;
use super::{ContentionFlags, LockEvent};
use crate::sched::Durations;

/// How long threads waited for each lock, and who woke them, from the samples of [`LockEvent`]s.
///
/// Pass all records in time order to [`update`](Self::update), and samples of these events to
/// [`add`](Self::add). `T` is the caller's data of a sample, such as its stack; waits with equal
/// data are summed up. Memory grows with the locks and the different data, not with the records.
#[derive(Clone, Debug)]
pub struct Locks<T> {
    /// Calls of `futex` in progress, by thread.
    calls: FxHashMap<u32, Call<T>>,
    /// Waits for locks of the kernel in progress, by thread and address.
    open: FxHashMap<(u32, u64), Open<T>>,
    waits: FxHashMap<(LockId, T), LockWaits>,
    wakers: FxHashMap<(LockId, T), Durations>,
    owners: FxHashMap<(LockId, u32), u64>,
    /// The last call that woke waiters of a futex: its time, and its data.
    last_wakes: FxHashMap<LockId, (u64, T)>,
    /// Processes by thread.
    tasks: FxHashMap<u32, u32>,
    /// Time of the last event in ns.
    last: u64,
    lost: u64,
    broken: u64,
}

/// A lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LockId {
    /// A futex. A lock that processes share has one for each of them.
    User {
        /// Process id.
        pid: u32,
        /// Address of the futex word in the process.
        address: u64,
    },
    /// A lock of the kernel.
    Kernel {
        /// Address of the lock; 0 if the recorder must not know addresses of the kernel.
        address: u64,
        /// Kind of the lock.
        flags: ContentionFlags,
    },
}

/// Waits for a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockWaits {
    /// Waits that ended.
    pub waits: Durations,
    /// Waits among them that ended because their time was over.
    pub timeouts: u64,
    /// Waits that had not ended with the recording, up to its end.
    pub unfinished: Durations,
}

#[derive(Clone, Debug)]
struct Call<T> {
    lock: LockId,
    is_wait: bool,
    open: Open<T>,
}

#[derive(Clone, Debug)]
struct Open<T> {
    time: u64,
    flags: ContentionFlags,
    data: T,
}

/// The bits of `op` that are the command: without `FUTEX_PRIVATE_FLAG` and `FUTEX_CLOCK_REALTIME`.
const COMMAND: u64 = 0x7f;
/// `FUTEX_WAIT`, `LOCK_PI`, `WAIT_BITSET`, `WAIT_REQUEUE_PI` and `LOCK_PI2`, which wait.
const WAITS: [u64; 5] = [0, 6, 9, 11, 13];
/// `FUTEX_WAKE`, `REQUEUE`, `CMP_REQUEUE`, `WAKE_OP`, `UNLOCK_PI`, `WAKE_BITSET` and
/// `CMP_REQUEUE_PI`, which wake.
const WAKES: [u64; 7] = [1, 3, 4, 5, 7, 10, 12];
/// A bit of the futex word: there are waiters. The kernel and the C libraries set it in words that
/// have the id of the owner.
const FUTEX_WAITERS: u64 = 0x8000_0000;
/// The bits of such a word that are the id.
const FUTEX_TID_MASK: u64 = 0x3fff_ffff;
const EAGAIN: i64 = -11;
const ETIMEDOUT: i64 = -110;
/// The thread did not return from the call.
const KILLED: i64 = i64::MIN;

impl<T: Copy + Eq + Hash> Locks<T> {
    /// Creates it before the first record.
    pub fn new() -> Self {
        Self {
            calls: FxHashMap::default(),
            open: FxHashMap::default(),
            waits: FxHashMap::default(),
            wakers: FxHashMap::default(),
            owners: FxHashMap::default(),
            last_wakes: FxHashMap::default(),
            tasks: FxHashMap::default(),
            last: 0,
            lost: 0,
            broken: 0,
        }
    }

    /// Applies a record that is not a sample: the processes of threads, ends of threads, and
    /// losses, after which the ends of waits are unknown.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        match record {
            Record::Fork(fork) => drop(self.tasks.insert(fork.tid(), fork.pid())),
            Record::Comm(comm) => drop(self.tasks.insert(comm.tid(), comm.pid())),
            Record::Exit(exit) => {
                let call = self.calls.remove(&exit.tid()).filter(|call| call.is_wait);
                if let Some((call, time)) = call.zip(record.time()) {
                    self.end_futex(&call, time, KILLED);
                }
            }
            Record::Lost(lost) => self.lose(lost.lost()),
            Record::LostSamples(lost) if lost.lost() > 0 => self.lose(lost.lost()),
            _ => {}
        }
    }

    fn lose(&mut self, count: u64) {
        self.lost = self.lost.saturating_add(count.max(1));
        let waits = self.calls.values().filter(|call| call.is_wait).count() + self.open.len();
        self.broken = self.broken.saturating_add(waits as u64);
        self.calls.clear();
        self.open.clear();
    }

    /// Applies a sample of an event. Ignores payloads that are too short. `data` is called for the
    /// start of a wait, and for a call that wakes.
    pub fn add<L: Layout>(&mut self, event: &LockEvent, sample: &Sample<'_, L>, data: impl FnOnce() -> T) {
        let (Some(pid), Some(tid), Some(time), Some(raw)) =
            (sample.pid(), sample.tid(), sample.time(), sample.raw())
        else {
            return;
        };
        self.last = self.last.max(time);
        // All idle threads have the id 0, one on each CPU.
        let tid = if tid == 0 { sample.cpu().map_or(0, |cpu| !cpu) } else { tid };
        match event.0 {
            Kind::FutexEnter { address, op, value } => {
                let (Some(address), Some(op)) = (address.read_u64(raw), op.read_u64(raw)) else { return };
                self.tasks.insert(tid, pid);
                let lock = LockId::User { pid, address };
                let is_wait = WAITS.contains(&(op & COMMAND));
                if !is_wait && !WAKES.contains(&(op & COMMAND)) {
                    self.calls.remove(&tid);
                    return;
                }
                let open = Open { time, flags: ContentionFlags::default(), data: data() };
                if is_wait {
                    self.note_owner(lock, value.read_u64(raw).unwrap_or(0));
                } else {
                    self.last_wakes.insert(lock, (time, open.data));
                }
                self.calls.insert(tid, Call { lock, is_wait, open });
            }
            Kind::FutexExit { result } => {
                let (Some(call), Some(result)) = (self.calls.remove(&tid), result.read_i64(raw)) else {
                    return;
                };
                if call.is_wait {
                    self.end_futex(&call, time, result);
                }
            }
            Kind::Begin { address, flags } => {
                let (Some(address), Some(flags)) = (address.read_u64(raw), flags.read_u64(raw)) else {
                    return;
                };
                // A mutex that spins before it sleeps begins twice.
                self.open.entry((tid, address)).or_insert_with(|| Open {
                    time,
                    flags: ContentionFlags(flags as u32),
                    data: data(),
                });
            }
            Kind::End { address } => {
                let Some(address) = address.read_u64(raw) else { return };
                if let Some(open) = self.open.remove(&(tid, address)) {
                    let lock = LockId::Kernel { address, flags: open.flags };
                    let sums = self.waits.entry((lock, open.data)).or_default();
                    sums.waits.add(time.saturating_sub(open.time), time);
                }
            }
        }
    }

    fn note_owner(&mut self, lock: LockId, value: u64) {
        let LockId::User { pid, .. } = lock else { return };
        let owner = (value & FUTEX_TID_MASK) as u32;
        let is_thread = || self.tasks.get(&owner) == Some(&pid);
        if value & FUTEX_WAITERS != 0 && value >> 32 == 0 && is_thread() {
            let count = self.owners.entry((lock, owner)).or_default();
            *count = count.saturating_add(1);
        }
    }

    fn end_futex(&mut self, call: &Call<T>, time: u64, result: i64) {
        // The word had changed, so that there was no wait.
        if result == EAGAIN {
            return;
        }
        let (lock, open) = (call.lock, &call.open);
        let duration = time.saturating_sub(open.time);
        let sums = self.waits.entry((lock, open.data)).or_default();
        sums.waits.add(duration, time);
        sums.timeouts = sums.timeouts.saturating_add(u64::from(result == ETIMEDOUT));
        if let Some(&(woken, waker)) = self.last_wakes.get(&lock).filter(|_| result == 0)
            && woken >= open.time
        {
            self.wakers.entry((lock, waker)).or_default().add(duration, time);
        }
    }

    /// Ends the waits in progress at the time of the last event, or at a later `end` in ns of the
    /// events' clock.
    pub fn finish(&mut self, end: u64) {
        let end = self.last.max(end);
        let calls = std::mem::take(&mut self.calls).into_values().filter(|call| call.is_wait);
        let open = std::mem::take(&mut self.open).into_iter();
        let kernel = open.map(|((_, address), open)| (LockId::Kernel { address, flags: open.flags }, open));
        for (lock, open) in calls.map(|call| (call.lock, call.open)).chain(kernel) {
            let sums = self.waits.entry((lock, open.data)).or_default();
            sums.unfinished.add(end.saturating_sub(open.time), end);
        }
    }

    /// Returns the waits for each lock with the data of their start, in no order.
    pub fn waits(&self) -> impl Iterator<Item = (LockId, T, &LockWaits)> {
        self.waits.iter().map(|(&(lock, data), waits)| (lock, data, waits))
    }

    /// Returns the waits for each futex that a wakeup ended, with the data of the call that woke,
    /// in no order.
    pub fn wakers(&self) -> impl Iterator<Item = (LockId, T, &Durations)> {
        self.wakers.iter().map(|(&(lock, data), waits)| (lock, data, waits))
    }

    /// Returns the threads that owned a futex when others began to wait for it, and how often. Only
    /// some locks have the id of their owner in the futex word, such as robust ones of glibc.
    pub fn owners(&self) -> impl Iterator<Item = (LockId, u32, u64)> {
        self.owners.iter().map(|(&(lock, tid), &count)| (lock, tid, count))
    }

    /// Returns the number of lost records, at least one for each loss of unknown size.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the number of waits that are left out, because records were lost before their end.
    pub fn broken(&self) -> u64 {
        self.broken
    }
}

impl<T: Copy + Eq + Hash> Default for Locks<T> {
    fn default() -> Self {
        Self::new()
    }
}
