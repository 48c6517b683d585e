//! Why a set could not be opened or used.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use perf_ring::Errno;

use super::{EventError, Inherit};
use crate::names::ProbeError;
use crate::system::{CpuList, FileError, System};
use crate::why::Diagnosis;

/// The reason why an [`EventSet`](crate::EventSet) could not be opened or used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EventSetError {
    /// A call for one event failed.
    Event(EventError),
    /// A call for the rings as a whole failed.
    Rings(perf_ring::Error),
    /// A file with the CPUs or threads cannot be used.
    File(FileError),
    /// The options have no events.
    NoEvents,
    /// The event has no PMU, so there is nothing to open.
    NoPmu {
        /// The name of the event.
        event: Arc<str>,
    },
    /// A member of a group has no event on the PMU of its leader.
    GroupPmu {
        /// The name of the leader.
        leader: Arc<str>,
        /// The name of the member.
        member: Arc<str>,
        /// The PMU of the leader.
        pmu: Arc<str>,
    },
    /// The event's PMU counts on no CPU of the target.
    NoCpu {
        /// The name of the event.
        event: Arc<str>,
        /// The CPUs of the target.
        target: CpuList,
    },
    /// The target has CPUs that this machine does not have.
    ImpossibleCpus {
        /// The CPUs of the target that are not possible.
        cpus: CpuList,
    },
    /// All CPUs of the target are offline.
    AllOffline {
        /// The CPUs that the target names.
        cpus: CpuList,
    },
    /// The process or thread has exited, or no task has this id.
    NoTask {
        /// Id of the process or thread.
        id: u32,
    },
    /// A probe that new tasks inherit cannot be listed in tracefs.
    Probe {
        /// The name of the event.
        event: Arc<str>,
        /// The error of the failed step.
        error: Box<ProbeError>,
    },
    /// The target is a command, and its events would not be inherited. The command is a child of
    /// the thread whose events they are, so that nothing would count.
    CommandInherit {
        /// The inheritance that the options set.
        inherit: Inherit,
    },
    /// The set observes CPUs or a command, so threads cannot be added.
    NotTasks,
    /// Several events would write into a ring whose records do not name their event, because of
    /// [`EventSetOptions::one_event_a_ring`](crate::EventSetOptions::one_event_a_ring).
    NotOneEvent {
        /// Number of the events on each CPU or thread, with those to be added.
        events: usize,
    },
    /// The set has no rings because it was opened for counting.
    NoRings,
    /// [`EventSet::spawn`](crate::EventSet::spawn) was called for a set whose target is not a
    /// command, for the second time, or in a thread other than the one that opened the set.
    Spawn(SpawnMisuse),
    /// The command could not be started.
    Command {
        /// Path or name of the program.
        program: String,
        /// The error of the failed step.
        error: Arc<io::Error>,
    },
}

/// The wrong use of [`EventSet::spawn`](crate::EventSet::spawn).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnMisuse {
    /// The target of the set is not [`EventSetTarget::command`](crate::EventSetTarget::command).
    Target,
    /// The set has already started a command.
    Again,
    /// Another thread than the caller has opened the set.
    Thread,
}

impl EventSetError {
    /// Returns the error of one event, if a call for an event failed.
    pub const fn event(&self) -> Option<&EventError> {
        match self {
            Self::Event(error) => Some(error),
            _ => None,
        }
    }

    /// Explains the failure: the cause, the values that show it, and the remedy. `None` unless a
    /// call for one event failed, because `Display` then has everything.
    pub fn explain(&self, system: &System) -> Option<Diagnosis> {
        Some(self.event()?.explain(system))
    }

    /// Returns the event, its CPU or thread, the call and the errno, in one line, without the usual
    /// causes that `Display` adds: to print with an [explanation](Self::explain). Errors of other
    /// kinds have their whole text.
    pub fn what(&self) -> String {
        match self {
            Self::Event(error) => error.what(),
            Self::Rings(error) => call_and_errno(error),
            other => other.to_string(),
        }
    }

    /// Returns the error of the system call, if one failed.
    pub const fn call(&self) -> Option<&perf_ring::Error> {
        match self {
            Self::Event(EventError { error, .. }) | Self::Rings(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the errno of the failed call as a number. It is `ESRCH` for
    /// [`NoTask`](Self::NoTask).
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::Event(EventError { error, .. }) | Self::Rings(error) => error.raw_os_error(),
            Self::File(error) => error.io_error()?.raw_os_error(),
            Self::Command { error, .. } => error.raw_os_error(),
            Self::Probe { error, .. } => error.raw_os_error(),
            Self::NoTask { .. } => Some(Errno::ESRCH.raw_os_error()),
            _ => None,
        }
    }

    /// Returns std's error of the errno, for code that looks at
    /// [`raw_os_error`](io::Error::raw_os_error). The text of this error is lost.
    ///
    /// An error without an errno is converted as by `From`.
    #[must_use]
    pub fn to_os_error(&self) -> io::Error {
        self.raw_os_error().map_or_else(|| self.clone().into(), io::Error::from_raw_os_error)
    }

    /// Returns std's kind of the failed call, or a fitting one.
    fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Event(EventError { error, .. }) | Self::Rings(error) => io::Error::from(*error).kind(),
            Self::File(error) => error.io_error().map_or(io::ErrorKind::InvalidData, io::Error::kind),
            Self::Command { error, .. } => error.kind(),
            Self::Probe { error, .. } => io::Error::from(ProbeError::clone(error)).kind(),
            Self::NoTask { .. } => io::ErrorKind::NotFound,
            _ => io::ErrorKind::InvalidInput,
        }
    }
}

impl fmt::Display for EventSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(error) => error.fmt(f),
            Self::Rings(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
            Self::NoEvents => f.write_str("no events: add at least one"),
            Self::NoPmu { event } => write!(f, "{event}: expected at least one PMU, found none"),
            Self::GroupPmu { leader, member, pmu } => {
                write!(f, "group of {leader}: {member} is not an event of its PMU {pmu}")
            }
            Self::NoCpu { event, target } => {
                write!(f, "{event}: its PMU counts on none of the CPUs {target}; choose one of the PMU's")
            }
            Self::ImpossibleCpus { cpus } => write!(f, "CPUs {cpus}: this machine does not have them"),
            Self::AllOffline { cpus } => write!(f, "CPUs {cpus}: all are offline; choose an online one"),
            Self::NotOneEvent { events } => write!(
                f,
                "rings: expected one event and one thread for each, found {events} events or several threads; open the \
                 set without `one_event_a_ring`"
            ),
            Self::NoTask { id } => write!(f, "process or thread {id}: it has exited, or never existed"),
            Self::Probe { event, error } => {
                write!(f, "{event}: only tracefs has probes that new tasks inherit: {error}")
            }
            Self::CommandInherit { inherit } => write!(
                f,
                "set for a command: expected events inherited by all tasks, found {inherit:?}, by which \
                 the command is not counted; leave out EventSetOptions::inherit"
            ),
            Self::NotTasks => f.write_str(
                "add a thread: expected a set of threads or processes, found one of CPUs or a command; open a \
                 set for the thread",
            ),
            Self::NoRings => f.write_str("the set has no rings: open it with EventSetOptions::ring_pages"),
            Self::Spawn(misuse) => f.write_str(match misuse {
                SpawnMisuse::Target => "the target of the set is not a command",
                SpawnMisuse::Again => "the set has already started a command: open a set for each",
                SpawnMisuse::Thread => "another thread has opened the set: start the command there",
            }),
            Self::Command { program, error } => write!(f, "{program}: {error}"),
        }
    }
}

/// Returns the text of an error without the usual causes.
pub(super) fn call_and_errno(error: &perf_ring::Error) -> String {
    match (error.call(), error.errno()) {
        (Some(call), Some(errno)) => format!("{call}: {errno}"),
        _ => error.to_string(),
    }
}

/// `source` is `None`: `Display` already has the whole text.
impl Error for EventSetError {}

impl From<EventError> for EventSetError {
    fn from(error: EventError) -> Self {
        Self::Event(error)
    }
}

impl From<FileError> for EventSetError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<perf_ring::Error> for EventSetError {
    fn from(error: perf_ring::Error) -> Self {
        Self::Rings(error)
    }
}

impl From<perf_ring::sys::Error> for EventSetError {
    fn from(error: perf_ring::sys::Error) -> Self {
        Self::Rings(error.into())
    }
}

/// Keeps the kind of the errno, the whole text, and the [`EventSetError`] itself, which
/// [`get_ref`](io::Error::get_ref) returns.
///
/// [`raw_os_error`](io::Error::raw_os_error) of the result is `None`;
/// [`to_os_error`](EventSetError::to_os_error) keeps the number instead of the text.
impl From<EventSetError> for io::Error {
    fn from(error: EventSetError) -> Self {
        Self::new(error.kind(), error)
    }
}

#[cfg(test)]
mod tests {
    use perf_ring::sys::Error as SysError;
    use perf_ring::{Attr, Call, Software};

    use super::*;
    use crate::set::Scope;

    fn refused() -> EventSetError {
        let error = SysError::System { call: Call::PerfEventOpen, errno: Errno::EACCES };
        let (label, attr) = ("task-clock".into(), Attr::software(Software::TASK_CLOCK));
        EventSetError::Event(EventError::new(label, &attr, Scope::thread(7), false, error))
    }

    #[test]
    fn io_error_keeps_kind_text_and_error() {
        let error = io::Error::from(refused());
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), refused().to_string());
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<EventSetError>());
        assert_eq!(inner.and_then(EventSetError::raw_os_error), Some(13));
    }

    #[test]
    fn os_error_keeps_the_errno() {
        assert_eq!(refused().to_os_error().raw_os_error(), Some(13));
        assert_eq!(EventSetError::NoTask { id: 7 }.to_os_error().raw_os_error(), Some(3));
        let error = EventSetError::NoEvents;
        assert_eq!(error.to_os_error().to_string(), error.to_string());
    }

    #[test]
    fn what_has_the_event_the_call_and_the_errno_without_causes() {
        let what = refused().what();
        assert_eq!(what, "task-clock for thread 7: perf_event_open: Permission denied (os error 13)");
        assert!(refused().to_string().len() > what.len(), "with the usual causes");
        assert_eq!(EventSetError::NoEvents.what(), EventSetError::NoEvents.to_string());
    }
}
