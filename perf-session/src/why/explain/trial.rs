use perf_sys::{Attr, AttrFlags, Error, Event, OpenOptions, Software, Target};

use super::Failure;

/// An event that an explanation opens to find the cause, and closes at once.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The attr.
    pub attr: &'a Attr,
    /// The target.
    pub target: Target<'a>,
    /// Set if the event joins the group that the failed one was to join.
    pub in_group: bool,
}

/// Returns a closure that opens events by the system call, for
/// [`FailedOpen::explain_by_trial`](crate::FailedOpen::explain_by_trial). `leader` is that of the failed
/// open.
pub fn trial_of(leader: Option<&Event>) -> impl FnMut(Trial<'_>) -> Result<(), Error> {
    move |trial| {
        let options = OpenOptions::new();
        let options = match leader.filter(|_| trial.in_group) {
            Some(leader) => options.leader(leader),
            None => options,
        };
        options.open(trial.attr, trial.target).map(drop)
    }
}

impl Failure<'_> {
    /// Opens an event, or returns `None` if there is no way to open one.
    pub(super) fn attempt(&mut self, trial: Trial<'_>) -> Option<Result<(), Error>> {
        self.trial.as_mut().map(|open| open(trial))
    }

    /// Opens the failed event with another attr.
    pub(super) fn attempt_attr(&mut self, attr: &Attr) -> Option<Result<(), Error>> {
        self.attempt(Trial { attr, target: self.open.target, in_group: self.open.in_group })
    }

    /// Opens the event that needs no permission and that every kernel since 3.12 has.
    pub(super) fn attempt_simplest(&mut self) -> Option<Result<(), Error>> {
        let attr = Attr::software(Software::DUMMY)
            .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
        self.attempt(Trial { attr: &attr, target: Target::calling_thread(), in_group: false })
    }
}
