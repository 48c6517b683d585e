//! The reader of a perf event array.

use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Instant;

use perf_ring::{RingSet, WaitResult, Waker};
use perf_session::CpuList;

use crate::array::EventArray;
use crate::error::Error;

mod counts;
mod open;
mod options;
mod records;
mod slot;

pub use counts::PerfBufferCounts;
pub use open::RefreshedRings;
pub use options::PerfBufferOptions;
pub use records::{PerfBufferBatch, PerfBufferRecord, PerfBufferRecords, PerfBufferSample};

use counts::CpuRing;
use records::Format;

/// Reads the output of programs that call `bpf_perf_event_output`. Has a ring for each CPU, and
/// puts its bpf-output event into the slot of the CPU in a perf event array.
///
/// ```no_run
/// use perf_bpf::{EventArray, PerfBufferRecord, PerfBufferOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let array = EventArray::create("events".parse()?)?;
/// // Here a program that uses the array is loaded and attached.
/// let mut buffer = PerfBufferOptions::new().open(array)?;
/// loop {
///     buffer.wait(None)?;
///     for batch in buffer.ready() {
///         let mut batch = batch?;
///         let cpu = batch.cpu();
///         for output in batch.outputs() {
///             match output? {
///                 PerfBufferRecord::Sample(sample) => println!("CPU {cpu}: {:x?}", sample.bytes()),
///                 PerfBufferRecord::Lost(records) => println!("CPU {cpu}: {records} records lost"),
///                 PerfBufferRecord::Other(record) => println!("CPU {cpu}: {:?}", record.kind()),
///             }
///         }
///     }
/// }
/// # }
/// ```
///
/// # Losses
///
/// If a ring is full, `bpf_perf_event_output` fails with `ENOSPC`, and the kernel reports the
/// number of lost records before the next record that fits. So the last losses are not in the ring:
/// [`counts`](Self::counts) reads them from the event (since Linux 6.0). A record that is larger
/// than the ring never fits and is lost in the same way.
///
/// # CPUs that come and go
///
/// The event of a CPU dies when the CPU goes offline (kernel errata). Its ring can still be read.
/// Call [`refresh`](Self::refresh) periodically to open a new event and ring when the CPU is back.
///
/// # Several readers of one map
///
/// The last reader that was opened or [refreshed](Self::refresh) has the slots and gets the output,
/// for example the next agent that opens a pinned map while the previous one still runs. A reader
/// that has lost slots learns it: its next [wait](Self::wait) without a record fails with
/// [`Error::SlotsLost`], once, also if the other reader is gone already and the slots are empty. A
/// reader that does not call `wait` checks [`lost_slots`](Self::lost_slots). Then it either ends or
/// takes the slots back by a refresh.
///
/// A program finds out more: `bpf_perf_event_output` fails with `ENOENT` if the slot is empty, with
/// `EOPNOTSUPP` if its event is [paused](Self::pause) or of a CPU that was offline, and with
/// `ENOSPC` if the ring is full.
///
/// Dropping the reader closes everything and clears the slots that still hold its events, no others
/// ([`EventArray`] describes the privilege that this needs).
#[doc(alias = "perf_buffer__new")]
#[derive(Debug)]
pub struct PerfBuffer {
    // Dropped before the rings, so that no program finds an event without one.
    array: EventArray,
    rings: RingSet<usize>,
    /// By ascending key, the order of the rings in the set. A CPU that was offline has several.
    cpus: Vec<CpuRing>,
    options: PerfBufferOptions,
    format: Format,
    offline: CpuList,
    /// The counts of rings that were closed.
    closed: Vec<(u32, PerfBufferCounts)>,
    next_key: usize,
    /// Whether the kernel counts the lost records of each event (since Linux 6.0).
    reads_lost: bool,
    is_paused: bool,
    /// The last check of the slots.
    checked: Instant,
    /// Set from a check that found slots newly lost until a wait has returned them.
    has_unreported_loss: bool,
}

impl PerfBuffer {
    /// Waits for a wakeup of any ring, for at most `timeout`, in ns; `None` waits without limit.
    ///
    /// With more than one record per [wakeup](PerfBufferOptions::wakeup_events), fewer records do
    /// not wake the reader, so use a timeout.
    ///
    /// It wakes up once a second to check whether the slots still hold the events of this reader.
    ///
    /// # Errors
    ///
    /// [`Error::SlotsLost`] if another reader has taken or cleared slots, once for each newly lost
    /// slot; further waits are for the records of the other CPUs. [`Error::Event`] with the error
    /// of [`RingSet::wait`].
    #[doc(alias = "perf_buffer__poll")]
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<WaitResult, Error> {
        self.wait_and_check(timeout, |rings, timeout| rings.wait(Some(timeout)))
    }

    /// Waits like [`wait`](Self::wait), but also ends when `waker` is used.
    ///
    /// # Errors
    ///
    /// The errors of [`wait`](Self::wait).
    pub fn wait_or_woken(&mut self, timeout: Option<Duration>, waker: &Waker) -> Result<WaitResult, Error> {
        self.wait_and_check(timeout, |rings, timeout| rings.wait_or_woken(Some(timeout), waker))
    }

    /// Iterates over the rings with unread records, also those below their watermark, and makes no
    /// system call. The records are borrowed from the rings.
    #[doc(alias = "perf_buffer__consume")]
    pub fn ready(&mut self) -> impl Iterator<Item = Result<PerfBufferBatch<'_>, Error>> {
        let format = &self.format;
        let mut cpus = self.cpus.iter_mut();
        self.rings.ready().filter_map(move |(key, batch)| {
            let cpu = cpus.find(|cpu| cpu.key == *key)?;
            Some(batch.map(|batch| PerfBufferBatch::new(batch, cpu, format)).map_err(Error::from))
        })
    }

    /// Reads the unread records of all rings, and returns their number. It makes no system call.
    ///
    /// # Errors
    ///
    /// The first malformed record or unreadable ring ends the call. The records after it stay in
    /// their rings.
    #[doc(alias = "ReadAll")]
    pub fn read(&mut self, mut consume: impl FnMut(u32, PerfBufferRecord<'_>)) -> Result<u64, Error> {
        let mut outputs = 0;
        for batch in self.ready() {
            let mut batch = batch?;
            let cpu = batch.cpu();
            for output in batch.outputs() {
                consume(cpu, output?);
                outputs += 1;
            }
        }
        Ok(outputs)
    }

    /// Returns the CPUs whose programs write into a ring.
    pub fn cpus(&self) -> CpuList {
        self.cpus.iter().filter(|cpu| cpu.is_live).map(|cpu| cpu.cpu).collect()
    }

    /// Returns the CPUs that were skipped because they were offline when the reader was opened or
    /// last [refreshed](Self::refresh).
    pub const fn offline(&self) -> &CpuList {
        &self.offline
    }

    /// Disables the events until [`resume`](Self::resume): `bpf_perf_event_output` fails with
    /// `EOPNOTSUPP`, which is not counted as a loss. Records that were written before can be read.
    ///
    /// # Errors
    ///
    /// [`Error::Event`]. The events after it are not disabled; `resume` or another `pause` makes
    /// all equal.
    pub fn pause(&mut self) -> Result<(), Error> {
        self.is_paused = true;
        Ok(self.live().try_for_each(perf_ring::Event::disable)?)
    }

    /// Enables the events after [`pause`](Self::pause).
    ///
    /// # Errors
    ///
    /// The errors of [`pause`](Self::pause).
    pub fn resume(&mut self) -> Result<(), Error> {
        self.is_paused = false;
        Ok(self.live().try_for_each(perf_ring::Event::enable)?)
    }

    fn live(&self) -> impl Iterator<Item = &perf_ring::Event> {
        self.cpus.iter().filter(|cpu| cpu.is_live).map(|cpu| &*cpu.event)
    }

    /// Returns the array.
    pub const fn array(&self) -> &EventArray {
        &self.array
    }

    /// Returns the rings, with the CPU of each. A CPU that was offline may have two.
    pub fn rings(&self) -> impl Iterator<Item = (u32, &perf_ring::Ring)> {
        self.cpus.iter().filter_map(|cpu| Some((cpu.cpu, self.rings.get(&cpu.key)?)))
    }

    /// Closes everything, clears the slots that still hold an event of this reader, and returns the
    /// array. Records that are not read are dropped.
    ///
    /// Without its [own file](EventArray::has_own_file) the array keeps its slots, with events that
    /// have no ring: [`EventArray::clear`] clears them.
    pub fn close(mut self) -> EventArray {
        self.array.clear_own();
        self.array
    }
}

/// The descriptor of the epoll, which is readable with any of the rings.
impl AsFd for PerfBuffer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.rings.as_fd()
    }
}

/// Required by tokio's `AsyncFd`.
impl AsRawFd for PerfBuffer {
    fn as_raw_fd(&self) -> RawFd {
        self.rings.as_raw_fd()
    }
}

/// A reader may move to the thread that reads it.
const _: () = {
    const fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<PerfBuffer>();
};
