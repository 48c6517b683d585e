//! The reasons why an event does not open or a ring is not mapped.

use perf_sys::{Attr, Call, Errno, Error, Target};

use crate::system::{Privileges, System};

mod argument;
mod cause;
mod cpu;
mod denied;
mod explanation;
mod invalid;
mod limit;
mod map;
mod missing;
mod permission;
#[cfg(test)]
mod tests;
mod tracepoint;
mod trial;
mod unsupported;

pub use cause::Cause;
pub use explanation::{Evidence, Explanation};
pub use map::explain_map;
pub(crate) use map::explain_mapping;
pub use trial::{Trial, trial_of};

/// Explains why `perf_event_open`, or the mapping of the event's ring, failed: the cause, the values read from `system` that show it, and the
/// remedy. Opens no event; [`FailedOpen::explain_by_trial`] does, and finds more.
///
/// Where the cause is unknown, the explanation says so and has the usual causes of the errno.
///
/// ```
/// use perf_session::sys::{Attr, Event, Hardware, Target};
/// use perf_session::{System, explain};
///
/// let attr = Attr::hardware(Hardware::CPU_CYCLES);
/// let target = Target::calling_thread();
/// if let Err(error) = Event::open(&attr, target) {
///     println!("{}", explain(&System::new(), &error, &attr, target));
/// }
/// ```
pub fn explain(system: &System, error: &Error, attr: &Attr, target: Target<'_>) -> Explanation {
    FailedOpen::new(error, attr, target).explain(system)
}

/// A failed open: the error and the arguments of the call.
#[derive(Clone, Copy, Debug)]
pub struct FailedOpen<'a> {
    error: &'a Error,
    attr: &'a Attr,
    target: Target<'a>,
    in_group: bool,
}

impl<'a> FailedOpen<'a> {
    /// Returns the failed open of an event without a group.
    pub const fn new(error: &'a Error, attr: &'a Attr, target: Target<'a>) -> Self {
        Self { error, attr, target, in_group: false }
    }

    /// Sets that the event was to join a group.
    #[must_use]
    pub const fn in_group(self) -> Self {
        Self { in_group: true, ..self }
    }

    /// Explains the failure without opening an event, as [`explain`].
    pub fn explain(&self, system: &System) -> Explanation {
        self.explain_with(system, None)
    }

    /// Explains the failure and opens further events by `open`, with a part of the attr, another target or
    /// without the group. The events are closed at once. [`trial_of`] is an `open` that makes the system
    /// call.
    pub fn explain_by_trial(
        &self,
        system: &System,
        mut open: impl FnMut(Trial<'_>) -> Result<(), Error>,
    ) -> Explanation {
        self.explain_with(system, Some(&mut open))
    }

    fn explain_with<'b>(&'b self, system: &'b System, trial: Option<Open<'b>>) -> Explanation {
        let mut failure =
            Failure { open: *self, errno: Errno::EIO, system, privileges: Privileges::read(system), trial };
        match *self.error {
            Error::AttrSize { kernel, .. } => limit::attr_size(self.attr, kernel),
            Error::Open { errno, .. } | Error::System { call: Call::PerfEventOpen, errno } => {
                failure.errno = errno;
                failure.explain()
            }
            Error::System { call: Call::Mmap, .. } => explain_mapping(system, self.error, self.attr, 0),
            ref error => argument::explain(error),
        }
    }
}

/// The closure that opens an event for a trial.
type Open<'a> = &'a mut dyn FnMut(Trial<'_>) -> Result<(), Error>;

/// A failed open, and the sources of evidence.
struct Failure<'a> {
    open: FailedOpen<'a>,
    errno: Errno,
    system: &'a System,
    privileges: Privileges,
    trial: Option<Open<'a>>,
}

impl Failure<'_> {
    fn explain(&mut self) -> Explanation {
        let found = match self.errno {
            Errno::EACCES => permission::explain(self),
            Errno::EPERM => denied::explain(self),
            Errno::ENOSYS => denied::not_implemented(self),
            Errno::EINVAL => invalid::explain(self),
            Errno::ENOENT => Some(missing::explain(self)),
            Errno::ENODEV => cpu::no_device(self),
            Errno::ESRCH => cpu::no_thread(self),
            Errno::EOPNOTSUPP => unsupported::explain(self),
            errno => limit::explain(self, errno),
        };
        found.unwrap_or_else(|| {
            let unknown = argument::unknown(self.open.error);
            match self.errno {
                Errno::EACCES | Errno::EPERM => permission::with_settings(unknown, &self.privileges),
                _ => unknown,
            }
        })
    }
}
