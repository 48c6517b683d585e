//! Sets of rings that are waited for and read together.

use core::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use perf_sys::{Call, Error as SysError, Event, Generation};
use rustix::event::epoll;

use crate::error::{Error, Refused, Result};
use crate::ring::{Batch, Ring, SkippedBytes, WaitResult};

mod cursor;
mod member;
mod sorted;
mod wait;

pub use cursor::RingCursor;
use member::Member;
pub use sorted::{DrainStats, SortedRecord};

/// Rings under keys that the user chooses, with one wait for all of them. Typically they are one
/// ring per CPU, read by one thread.
///
/// It owns the rings. After a wakeup, [`ready`](Self::ready) returns every ring with unread
/// records, also those below their watermark. Events that were [redirected](Ring::redirect) into a
/// ring are watched like its own event.
///
/// ```no_run
/// use std::time::Duration;
///
/// use perf_ring::{Count, Ring, RingSet};
///
/// fn read_all(rings: Vec<Ring>) -> Result<(), Box<dyn std::error::Error>> {
///     let mut set = RingSet::new()?;
///     for (cpu, ring) in (0_u32..).zip(rings) {
///         set.add(cpu, ring)?;
///     }
///     while !set.wait(Some(Duration::from_millis(100)))?.is_final() {
///         for (cpu, batch) in set.ready() {
///             for record in batch?.records() {
///                 println!("{cpu}: {:?}", record?.kind());
///             }
///         }
///         while let Some((cpu, ring, _)) = set.pop_ended() {
///             println!("{cpu}: {:?}", Count::read(ring.event())?);
///         }
///     }
///     Ok(())
/// }
/// ```
///
/// For one stream of all records in time order, see [`drain_sorted`](Self::drain_sorted).
///
/// In an event loop, the set is one descriptor ([`AsFd`], [`AsRawFd`]), the same as long as the set
/// lives, that becomes readable with any of its rings. Then call `wait(Some(Duration::ZERO))`,
/// which finds the rings that hung up, and read the rings of [`ready`](Self::ready), until the
/// result is not `Readable`, as the crate's tokio example does.
///
/// The rings are not inherited across `fork`; see [`Forked`](perf_sys::Error::Forked).
#[doc(alias = "epoll")]
#[derive(Debug)]
pub struct RingSet<K> {
    epoll: OwnedFd,
    /// The process that made the epoll. Its children share the epoll.
    generation: Generation,
    members: Vec<Member<K>>,
    /// Id of the next member, which identifies it in the data of the epoll.
    next_id: u32,
    /// The next key that [`push`](Self::push) chooses.
    next_key: u32,
    wakeups: wait::Wakeups,
    sort: sorted::Sort,
}

impl<K: Eq> RingSet<K> {
    /// `epoll_create1(EPOLL_CLOEXEC)`—Creates an empty set.
    ///
    /// # Errors
    ///
    /// [`System`](perf_sys::Error::System) if no descriptor is left.
    ///
    /// # References
    ///
    /// `epoll(7)`.
    pub fn new() -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Error::of(Call::EpollCreate1))?;
        let (wakeups, sort) = (wait::Wakeups::default(), sorted::Sort::default());
        let generation = Generation::current()?;
        Ok(Self { epoll, generation, members: Vec::new(), next_id: 0, next_key: 0, wakeups, sort })
    }

    /// `epoll_ctl(EPOLL_CTL_ADD, EPOLLIN)`—Adds a ring, with the events that were redirected into
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error::KeyInUse`], or [`System`](perf_sys::Error::System): `ENOSPC` above the user's limit
    /// of watched descriptors, `ENOMEM`. The error holds the ring.
    pub fn add(&mut self, key: K, ring: Ring) -> Result<(), Refused<Box<Ring>>> {
        let refuse = |error, ring| Err(Refused { error, value: Box::new(ring) });
        if let Err(error) = self.check_here() {
            return refuse(error, ring);
        }
        if self.member(&key).is_some() {
            return refuse(Error::KeyInUse, ring);
        }
        let mut member = Member::new(key, self.next_id, ring);
        self.next_id = self.next_id.wrapping_add(1);
        if let Err(error) = member.watch_all(&self.epoll) {
            member.unwatch_all(&self.epoll);
            return refuse(error, member.ring);
        }
        self.members.push(member);
        Ok(())
    }

    /// Redirects `event` into the ring with this key by [`Ring::redirect`], and watches it.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchKey`], and the errors of [`Ring::redirect`] and of [`add`](Self::add), with
    /// the event.
    pub fn redirect(&mut self, key: &K, event: impl Into<Arc<Event>>) -> Result<(), Refused<Arc<Event>>> {
        let (event, ()) = Refused::keep(event.into(), |_| self.check_here())?;
        match self.members.iter_mut().find(|member| member.key == *key) {
            Some(member) => member.redirect(&self.epoll, event),
            None => Err(Refused { error: Error::NoSuchKey, value: event }),
        }
    }

    /// Removes and returns the ring with this key, with its unread records. The other rings keep
    /// their keys.
    pub fn remove(&mut self, key: &K) -> Option<Ring> {
        let index = self.members.iter().position(|member| member.key == *key)?;
        Some(self.remove_at(index).1)
    }

    /// Removes and returns a ring whose events have all [hung up](WaitResult::HungUp) or
    /// [failed](WaitResult::Failed) and whose records are consumed; `None` if no ring has ended.
    ///
    /// Dropping the ring closes its descriptors and unmaps its memory.
    pub fn pop_ended(&mut self) -> Option<(K, Ring, WaitResult)> {
        let is_over = |member: &Member<K>| member.end().filter(|_| !member.ring.has_records());
        let (index, end) =
            self.members.iter().enumerate().find_map(|(index, member)| Some((index, is_over(member)?)))?;
        let (key, ring) = self.remove_at(index);
        Some((key, ring, end))
    }

    fn remove_at(&mut self, index: usize) -> (K, Ring) {
        let mut member = self.members.remove(index);
        if self.generation.is_current() {
            member.unwatch_all(&self.epoll);
        }
        member.ring.is_kept = false;
        (member.key, member.ring)
    }

    fn member(&self, key: &K) -> Option<&Member<K>> {
        self.members.iter().find(|member| member.key == *key)
    }

    /// Returns the ring with this key.
    pub fn get(&self, key: &K) -> Option<&Ring> {
        self.member(key).map(|member| &member.ring)
    }

    /// Returns [`HungUp`](WaitResult::HungUp) or [`Failed`](WaitResult::Failed) if all events of
    /// the ring with this key have hung up or failed, as of the last wait, and `None` otherwise.
    ///
    /// Its last records may still be unread. A wait that finds new records checks for hang-ups only
    /// once in 16 waits.
    pub fn end(&self, key: &K) -> Option<WaitResult> {
        self.member(key)?.end()
    }

    /// Returns the unread records of the ring with this key, like [`Ring::batch`]; `None` if the
    /// set does not have the key.
    ///
    /// # Errors
    ///
    /// The errors of [`Ring::batch`] for positions that are impossible.
    pub fn batch(&mut self, key: &K) -> Option<Result<Batch<'_>>> {
        let mut members = self.members.iter_mut();
        members.find(|member| member.key == *key).map(|member| member.ring.batch())
    }
}

/// Rings under keys that the set chooses.
impl RingSet<u32> {
    /// Adds a ring as [`add`](Self::add) does, under a key that the set chooses and returns. No key
    /// is chosen twice, also after its ring was removed.
    ///
    /// ```no_run
    /// # fn read(ring: perf_ring::Ring) -> perf_ring::Result<()> {
    /// use perf_ring::RingSet;
    ///
    /// let mut set = RingSet::new()?;
    /// let key = set.push(ring)?;
    /// assert!(set.get(&key).is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the system calls of [`add`](Self::add). The error holds the ring.
    pub fn push(&mut self, ring: Ring) -> Result<u32, Refused<Box<Ring>>> {
        // The caller may have added rings under such keys.
        while self.member(&self.next_key).is_some() {
            self.next_key = self.next_key.wrapping_add(1);
        }
        let key = self.next_key;
        self.add(key, ring)?;
        self.next_key = key.wrapping_add(1);
        Ok(key)
    }
}

impl<K> RingSet<K> {
    /// Returns [`Forked`](perf_sys::Error::Forked) in a child of `fork`, which shares the epoll
    /// with its parent.
    fn check_here(&self) -> Result<()> {
        if self.generation.is_current() { Ok(()) } else { Err(SysError::Forked.into()) }
    }

    /// Iterates over the rings with unread records, in the order in which they were added: those
    /// that the kernel sent a wakeup for, those below their watermark, and those that hung up. It
    /// loads one word of each control page and makes no system call.
    pub fn ready(&mut self) -> impl Iterator<Item = (&K, Result<Batch<'_>>)> {
        let members = self.members.iter_mut().filter(|member| member.ring.has_records());
        members.map(|Member { key, ring, .. }| (&*key, ring.batch()))
    }

    /// Iterates over all rings, in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &Ring)> {
        self.members.iter().map(|member| (&member.key, &member.ring))
    }

    /// Returns the number of rings.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether the set has no rings.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// `ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)` of each event—Starts all events that write into the
    /// rings: the rings' own and the [redirected](crate::Ring::redirect) ones.
    ///
    /// One system call an event, so the events do not start at the same time.
    ///
    /// # Errors
    ///
    /// The first error. The other events are started all the same.
    pub fn enable(&self) -> Result<()> {
        self.each_event(Event::enable)
    }

    /// `ioctl(fd, PERF_EVENT_IOC_DISABLE, 0)` of each event—Stops all events that
    /// [`enable`](Self::enable) starts. Their last records are still in the rings.
    ///
    /// # Errors
    ///
    /// The first error. The other events are stopped all the same.
    pub fn disable(&self) -> Result<()> {
        self.each_event(Event::disable)
    }

    fn each_event(&self, control: impl Fn(&Event) -> perf_sys::Result<()>) -> Result<()> {
        let events = self.members.iter().flat_map(|member| member.ring.events());
        Ok(events.map(Arc::as_ref).map(control).fold(Ok(()), perf_sys::Result::and)?)
    }

    /// Returns the bytes that were skipped because they were not records: the sum of the
    /// [damage](crate::Ring::damage) of all rings, with one ring's last error.
    pub fn damage(&self) -> SkippedBytes {
        let mut sum = SkippedBytes::default();
        self.members.iter().for_each(|member| sum.add_ring(member.ring.damage()));
        sum
    }

    /// Returns all rings with their keys.
    pub fn into_rings(mut self) -> impl ExactSizeIterator<Item = (K, Ring)> {
        mem::take(&mut self.members).into_iter().map(|mut member| {
            member.ring.is_kept = false;
            (member.key, member.ring)
        })
    }
}

/// The descriptor of the epoll.
impl<K> AsFd for RingSet<K> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// Required by tokio's `AsyncFd`.
impl<K> AsRawFd for RingSet<K> {
    fn as_raw_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }
}

/// A set may move to the thread that reads it.
const _: () = {
    const fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<RingSet<u32>>();
};

#[cfg(test)]
mod tests;
