//! A failed call to explain, with the files that it reads.

use perf_ring::sys::Error as SysError;
use perf_ring::{
    Attr, AttrFlags, Call, Errno, Error, Event, EventType, OpenOptions, SampleType, Software, Target,
};

use super::{Diagnosis, argument, limit, map, rules};
use crate::system::{Privileges, System};

/// Explains why `perf_event_open`, or the mapping of the event's ring, failed: the cause, the
/// values read from `system` that show it, and the remedy. Opens no event;
/// [`FailedOpen::explain_by_trial`] does, and finds more.
///
/// If the cause is unknown, the diagnosis reports that and has the usual causes of the errno.
///
/// ```
/// use perf_session::ring::{Attr, Event, Hardware, Target};
/// use perf_session::{System, explain};
///
/// let attr = Attr::hardware(Hardware::CPU_CYCLES);
/// let target = Target::calling_thread();
/// if let Err(error) = Event::open(&attr, target) {
///     println!("{}", explain(&System::new(), error, &attr, target));
/// }
/// ```
pub fn explain(system: &System, error: impl Into<Error>, attr: &Attr, target: Target<'_>) -> Diagnosis {
    FailedOpen::new(error, attr, target).explain(system)
}

/// A failed open: the error and the arguments of the call.
#[derive(Clone, Copy, Debug)]
pub struct FailedOpen<'a> {
    error: Error,
    attr: &'a Attr,
    target: Target<'a>,
    in_group: bool,
}

impl<'a> FailedOpen<'a> {
    /// Returns the failed open of an event without a group.
    pub fn new(error: impl Into<Error>, attr: &'a Attr, target: Target<'a>) -> Self {
        Self { error: error.into(), attr, target, in_group: false }
    }

    /// Sets that the event was to join a group.
    #[must_use]
    pub const fn in_group(self) -> Self {
        Self { in_group: true, ..self }
    }

    /// Explains the failure without opening an event, like [`explain`].
    pub fn explain(&self, system: &System) -> Diagnosis {
        self.explain_with(system, None)
    }

    /// Explains the failure and opens further events by `open`, with a part of the attr, another
    /// target or without the group. The events are closed at once. [`trial_of`] is an `open` that
    /// makes the system call.
    pub fn explain_by_trial<E: Into<Error>>(
        &self,
        system: &System,
        mut open: impl FnMut(Trial<'_>) -> Result<(), E>,
    ) -> Diagnosis {
        self.explain_with(system, Some(&mut |trial| open(trial).map_err(E::into)))
    }

    fn explain_with<'b>(&'b self, system: &'b System, trial: Option<Open<'b>>) -> Diagnosis {
        let Self { error, attr, target, in_group } = *self;
        match error {
            Error::Sys(SysError::AttrSize { kernel, .. }) => {
                limit::attr_size(attr, kernel).with_errno(error.errno())
            }
            error if error.call() == Some(Call::PerfEventOpen) => {
                let case = Case { trial, errno: error.errno(), ..Case::new(system, attr, target, in_group) };
                rules::explain(case, &error)
            }
            error if error.call() == Some(Call::Mmap) => map::explain_mapping(system, &error, attr, 0),
            error => argument::explain(&error),
        }
    }
}

/// An event that an explanation opens to find the cause, and closes at once.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Trial<'a> {
    /// The attr to open.
    pub attr: &'a Attr,
    /// The task and CPU to observe.
    pub target: Target<'a>,
    /// Set if the event joins the group that the failed one was to join.
    pub in_group: bool,
}

/// Returns a closure that opens events by the system call, for
/// [`FailedOpen::explain_by_trial`](crate::FailedOpen::explain_by_trial). `leader` is the leader of
/// the failed open.
pub fn trial_of(leader: Option<&Event>) -> impl FnMut(Trial<'_>) -> Result<(), Error> {
    move |trial| {
        let options = OpenOptions::new();
        let options = match leader.filter(|_| trial.in_group) {
            Some(leader) => options.leader(leader),
            None => options,
        };
        Ok(options.open(trial.attr, trial.target).map(drop)?)
    }
}

/// The closure that opens an event for a trial.
type Open<'a> = &'a mut dyn FnMut(Trial<'_>) -> Result<(), Error>;

/// The arguments of an open that is checked before the call or explained after it, and the sources
/// of evidence.
pub(super) struct Case<'a> {
    pub(super) system: &'a System,
    pub(super) attr: &'a Attr,
    pub(super) target: Target<'a>,
    /// Set if the event joins a group.
    pub(super) in_group: bool,
    /// The errno of the failed call; `None` before the call.
    pub(super) errno: Option<Errno>,
    /// `None` if no event may be opened.
    pub(super) trial: Option<Open<'a>>,
}

impl<'a> Case<'a> {
    /// Returns the case before the call.
    pub(super) fn new(system: &'a System, attr: &'a Attr, target: Target<'a>, in_group: bool) -> Self {
        Self { system, attr, target, in_group, errno: None, trial: None }
    }

    pub(super) fn privileges(&self) -> Privileges {
        Privileges::read(self.system)
    }

    /// Returns whether one of `flags` is set.
    pub(super) fn has(&self, flags: AttrFlags) -> bool {
        self.attr.flags.intersects(flags)
    }

    /// Returns whether samples have one of `fields`.
    pub(super) fn samples(&self, fields: SampleType) -> bool {
        self.attr.sample_type.intersects(fields)
    }

    /// Returns whether the event samples, instead of only counting.
    pub(super) fn is_sampling(&self) -> bool {
        self.attr.sample_period != 0
    }

    pub(super) fn is(&self, kind: EventType) -> bool {
        self.attr.kind == kind
    }

    /// Returns whether the event is one of the CPU's PMU.
    pub(super) fn is_of_cpu_pmu(&self) -> bool {
        [EventType::HARDWARE, EventType::HW_CACHE, EventType::RAW].contains(&self.attr.kind)
    }

    /// Returns whether the kernel chose the number of the PMU, as for probes, uncore PMUs and trace
    /// units.
    pub(super) fn is_of_dynamic_pmu(&self) -> bool {
        self.attr.kind > EventType::BREAKPOINT
    }

    /// Returns whether the event observes tasks, not a CPU.
    pub(super) fn is_of_tasks(&self) -> bool {
        self.target.is_thread() || self.target.is_cgroup()
    }

    /// Returns the level of `precise_ip`.
    pub(super) fn precise(&self) -> u32 {
        u32::from(self.attr.flags.precise_ip().level())
    }

    /// Opens an event, or returns `None` if the case cannot open events.
    pub(super) fn attempt(&mut self, trial: Trial<'_>) -> Option<Result<(), Error>> {
        self.trial.as_mut().map(|open| open(trial))
    }

    /// Opens the failed event with another attr.
    pub(super) fn attempt_attr(&mut self, attr: &Attr) -> Option<Result<(), Error>> {
        self.attempt(Trial { attr, target: self.target, in_group: self.in_group })
    }

    /// Opens the failed event without its group.
    pub(super) fn attempt_alone(&mut self) -> Option<Result<(), Error>> {
        self.attempt(Trial { attr: self.attr, target: self.target, in_group: false })
    }

    /// Opens the event that needs no permission and that every kernel since 3.12 has. Returns
    /// `true` if it fails with the errno of the case.
    pub(super) fn simplest_fails_too(&mut self) -> bool {
        let attr = Attr::software(Software::DUMMY)
            .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
        let result = self.attempt(Trial { attr: &attr, target: Target::calling_thread(), in_group: false });
        result.is_some_and(|result| errno_of(&result) == self.errno)
    }
}

/// Returns the errno of a trial, `None` if the event opened.
pub(super) fn errno_of(result: &Result<(), Error>) -> Option<Errno> {
    result.as_ref().err().and_then(Error::errno)
}
