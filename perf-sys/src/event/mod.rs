//! Events: opening, controlling and reading them.

use alloc::sync::Arc;
use core::fmt;
use core::num::NonZeroI32;

use perf_abi::{
    Attr, AttrFlags, CacheEvent, EventType, HW_EVENT_MASK, Hardware, OpenFlags, PMU_TYPE_SHIFT, SampleType,
    Software,
};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use crate::error::{Call, Errno, Error, Result};
use crate::map::Generation;

mod borrowed;
mod ioctl;
mod output;
mod syscall;
mod target;

pub use borrowed::{BorrowedEvent, Polled};
pub use ioctl::BpfIds;
pub(crate) use output::RingClaim;
use output::{Destination, Output};
pub(crate) use syscall::membarrier_global;
pub use syscall::poll;
use syscall::{gettid, perf_event_open};
pub use target::Target;

/// An open event: a counter, or a source of records once its ring is mapped.
///
/// Holding one proves that the descriptor is of `perf_event_open`, opened with
/// [`attr`](Self::attr), and that no safe code, of any process, maps its ring except through this
/// value. Therefore it has no `try_clone` and no `AsFd`, only the number ([`AsRawFd`]) and a
/// [`BorrowedEvent`], and a foreign descriptor becomes an event only by the `unsafe`
/// [`from_fd`](Self::from_fd).
///
/// Dropping it closes the descriptor, which ends the event. An event whose ring is mapped ends when
/// the ring is unmapped: a [`DataRing`](crate::DataRing) shares its event.
#[derive(Debug)]
pub struct Event {
    fd: OwnedFd,
    attr: Attr,
    /// The only thread that the event watches, on any CPU or on one. `None` for all tasks of a CPU
    /// or cgroup, and for a descriptor that was opened elsewhere.
    thread: Option<NonZeroI32>,
    is_kept_on_exec: bool,
    name: Option<Arc<str>>,
    output: Output,
    /// The process that opened the event; `None` if it has no memory for the number.
    generation: Option<Generation>,
}

impl Event {
    /// `perf_event_open(attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)`—Opens an event without a group.
    ///
    /// Use [`OpenOptions`] for a group leader or other flags.
    ///
    /// # Errors
    ///
    /// [`Error::AttrSize`] if the attr needs a newer kernel than this, [`Error::NoSuchCpu`],
    /// [`Error::NoSuchCgroup`], and [`Error::System`] with the errno.
    ///
    /// # References
    ///
    /// `perf_event_open(2)`.
    #[doc(alias = "perf_event_open")]
    pub fn open(attr: &Attr, target: Target<'_>) -> Result<Self> {
        OpenOptions::new().open(attr, target)
    }

    pub(crate) fn new(fd: OwnedFd, attr: Attr) -> Self {
        let generation = Generation::current().ok();
        let output = Output::default();
        Self { fd, attr, thread: None, is_kept_on_exec: false, name: None, output, generation }
    }

    /// Sets a name for messages and counts, which `Display` prints instead of the attr's.
    #[must_use]
    pub fn with_name(self, name: impl Into<Arc<str>>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns the name that [`with_name`](Self::with_name) has set.
    pub const fn name(&self) -> Option<&Arc<str>> {
        self.name.as_ref()
    }

    /// Returns the attr with which the event was opened. Later changes of the period or the
    /// breakpoint by ioctl are not in it.
    pub const fn attr(&self) -> &Attr {
        &self.attr
    }

    /// Returns whether the kernel may overwrite unread records in the ring that the event writes
    /// into.
    ///
    /// The kernel prepares one sample for all software events of a kind. It reserves space for the
    /// registers of the event that it serves first, and writes the registers of each event. So a
    /// sample may reach beyond its space if an event of any process samples another number of
    /// registers. The clocks have a timer each, and a BPF program writes into one event.
    ///
    /// The kernel may also overwrite them if the event is
    /// [kept on exec](OpenOptions::keep_on_exec): the executed program can map the ring and release
    /// records that are unread here.
    pub fn may_overwrite_records(&self) -> bool {
        self.is_kept_on_exec || may_overwrite_records(&self.attr)
    }

    /// Borrows the descriptor, for this crate's calls. See [`BorrowedEvent`].
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Returns whether the event counts the calling thread alone.
    pub(crate) fn is_self_monitoring(&self) -> bool {
        let inherited = self.attr.flags.contains(AttrFlags::INHERIT);
        !inherited && self.thread.is_some() && self.thread == gettid()
    }

    /// Returns whether the kernel writes this event's ring backward.
    pub(crate) const fn writes_backward(&self) -> bool {
        self.attr.flags.contains(AttrFlags::WRITE_BACKWARD)
    }

    /// Redirects the records by `change`, and stores their destination. Changes of two threads come
    /// one after the other, in the order in which the kernel makes them.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the event has a ring, as the kernel returns for a mapped event, and
    /// [`Error::Forked`] in a child of `fork`.
    fn redirect(&self, to_another: bool, change: impl FnOnce() -> Result<()>) -> Result<()> {
        self.check_here()?;
        let mut destination = self.output.lock();
        if *destination == Destination::Own {
            return Err(Error::System { call: Call::IocSetOutput, errno: Errno::EINVAL });
        }
        change()?;
        *destination = if to_another { Destination::Redirected } else { Destination::None };
        Ok(())
    }

    /// Returns [`Error::NotCopied`] if the ring of `target` lends records, and an event is to write
    /// into it that may overwrite them.
    fn check_copied(may_overwrite: bool, target: &Self) -> Result<()> {
        if may_overwrite && !target.is_copied() { Err(Error::NotCopied) } else { Ok(()) }
    }

    /// Returns whether the records of the event's ring are never lent, only copied.
    pub(crate) fn is_copied(&self) -> bool {
        self.may_overwrite_records() || self.output.is_copied()
    }

    /// Marks the records of the event's ring as only copied, in current and later mappings.
    pub(crate) fn set_copied(&self) {
        self.output.set_copied();
    }

    /// Reserves the event's ring for one mapping.
    ///
    /// # Errors
    ///
    /// [`Error::RingInUse`] if the ring is mapped. [`Error::Forked`] in a child of `fork`, because
    /// the parent may map it. `EBUSY` if the records go to another event's ring. Linux returns it
    /// only since January 2026 (some 6.18.y). Older kernels map the other ring, which would then
    /// have two readers.
    pub(crate) fn claim_ring(self: &Arc<Self>) -> Result<RingClaim> {
        self.check_here()?;
        let mut destination = self.output.lock();
        match *destination {
            Destination::None => *destination = Destination::Own,
            Destination::Own => return Err(Error::RingInUse),
            Destination::Redirected => return Err(Error::System { call: Call::Mmap, errno: Errno::EBUSY }),
        }
        Ok(RingClaim::new(Arc::clone(self)))
    }

    /// Returns the error of [`claim_ring`](Self::claim_ring) if the records go to another event's
    /// ring.
    pub(crate) fn check_not_redirected(&self) -> Result<()> {
        self.check_here()?;
        match *self.output.lock() {
            Destination::Redirected => Err(Error::System { call: Call::Mmap, errno: Errno::EBUSY }),
            Destination::None | Destination::Own => Ok(()),
        }
    }

    /// Returns [`Error::Forked`] in a child of `fork`. `output` is a copy there, which does not
    /// have the parent's later changes of the same event.
    fn check_here(&self) -> Result<()> {
        match self.generation {
            Some(generation) if generation.is_current() => Ok(()),
            Some(_) => Err(Error::Forked),
            None => Err(Error::System { call: Call::Mmap, errno: Errno::ENOMEM }),
        }
    }
}

/// See [`Event::may_overwrite_records`].
fn may_overwrite_records(attr: &Attr) -> bool {
    let samples = |field, mask: u64| attr.sample_type.contains(field) && mask != 0;
    let registers = samples(SampleType::REGS_USER, attr.sample_regs_user)
        || samples(SampleType::REGS_INTR, attr.sample_regs_intr);
    let is_alone = matches!(
        Software(attr.config),
        Software::CPU_CLOCK | Software::TASK_CLOCK | Software::DUMMY | Software::BPF_OUTPUT
    );
    matches!(attr.kind, EventType::SOFTWARE) && attr.sample_period != 0 && registers && !is_alone
}

/// Options of `perf_event_open`: the group leader and the flags.
///
/// ```no_run
/// use perf_abi::{Attr, Hardware};
/// use perf_sys::{Event, OpenOptions, Target};
///
/// # fn main() -> perf_sys::Result<()> {
/// let cycles = Event::open(&Attr::hardware(Hardware::CPU_CYCLES), Target::calling_thread())?;
/// let instructions = OpenOptions::new()
///     .leader(&cycles)
///     .open(&Attr::hardware(Hardware::INSTRUCTIONS), Target::calling_thread())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions<'a> {
    leader: Option<&'a Event>,
    flags: OpenFlags,
}

impl<'a> OpenOptions<'a> {
    /// Returns the options of an event without a group, closed on exec.
    pub const fn new() -> Self {
        Self { leader: None, flags: OpenFlags::FD_CLOEXEC }
    }

    /// Adds the event to the group of `leader`, whose members are on the PMU together or not at
    /// all.
    #[must_use]
    #[doc(alias = "group_fd")]
    pub fn leader(mut self, leader: &'a Event) -> Self {
        self.leader = Some(leader);
        self
    }

    /// Sets more flags. [`PID_CGROUP`](OpenFlags::PID_CGROUP) is ignored, because it follows from
    /// the [`Target`].
    #[must_use]
    pub fn flags(mut self, flags: OpenFlags) -> Self {
        self.flags |= flags;
        self
    }

    /// Keeps the descriptor open across `exec`. The records of the event's ring are then copied,
    /// not borrowed, because the program that is executed can map the ring and release them.
    #[must_use]
    pub fn keep_on_exec(mut self) -> Self {
        self.flags -= OpenFlags::FD_CLOEXEC;
        self
    }

    /// Opens the event.
    ///
    /// # Errors
    ///
    /// The errors of [`Event::open`], and [`Error::NotCopied`] with
    /// [`FD_OUTPUT`](OpenFlags::FD_OUTPUT), as from [`Event::set_output`].
    pub fn open(&self, attr: &Attr, target: Target<'_>) -> Result<Event> {
        let output = self.leader.filter(|_| self.flags.contains(OpenFlags::FD_OUTPUT));
        let is_kept_on_exec = !self.flags.contains(OpenFlags::FD_CLOEXEC);
        let may_overwrite = is_kept_on_exec || may_overwrite_records(attr);
        output.map_or(Ok(()), |leader| Event::check_copied(may_overwrite, leader))?;
        let fd = perf_event_open(attr, target, self.leader.map(Event::fd), self.flags)
            .map_err(|error| missing_target(error, target).unwrap_or(error))?;
        let event = Event::new(fd, *attr);
        if output.is_some() {
            *event.output.lock() = Destination::Redirected;
        }
        Ok(Event { thread: target.watched_thread(), is_kept_on_exec, ..event })
    }
}

/// Returns the error for a CPU or cgroup that does not exist, if that is the cause of `error`.
/// These errnos of an open have other causes too, so an event is opened and closed that fits each
/// target.
#[cold]
fn missing_target(error: Error, target: Target<'_>) -> Option<Error> {
    let errno = error.errno()?;
    let (target, cause) = match errno {
        // A thread needs no permission to count itself, and the kernel looks at the CPU first.
        Errno::EINVAL => {
            let cpu = target.cpu_id()?;
            (Target::calling_thread().on_cpu(cpu), Error::NoSuchCpu { cpu })
        }
        Errno::ENOENT if target.is_cgroup() => (target, Error::NoSuchCgroup),
        _ => return None,
    };
    let flags = AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL;
    let clock = Attr::software(Software::CPU_CLOCK).with_flags(flags);
    let opened = perf_event_open(&clock, target, None, OpenFlags::FD_CLOEXEC);
    (opened.err()?.errno() == Some(errno)).then_some(cause)
}

impl Default for OpenOptions<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// The [name](Self::name), or the kernel header's name of the attr's event: `PAGE_FAULTS`,
/// `L1D-READ-MISS`, on a hybrid CPU with the PMU's type, `CPU_CYCLES@10`. An event without a name
/// there has its type and number: `TRACEPOINT:0x1a3`. The names of tracepoints and of a PMU's own
/// events are in files, which this crate does not read.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            return f.write_str(name);
        }
        let Attr { kind, config, .. } = self.attr;
        match (kind, CacheEvent::from_config(config)) {
            (EventType::SOFTWARE, _) => return write!(f, "{}", Software(config)),
            (EventType::HARDWARE, _) => write!(f, "{}", Hardware(config & HW_EVENT_MASK))?,
            (EventType::HW_CACHE, Some(event)) => write!(f, "{event}")?,
            _ => return write!(f, "{kind}:{config:#x}"),
        }
        match config >> PMU_TYPE_SHIFT {
            0 => Ok(()),
            pmu => write!(f, "@{pmu}"),
        }
    }
}

/// The number, for a call that takes one, and for tokio's `AsyncFd`. See [`BorrowedEvent`].
impl AsRawFd for Event {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicUsize, Ordering};

    use rustix::event::{EventfdFlags, eventfd};

    use super::*;

    fn fd() -> OwnedFd {
        eventfd(0, EventfdFlags::CLOEXEC).unwrap()
    }

    fn event() -> Arc<Event> {
        Arc::new(Event::new(fd(), Attr::software(Software::DUMMY)))
    }

    fn is_busy(event: &Arc<Event>) -> bool {
        matches!(event.claim_ring(), Err(error) if error.errno() == Some(Errno::EBUSY))
    }

    #[test]
    fn only_a_successful_redirection_is_stored() {
        let event = event();
        let refuse = || Err(Error::AuxInUse);
        assert!(event.redirect(true, refuse).is_err());
        assert!(event.claim_ring().is_ok(), "not redirected");
        event.redirect(true, || Ok(())).unwrap();
        assert!(is_busy(&event));
        assert!(event.redirect(false, refuse).is_err());
        assert!(is_busy(&event), "still redirected");
        event.redirect(false, || Ok(())).unwrap();
        assert!(event.claim_ring().is_ok());
    }

    #[test]
    fn mapped_event_has_one_reader_and_is_not_redirected() {
        let event = event();
        let claim = event.claim_ring().unwrap();
        assert_eq!(event.claim_ring().unwrap_err(), Error::RingInUse);
        let error = event.redirect(true, || unreachable!()).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EINVAL));
        drop(claim);
        assert!(event.claim_ring().is_ok());
    }

    #[test]
    fn threads_change_the_destination_one_after_the_other() {
        let event = event();
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let change = || {
            most.fetch_max(inside.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            std::thread::yield_now();
            inside.fetch_sub(1, Ordering::Relaxed);
            Ok(())
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|round| event.redirect(round % 2 == 0, change).unwrap()));
            }
        });
        assert_eq!(most.into_inner(), 1);
        assert!(event.claim_ring().is_ok(), "the last change of each thread redirects nowhere");
    }

    fn sampling(kind: Software, user: u64, intr: u64) -> Attr {
        Attr::software(kind).with_period(1).with_regs_user(user).with_regs_intr(intr)
    }

    #[test]
    fn only_a_sample_of_registers_that_is_prepared_for_several_events_may_overwrite_records() {
        let kind = Software::PAGE_FAULTS;
        assert!(may_overwrite_records(&sampling(kind, 0b111, 0)));
        assert!(may_overwrite_records(&sampling(kind, 0, 0b11)));
        assert!(may_overwrite_records(&sampling(Software(77), 1, 0)), "a kind of a later kernel");
        let counting = sampling(kind, 1, 0).with_period(0);
        let mut tracepoint = sampling(kind, 1, 0);
        tracepoint.kind = EventType::TRACEPOINT;
        for attr in [counting, tracepoint, sampling(kind, 0, 0), sampling(Software::CPU_CLOCK, 1, 0)] {
            assert!(!may_overwrite_records(&attr), "{attr:?}");
        }
    }

    #[test]
    fn event_that_may_overwrite_records_is_not_redirected_into_a_ring_that_lends_them() {
        let (target, faults) = (event(), Event::new(fd(), sampling(Software::PAGE_FAULTS, 1, 0)));
        assert_eq!(faults.set_output(Some(&target)), Err(Error::NotCopied));
        let by_flag = OpenOptions::new().leader(&target).flags(OpenFlags::FD_OUTPUT);
        let error = by_flag.open(faults.attr(), Target::calling_thread()).unwrap_err();
        assert_eq!(error, Error::NotCopied);
        target.set_copied();
        let error = faults.set_output(Some(&target)).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::ENOTTY), "it is no event");
    }

    #[test]
    fn event_prints_its_name_or_the_one_of_the_header() {
        let event = |kind, config| Event::new(fd(), Attr::new(kind, config));
        for (kind, config, name) in [
            (EventType::HARDWARE, 1, "INSTRUCTIONS"),
            (EventType::SOFTWARE, 3, "CONTEXT_SWITCHES"),
            (EventType::HW_CACHE, 0x1_0000, "L1D-READ-MISS"),
            (EventType::HARDWARE, 0xa_0000_0000, "CPU_CYCLES@10"),
            (EventType::HW_CACHE, 0xa_0001_0000, "L1D-READ-MISS@10"),
            (EventType::TRACEPOINT, 0x1a3, "TRACEPOINT:0x1a3"),
            (EventType::HW_CACHE, 0xff00_0000, "HW_CACHE:0xff000000"),
            (EventType::SOFTWARE, 77, "Software(77)"),
            (EventType(9), 2, "EventType(9):0x2"),
        ] {
            assert_eq!(event(kind, config).to_string(), name);
            assert_eq!(event(kind, config).with_name("sched:sched_switch").to_string(), "sched:sched_switch");
        }
    }
}
