use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use perf_abi::bpf::{BpfMapFlags, BpfMapType};

use crate::error::{Error, Result};
use crate::event::map_info;
use crate::map::BpfConsumer;
use crate::ring::{Deadline, poll};
use crate::ring::{WaitResult, Waker};

mod batch;
mod claim;

pub use batch::{BpfBatch, BpfRecords};
use claim::Claim;

/// A mapped BPF ring buffer map, and the right to read and release its records. Since Linux 5.8.
///
/// All CPUs write into one ring, in the order in which the programs reserved the records. If the ring is
/// full, the program gets an error and no record: only the program can count what is lost.
///
/// Holding one proves that it is the map's only `BpfRing` in this process, because the map's id is
/// claimed as long as it lives. Another process may have the map too, for example by a pin, and release
/// records that are being read here, which the kernel then overwrites. So records are copied from the
/// ring by atomic loads. A batch reports another reader as [`Error::BpfRingShared`]: records may be
/// missing, malformed or delivered to both. An agent that restarts opens the ring when the last process
/// has ended, and starts where that one has released.
///
/// If the program knows that there is no other reader, [`BpfBatch::borrow_records`] saves the copy.
///
/// A record is in one piece, also where the ring wraps, because the data are mapped twice.
///
/// ```no_run
/// use std::os::fd::OwnedFd;
///
/// use perf_sys::BpfRing;
///
/// fn print(map: OwnedFd) -> perf_sys::Result<()> {
///     let mut ring = BpfRing::map(map)?;
///     loop {
///         ring.wait(None)?;
///         for record in ring.batch()?.records() {
///             println!("{} bytes", record?.len());
///         }
///     }
/// }
/// ```
///
/// # References
///
/// `Documentation/bpf/ringbuf.rst`, `kernel/bpf/ringbuf.c`.
#[doc(alias = "BPF_MAP_TYPE_RINGBUF")]
#[doc(alias = "ring_buffer__new")]
#[derive(Debug)]
pub struct BpfRing {
    // Dropped before the claim, because another reader may map the ring only after it is unmapped.
    consumer: BpfConsumer,
    /// Copies of the records of the last batch.
    copies: Vec<u64>,
    discarded: u64,
    fd: OwnedFd,
    _claim: Claim,
}

impl BpfRing {
    /// Maps a ring buffer map. The reader begins where the last one has released.
    ///
    /// # Errors
    ///
    /// [`Error::NotBpfRing`] for a map of another type, or one whose unread records the kernel
    /// overwrites; [`Error::RingInUse`] if this process reads the map already; [`Error::System`]:
    /// `EPERM` for a map that user space may only read.
    pub fn map(fd: OwnedFd) -> Result<Self> {
        let info = map_info(fd.as_fd())?;
        check(info.kind, info.map_flags)?;
        let claim = Claim::new(info.id)?;
        let consumer = BpfConsumer::map(fd.as_fd(), info.max_entries as usize)?;
        Ok(Self { consumer, copies: Vec::new(), discarded: 0, fd, _claim: claim })
    }

    /// Returns a guard over the unread records, up to the first that its program has not committed.
    ///
    /// # Errors
    ///
    /// [`Error::BpfRingShared`] if another reader has released records since the last batch; the next call
    /// starts at its position. [`Error::Positions`] if the kernel's position is not a possible one, and
    /// [`Error::Forked`].
    pub fn batch(&mut self) -> Result<BpfBatch<'_>> {
        self.consumer.refresh()?;
        Ok(BpfBatch::new(&mut self.consumer, &mut self.copies, &mut self.discarded))
    }

    /// `ppoll(fd, POLLIN, timeout)`—Waits for a record, for at most `timeout`, in ns; `None` waits without
    /// limit. A signal does not end the wait.
    ///
    /// The kernel wakes the reader when a record is committed that the reader has reached. A program may
    /// suppress that by `BPF_RB_NO_WAKEUP`: then use a timeout. While the first record is reserved and
    /// not committed, which is a short time unless the program sleeps, the wait yields the CPU in a loop,
    /// because the kernel reports the ring as readable.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the kernel has no memory for it, and [`Error::Forked`].
    #[doc(alias = "ring_buffer__poll")]
    pub fn wait(&self, timeout: Option<Duration>) -> Result<WaitResult> {
        self.wait_until(None, Deadline::after(timeout))
    }

    /// As [`wait`](Self::wait), until `cancel` is used.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub fn wait_or_woken(&self, timeout: Option<Duration>, cancel: &Waker) -> Result<WaitResult> {
        self.wait_until(Some(cancel), Deadline::after(timeout))
    }

    fn wait_until(&self, cancel: Option<&Waker>, deadline: Deadline) -> Result<WaitResult> {
        self.consumer.check_here()?;
        loop {
            let has_records = self.has_records();
            // No system call: a map does not hang up.
            if has_records && cancel.is_none() {
                return Ok(WaitResult::Readable);
            }
            match poll(self.as_fd(), cancel, deadline.or_now(has_records))? {
                WaitResult::Readable | WaitResult::TimedOut if has_records || self.has_records() => {
                    return Ok(WaitResult::Readable);
                }
                WaitResult::Readable if deadline.is_over() => return Ok(WaitResult::TimedOut),
                WaitResult::Readable => std::thread::yield_now(),
                found => return Ok(found),
            }
        }
    }

    /// Returns whether a batch has a record to consume or an error to report, without a system call.
    pub fn has_records(&self) -> bool {
        self.consumer.has_committed()
    }

    /// Returns the number of records that their programs have discarded, of those consumed so far.
    pub const fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Returns the size of the ring in bytes, a power of two. A record takes 8 bytes more than its data,
    /// rounded up to a multiple of 8.
    pub const fn data_size(&self) -> usize {
        self.consumer.size()
    }
}

/// Returns [`Error::NotBpfRing`] unless the map is a ring whose unread records the kernel keeps.
fn check(map_type: BpfMapType, flags: BpfMapFlags) -> Result<()> {
    // Any flag but that of the memory's node may change who writes where.
    if map_type == BpfMapType::RINGBUF && BpfMapFlags::NUMA_NODE.contains(flags) {
        return Ok(());
    }
    Err(Error::NotBpfRing { map_type, flags })
}

/// The descriptor of the map, for an event loop. It is readable while records are unread.
impl AsFd for BpfRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// For tokio's `AsyncFd`, which needs it.
impl AsRawFd for BpfRing {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// A ring may move to the thread that reads it.
const _: () = {
    const fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<BpfRing>();
};

#[cfg(test)]
mod tests;
