//! The failed call of one event.

use std::error::Error;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use perf_ring::{Attr, Call, Errno, Event, Target};

use super::Scope;
use super::error::call_and_errno;
use crate::names::catalog;
use crate::system::System;
use crate::why::{Diagnosis, FailedOpen, explain_mapping, trial_of};

/// The reason why an event could not be opened, mapped, controlled or read: the event, its CPU or
/// thread, and the error of the call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventError {
    /// The name of the event.
    pub label: Arc<str>,
    /// The thread or CPU for which the call failed.
    pub scope: Scope,
    /// The attr with which the event was opened, or was to be opened.
    pub attr: Box<Attr>,
    /// Whether the event is a member of a group, not its leader.
    pub is_member: bool,
    /// The error of the call.
    pub error: perf_ring::Error,
    /// The data pages of the ring that was not mapped, 0 if another call failed.
    pub data_pages: usize,
    pub(super) cgroup: Option<Arc<OwnedFd>>,
    /// Index of the group of the plan that could not be opened; `None` for another call.
    pub(super) group: Option<usize>,
}

/// Returns the name of the event, as [`catalog::name_of`] does if none was set.
pub(super) fn label_of(event: &Event) -> Arc<str> {
    event.name().map_or_else(|| catalog::name_of(event.attr()).into(), Arc::clone)
}

impl EventError {
    /// Returns the error of a call other than `mmap`, for an event of no cgroup.
    pub(super) fn new(
        label: Arc<str>,
        attr: &Attr,
        scope: Scope,
        is_member: bool,
        error: impl Into<perf_ring::Error>,
    ) -> Self {
        Self {
            label,
            scope,
            attr: Box::new(*attr),
            is_member,
            error: error.into(),
            data_pages: 0,
            cgroup: None,
            group: None,
        }
    }

    /// Returns the error of a call for an open event.
    pub(super) fn of(
        event: &Event,
        scope: Scope,
        is_member: bool,
        error: impl Into<perf_ring::Error>,
    ) -> Self {
        Self::new(label_of(event), event.attr(), scope, is_member, error)
    }

    /// Returns whether the CPU is offline, or was when the event was opened.
    pub(super) fn is_of_offline_cpu(&self) -> bool {
        matches!(self.error.errno(), Some(Errno::ENODEV | Errno::ESRCH))
    }

    /// Explains the failure: the cause, the values that show it, and the remedy. If the event could
    /// not be opened, opens others to find the part of the attr that the kernel does not accept.
    pub fn explain(&self, system: &System) -> Diagnosis {
        if self.error.call() == Some(Call::Mmap) {
            return explain_mapping(system, &self.error, &self.attr, self.data_pages);
        }
        let failed = FailedOpen::new(self.error, &self.attr, self.target());
        // The group is closed, so a trial cannot join it.
        if self.is_member {
            failed.in_group().explain(system)
        } else {
            failed.explain_by_trial(system, trial_of(None))
        }
    }

    /// Returns the event, its CPU or thread, the call and the errno, without the usual causes that
    /// `Display` adds.
    pub fn what(&self) -> String {
        format!("{} for {}: {}", self.label, self.scope, call_and_errno(&self.error))
    }

    /// Returns the target of the event.
    pub fn target(&self) -> Target<'_> {
        match (&self.cgroup, self.scope.thread_id(), self.scope.cpu_id()) {
            (Some(dir), _, Some(cpu)) => Target::cgroup(dir, cpu),
            (_, Some(tid), Some(cpu)) => Target::thread(tid).on_cpu(cpu),
            (_, Some(tid), None) => Target::thread(tid),
            (_, None, Some(cpu)) => Target::cpu(cpu),
            (_, None, None) => Target::calling_thread(),
        }
    }
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}: {}", self.label, self.scope, self.error)
    }
}

/// `source` is `None`: `Display` already has the whole text.
impl Error for EventError {}

/// Keeps the kind of the errno and the whole text; the [`EventError`] is inside.
impl From<EventError> for io::Error {
    fn from(error: EventError) -> Self {
        Self::new(Self::from(error.error).kind(), error)
    }
}
