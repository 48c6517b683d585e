use core::mem::MaybeUninit;
use core::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use crate::{Canceller, Error, Result, Ring};

mod poll;

pub use poll::Readiness;
pub(crate) use poll::{Deadline, poll};

/// Many rings and one wait for all of them: typically a ring for each CPU, read by one thread.
///
/// It owns the rings. A wake-up is for all: [`ready`](Self::ready) goes over every ring that holds
/// records, also those whose watermark was not reached, so that none keeps its records back while others
/// are read.
///
/// ```no_run
/// use std::time::Duration;
///
/// use perf_sys::{Ring, Wait};
///
/// fn read_all(rings: Vec<Ring>) -> Result<(), Box<dyn std::error::Error>> {
///     let mut wait = Wait::over(rings)?;
///     while !wait.wait(Some(Duration::from_millis(100)))?.is_final() {
///         for (cpu, ring) in wait.ready() {
///             for record in ring.batch()?.records() {
///                 println!("{cpu}: {:?}", record?.kind());
///             }
///         }
///     }
///     Ok(())
/// }
/// ```
///
/// In an event loop of one's own it is one descriptor ([`AsFd`], [`AsRawFd`]: the same as long as it
/// lives) that becomes readable with any of its rings. Then call `wait(Some(Duration::ZERO))`, which finds
/// out which rings have ended, and go over [`ready`](Self::ready), until the answer is no more `Readable`:
/// the crate's tokio example does. Nothing is allocated after the last [`add`](Self::add).
#[doc(alias = "epoll")]
#[derive(Debug)]
pub struct Wait {
    epoll: OwnedFd,
    members: Vec<Member>,
    /// The sum of the rings' heads when the kernel called last.
    heads: u64,
    /// How many calls in a row the heads have explained, modulo [`LOOK_EVERY`].
    explained: u8,
}

/// So many calls in a row may be explained by news before a look for ends: a sixteenth of a system call each.
const LOOK_EVERY: u8 = 16;

#[derive(Debug)]
struct Member {
    ring: Ring,
    /// How the ring's event ended, if it has.
    end: Option<Readiness>,
}

impl Wait {
    /// `epoll_create1(EPOLL_CLOEXEC)`—A wait over no rings yet.
    ///
    /// # Errors
    ///
    /// [`Error::System`], if no descriptor is left.
    ///
    /// # References
    ///
    /// `epoll(7)`.
    pub fn new() -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Error::of("epoll_create1"))?;
        Ok(Self { epoll, members: Vec::new(), heads: 0, explained: 0 })
    }

    /// A wait over these rings, with indices in their order.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new) and [`add`](Self::add).
    pub fn over(rings: impl IntoIterator<Item = Ring>) -> Result<Self> {
        let mut wait = Self::new()?;
        for ring in rings {
            wait.add(ring)?;
        }
        Ok(wait)
    }

    /// `epoll_ctl(EPOLL_CTL_ADD, EPOLLIN)`—Takes in a ring, and returns its index: the number of those
    /// before it.
    ///
    /// # Errors
    ///
    /// [`Error::System`]: `ENOSPC` above the user's limit of watched descriptors, `ENOMEM`.
    pub fn add(&mut self, ring: Ring) -> Result<usize> {
        let index = self.members.len();
        let data = epoll::EventData::new_u64(index as u64);
        epoll::add(&self.epoll, &ring, data, epoll::EventFlags::IN).map_err(Error::of("epoll_ctl"))?;
        ring.polled_untold(); // by the addition
        self.members.push(Member { ring, end: None });
        Ok(index)
    }

    /// `ppoll(epoll, POLLIN, timeout)`—Waits until the kernel calls for a ring, at most as long as
    /// `timeout`, to the nanosecond; `None` is for ever. A signal does not end it. A ring left half full or
    /// more is readable, as one with records when it is added.
    ///
    /// [`HungUp`](Readiness::HungUp) (or [`Failed`](Readiness::Failed), if any has) is the answer when
    /// every ring has ended and no record is left, and of a wait over no rings. Which of them have is
    /// told by [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// [`Error::System`], if the kernel has no memory for it.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Readiness> {
        self.wait_until(None, Deadline::after(timeout))
    }

    /// As [`wait`](Self::wait), until `cancel` is used.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub fn wait_or_cancelled(&mut self, timeout: Option<Duration>, cancel: &Canceller) -> Result<Readiness> {
        self.wait_until(Some(cancel), Deadline::after(timeout))
    }

    fn wait_until(&mut self, cancel: Option<&Canceller>, deadline: Deadline) -> Result<Readiness> {
        self.rings().try_for_each(Ring::check_here)?;
        loop {
            if let Some(end) = self.end_of_all() {
                return Ok(if self.has_records() { Readiness::Readable } else { end });
            }
            let is_due = self.is_due();
            match poll(self.epoll.as_fd(), cancel, deadline.or_now(is_due))? {
                // One system call is enough.
                Readiness::Readable if self.is_explained() => {}
                // Called for a ring that was read meanwhile, or that hung up: nothing to tell.
                Readiness::Readable => self.look_for_ends()?,
                Readiness::TimedOut if is_due => {}
                Readiness::Cancelled => {
                    self.rings().for_each(Ring::polled_untold);
                    return Ok(Readiness::Cancelled);
                }
                answer => return Ok(answer),
            }
            if self.has_records() {
                return Ok(Readiness::Readable);
            }
        }
    }

    /// Whether the kernel has written since it called last, so that its call needs no other cause.
    ///
    /// A ring that has ended calls again and again, and none of its calls would be seen for one while
    /// others write: now and then such a call is not taken as explained.
    fn is_explained(&mut self) -> bool {
        let heads = self.rings().fold(0_u64, |sum, ring| sum.wrapping_add(ring.head()));
        let has_news = core::mem::replace(&mut self.heads, heads) != heads;
        self.explained = if has_news { (self.explained + 1) % LOOK_EVERY } else { 0 };
        self.explained != 0
    }

    /// Takes the rings that have ended out of the epoll, which would be readable for ever by them.
    ///
    /// Of the others nothing is to be learned here: the kernel calls once, and whoever polled the epoll
    /// before, be it an event loop around it, has had the call. Their heads tell.
    fn look_for_ends(&mut self) -> Result<()> {
        const SOME: usize = 32;
        loop {
            let mut room = [MaybeUninit::uninit(); SOME];
            // Not waiting, it cannot be interrupted by a signal.
            let found = epoll::wait(&self.epoll, &mut room[..], Some(&Timespec::default()));
            let (found, _) = found.map_err(Error::of("epoll_wait"))?;
            for event in &*found {
                let (flags, index) = (event.flags, event.data.u64());
                self.end_if(index as usize, flags)?;
            }
            if found.len() < SOME {
                return Ok(());
            }
        }
    }

    fn end_if(&mut self, index: usize, found: epoll::EventFlags) -> Result<()> {
        let (error, hung_up) = (epoll::EventFlags::ERR, epoll::EventFlags::HUP);
        let found = Readiness::of(false, found.contains(error), found.contains(hung_up));
        let Some(member) = self.members.get_mut(index).filter(|_| found.is_final()) else {
            return Ok(());
        };
        member.end = Some(found);
        epoll::delete(&self.epoll, &member.ring).map_err(Error::of("epoll_ctl"))
    }

    /// Whether any ring is due. All are asked: one answer is for all.
    fn is_due(&self) -> bool {
        self.rings().filter(|ring| ring.is_due()).count() > 0
    }

    fn has_records(&self) -> bool {
        self.members.iter().any(|member| member.ring.has_records())
    }

    fn end_of_all(&self) -> Option<Readiness> {
        let mut ends = self.members.iter().map(|member| member.end);
        ends.try_fold(Readiness::HungUp, |all, end| Some(if all == Readiness::Failed { all } else { end? }))
    }

    /// The rings that hold records, with their indices: those that the kernel has called for, those below
    /// their watermark, and those that ended. It is one look at each ring, no system call.
    pub fn ready(&mut self) -> impl Iterator<Item = (usize, &mut Ring)> {
        let rings = self.members.iter_mut().map(|member| &mut member.ring);
        rings.enumerate().filter(|(_, ring)| ring.has_records())
    }

    /// All rings in the order of their indices.
    pub fn rings(&self) -> impl ExactSizeIterator<Item = &Ring> {
        self.members.iter().map(|member| &member.ring)
    }

    /// How the event of ring `index` ended, as far as the last wait knew: [`Readiness::HungUp`] or
    /// [`Readiness::Failed`]; `None` while it has not. Its last records may still be there. A wait that
    /// finds new records looks no further: it leaves an end to the next, but fewer than 16 times in a row.
    pub fn end(&self, index: usize) -> Option<Readiness> {
        self.members.get(index).and_then(|member| member.end)
    }

    /// Ends the wait and gives the rings back.
    pub fn into_rings(self) -> impl ExactSizeIterator<Item = Ring> {
        self.members.into_iter().map(|member| member.ring)
    }
}

impl AsFd for Wait {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// For tokio's `AsyncFd`, which asks for it.
impl AsRawFd for Wait {
    fn as_raw_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }
}

/// A wait may move to the thread that reads.
const _: () = {
    const fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<Wait>();
};
