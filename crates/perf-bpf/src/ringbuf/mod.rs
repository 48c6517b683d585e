//! The reader of a ring buffer map.

use core::time::Duration;
use std::collections::BTreeSet;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use perf_ring::abi::bpf::{BpfCmd, BpfMapFlags, BpfMapInfo, BpfMapType};
use perf_ring::{WaitResult, Waker, poll_readable};

use crate::error::{Error, Result};
use crate::map_spec::MapSpec;
use crate::object::ObjectName;
use crate::syscall::MapFd;
use crate::syscall::info;
use map::Consumer;

mod batch;
mod map;

pub use batch::{RingBufBatch, RingBufRecords};
pub use map::BorrowedRingBufRecords;
#[cfg(test)]
mod tests;

/// A mapped BPF ring buffer map, and the right to read and release its records. Since Linux 5.8.
///
/// All CPUs write into one ring, in the order in which the programs reserved the records. If the
/// ring is full, the program gets an error instead of a record, so that only the program can count
/// losses.
///
/// Holding one proves that it is the map's only `RingBuf` in this process, because it claims the
/// map's id while it exists. Another process may have the map too, for example by a pin, and
/// release records that are being read here, which the kernel then overwrites. So records are
/// copied from the ring by atomic loads. A batch reports another reader as
/// [`Error::RingBufShared`]: records may be missing, malformed or delivered to both. An agent that
/// restarts opens the ring when the last process has ended, and starts where that process stopped.
///
/// If the program knows that the map has no other reader, [`RingBufBatch::borrow_records`] saves
/// the copy.
///
/// A record is in one piece, also where the ring wraps, because the data are mapped twice.
///
/// ```no_run
/// use perf_bpf::RingBuf;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut ring = RingBuf::create("events".parse()?, 1 << 20)?;
/// // Here a loader loads and attaches a program that uses the map, by the descriptor of the ring.
/// loop {
///     ring.wait(None)?;
///     for record in ring.batch()?.records() {
///         println!("{:x?}", record?);
///     }
/// }
/// # }
/// ```
///
/// # References
///
/// `Documentation/bpf/ringbuf.rst`, `kernel/bpf/ringbuf.c`.
#[doc(alias = "BPF_MAP_TYPE_RINGBUF")]
#[doc(alias = "ring_buffer__new")]
#[derive(Debug)]
pub struct RingBuf {
    // Dropped before the claim, because another reader may map the ring only after it is unmapped.
    consumer: Consumer,
    /// Copies of the records of the last batch.
    copies: Vec<u64>,
    discarded: u64,
    fd: OwnedFd,
    _claim: Claim,
}

impl RingBuf {
    /// Creates a map with at least `bytes` bytes of data, and maps it.
    ///
    /// The size is rounded up to a power of two, at least 64 KiB, because the kernel takes only
    /// powers of two of whole pages and no page is larger.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] above 2 GiB, [`Error::Create`], and [`Error::Event`] if the map cannot be
    /// mapped.
    pub fn create(name: ObjectName, bytes: u32) -> Result<Self> {
        /// The largest page of all architectures.
        const LEAST: u32 = 64 << 10;
        let Some(size) = bytes.max(LEAST).checked_next_power_of_two() else {
            let (part, expected, found) = ("size", 1 << 31, bytes as usize);
            return Err(Error::Size { map: name, part, expected, found });
        };
        let map = MapFd::create(&MapSpec::new(BpfMapType::RINGBUF, size).with_name(name))?;
        Self::map(map.into_fd())
    }

    /// Maps a ring buffer map of another library. The descriptor is duplicated. The reader begins
    /// at the position that the previous reader released.
    ///
    /// # Errors
    ///
    /// [`Error::NotRingBuf`] for a map of another type, or one whose unread records the kernel
    /// overwrites; [`Error::RingBufInUse`] if this process reads the map already;
    /// [`Error::Descriptor`] if no descriptor is left; [`Error::Event`] with `EPERM` for a map that
    /// user space may only read.
    pub fn open(map: impl AsFd) -> Result<Self> {
        Self::map(map.as_fd().try_clone_to_owned().map_err(|error| Error::descriptor(&error))?)
    }

    fn map(fd: OwnedFd) -> Result<Self> {
        let info: BpfMapInfo =
            info(fd.as_fd()).map_err(Error::of(BpfCmd::OBJ_GET_INFO_BY_FD, ObjectName::default()))?;
        check(info.kind, info.map_flags)?;
        let claim = Claim::new(info.id)?;
        let consumer = Consumer::map(fd.as_fd(), info.max_entries as usize)?;
        Ok(Self { consumer, copies: Vec::new(), discarded: 0, fd, _claim: claim })
    }

    /// Returns a guard over the unread records, up to the first that its program has not committed.
    ///
    /// # Errors
    ///
    /// [`Error::RingBufShared`] if another reader has released records since the last batch; the
    /// next call starts at its position. [`Error::Event`] with
    /// [`Positions`](perf_ring::sys::Error::Positions) if the kernel's position is not a possible
    /// one, and with [`Forked`](perf_ring::sys::Error::Forked) in a child.
    pub fn batch(&mut self) -> Result<RingBufBatch<'_>> {
        self.consumer.refresh()?;
        Ok(RingBufBatch::new(&mut self.consumer, &mut self.copies, &mut self.discarded))
    }

    /// `ppoll(fd, POLLIN, timeout)`—Waits for a record, for at most `timeout`, in ns; `None` waits
    /// without limit. A signal does not end the wait.
    ///
    /// The kernel wakes the reader when a record is committed that the reader has reached. A
    /// program may suppress that by `BPF_RB_NO_WAKEUP`: then use a timeout. While the first record
    /// is reserved and not committed, which is a short time unless the program sleeps, the wait
    /// yields the CPU in a loop, because the kernel reports the ring as readable.
    ///
    /// # Errors
    ///
    /// [`Error::Event`] if the kernel has no memory for it, or in a child of `fork`.
    #[doc(alias = "ring_buffer__poll")]
    pub fn wait(&self, timeout: Option<Duration>) -> Result<WaitResult> {
        self.wait_until(timeout, None)
    }

    /// Like [`wait`](Self::wait), and returns [`Woken`](WaitResult::Woken) once `waker` is used.
    ///
    /// # Errors
    ///
    /// [`Error::Event`], as for [`wait`](Self::wait).
    pub fn wait_or_woken(&self, timeout: Option<Duration>, waker: &Waker) -> Result<WaitResult> {
        self.wait_until(timeout, Some(waker))
    }

    fn wait_until(&self, timeout: Option<Duration>, waker: Option<&Waker>) -> Result<WaitResult> {
        self.consumer.check_here()?;
        let start = Instant::now();
        loop {
            let has_records = self.has_records();
            // No system call: a map does not hang up.
            if has_records && waker.is_none() {
                return Ok(WaitResult::Readable);
            }
            let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            let left = if has_records { Some(Duration::ZERO) } else { left };
            match poll_readable(self, left, waker).map_err(Error::Event)? {
                WaitResult::Readable | WaitResult::TimedOut if has_records || self.has_records() => {
                    return Ok(WaitResult::Readable);
                }
                // The first record is reserved, so the kernel reports the ring as readable.
                WaitResult::Readable if left.is_some_and(|left| left.is_zero()) => {
                    return Ok(WaitResult::TimedOut);
                }
                WaitResult::Readable => std::thread::yield_now(),
                found => return Ok(found),
            }
        }
    }

    /// Returns whether a batch has a record to consume or an error to report, without a system
    /// call.
    pub fn has_records(&self) -> bool {
        self.consumer.has_committed()
    }

    /// Returns the number of records that their programs have discarded, of those consumed so far.
    pub const fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Returns the size of the ring in bytes, a power of two. A record takes 8 bytes more than its
    /// data, rounded up to a multiple of 8.
    pub const fn data_size(&self) -> usize {
        self.consumer.size()
    }
}

/// Returns [`Error::NotRingBuf`] unless the map is a ring whose unread records the kernel keeps.
fn check(map_type: BpfMapType, flags: BpfMapFlags) -> Result<()> {
    // All flags but NUMA_NODE may change who writes where.
    if map_type == BpfMapType::RINGBUF && BpfMapFlags::NUMA_NODE.contains(flags) {
        return Ok(());
    }
    Err(Error::NotRingBuf { map_type, flags })
}

/// The descriptor of the map, for an event loop. It is readable while records are unread.
impl AsFd for RingBuf {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Required by tokio's `AsyncFd`.
impl AsRawFd for RingBuf {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// A ring may move to the thread that reads it.
const _: () = {
    const fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<RingBuf>();
};

/// The ids of the ring buffer maps that this process reads.
static CLAIMED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// The right of one reader in this process to a ring buffer map, by the map's id. Dropping it ends
/// the right.
#[derive(Debug)]
struct Claim(u32);

impl Claim {
    /// Takes the right, or returns [`Error::RingBufInUse`] if there is a reader.
    fn new(map: u32) -> Result<Self> {
        if claimed().insert(map) { Ok(Self(map)) } else { Err(Error::RingBufInUse) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        claimed().remove(&self.0);
    }
}

fn claimed() -> MutexGuard<'static, BTreeSet<u32>> {
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner)
}
