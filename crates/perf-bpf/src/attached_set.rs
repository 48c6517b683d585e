//! Event sets with a program attached to each event.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use perf_session::ring::EventType;
use perf_session::{CpuList, EventSet, EventSetEvent, EventSetOptions, LossLedger, NamedEvent, Refreshed};

use crate::error::{Error, Refused};
use crate::link::Attachment;

/// An [`EventSet`] of events with a program attached to them.
///
/// The program runs on every overflow of each event. A program on a tracepoint or a probe runs for
/// its hits on all CPUs, so it is attached once, to the first event of the tracepoint.
///
/// ```no_run
/// use perf_bpf::AttachedSet;
/// use perf_bpf::events::EventSpec;
/// use perf_bpf::ring::{Attr, Software};
///
/// # fn profile(program: std::os::fd::OwnedFd) -> Result<(), perf_bpf::Error> {
/// let clock = Attr::software(Software::CPU_CLOCK).with_frequency(99); // Hz
/// let set = AttachedSet::open(EventSpec::new(clock), &program, 0)?;
/// println!("sampling on CPUs {}, {} offline", set.set().cpus(), set.offline());
/// # set.close()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AttachedSet {
    // Dropped before the set, so that all links are closed before the first event.
    attachments: Vec<Attachment>,
    set: EventSet,
    program: OwnedFd,
    cookie: u64,
}

impl AttachedSet {
    /// Opens an event on each online CPU, attaches the program to each, and then enables the
    /// events.
    ///
    /// Offline CPUs are skipped; [`offline`](Self::offline) returns them. The program reads
    /// `cookie` by `bpf_get_attach_cookie`; 0 is the same as no cookie.
    ///
    /// # Errors
    ///
    /// [`Error::Set`] if an event cannot be opened, and [`Error::Attach`]. After an error no event
    /// stays open and no program attached.
    #[doc(alias = "OpenAll")]
    pub fn open(event: impl Into<NamedEvent>, program: impl AsFd, cookie: u64) -> Result<Self, Error> {
        let set = EventSetOptions::new().event(event).open()?;
        let mut set = Self::attach(set, program, cookie).map_err(Error::from)?;
        set.enable()?;
        Ok(set)
    }

    /// Attaches the program to the events of a set that is not enabled. Nothing runs before
    /// [`enable`](Self::enable), except on tracepoints and probes.
    ///
    /// # Errors
    ///
    /// [`Error::Attach`], with the set. The program is detached from all its events, but on a
    /// kernel without links (before Linux 5.15), where it stays attached until they are closed.
    #[doc(alias = "WithDeferredEnable")]
    #[allow(clippy::result_large_err)] // the value is larger
    pub fn attach(set: EventSet, program: impl AsFd, cookie: u64) -> Result<Self, Refused<EventSet>> {
        let program = match program.as_fd().try_clone_to_owned() {
            Ok(program) => program,
            Err(error) => return Err(Refused { error: Error::descriptor(&error), value: set }),
        };
        let mut attachments = Vec::new();
        match attach_missing(&mut attachments, &set, &program, cookie) {
            Ok(()) => Ok(Self { attachments, set, program, cookie }),
            Err(error) => Err(Refused { error, value: set }),
        }
    }

    /// Starts all events, as [`EventSet::enable`].
    ///
    /// # Errors
    ///
    /// [`Error::Set`] with the error of [`EventSet::enable`].
    pub fn enable(&mut self) -> Result<(), Error> {
        Ok(self.set.enable()?)
    }

    /// Stops all events, as [`EventSet::disable`]. Programs on tracepoints and probes still run.
    ///
    /// # Errors
    ///
    /// [`Error::Set`] with the error of [`EventSet::disable`].
    pub fn disable(&mut self) -> Result<(), Error> {
        Ok(self.set.disable()?)
    }

    /// Finds CPUs that went offline or came online with [`EventSet::refresh`], and attaches the
    /// program to the new events before they are enabled.
    ///
    /// # Errors
    ///
    /// The errors of [`EventSet::refresh`], and [`Error::Attach`].
    pub fn refresh(&mut self) -> Result<Refreshed, Error> {
        let Self { attachments, set, program, cookie } = self;
        let refreshed = set.refresh_with(|set| attach_missing(attachments, set, program, *cookie))?;
        // A program on a tracepoint may have been attached to an event that was closed.
        attach_missing(attachments, set, program, *cookie)?;
        Ok(refreshed)
    }

    /// Returns the set, for its counts.
    pub const fn set(&self) -> &EventSet {
        &self.set
    }

    /// Returns the set, for reading it.
    pub const fn set_mut(&mut self) -> &mut EventSet {
        &mut self.set
    }

    /// Returns the CPUs that were skipped because they are offline.
    pub const fn offline(&self) -> &CpuList {
        self.set.offline()
    }

    /// Returns the attachments.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// Closes all links and then all events, and returns the ledger of the set.
    ///
    /// # Errors
    ///
    /// The errors of [`EventSet::close`]. All links and events are closed even then.
    pub fn close(self) -> Result<LossLedger, Error> {
        drop(self.attachments);
        Ok(self.set.close()?)
    }
}

/// Detaches the program from closed events, and attaches it where it is missing.
fn attach_missing(
    attachments: &mut Vec<Attachment>,
    set: &EventSet,
    program: &OwnedFd,
    cookie: u64,
) -> Result<(), Error> {
    attachments.retain(|attachment| set.events().any(|event| is_on(attachment, &event)));
    for event in set.events() {
        if is_attached(attachments, set, &event) {
            continue;
        }
        let attachment = Attachment::new(Arc::clone(event.event), program, cookie);
        let scope = event.scope;
        attachments
            .push(attachment.map_err(|refused| Error::Attach { scope, error: Box::new(refused.error) })?);
    }
    Ok(())
}

/// Returns whether the program runs for the event already.
fn is_attached(attachments: &[Attachment], set: &EventSet, event: &EventSetEvent<'_>) -> bool {
    let is_for_all = is_for_all(event);
    let mut same = set
        .events()
        .filter(|other| Arc::ptr_eq(other.event, event.event) || is_for_all && other.index == event.index);
    same.any(|event| attachments.iter().any(|attachment| is_on(attachment, &event)))
}

fn is_on(attachment: &Attachment, event: &EventSetEvent<'_>) -> bool {
    Arc::ptr_eq(attachment.event(), event.event)
}

/// Returns whether the program runs for the hits of all CPUs, whichever event it is attached to.
fn is_for_all(event: &EventSetEvent<'_>) -> bool {
    let is_probe = event.spec.pmu().is_some_and(|pmu| matches!(pmu, "kprobe" | "uprobe"));
    is_probe || event.event.attr().kind == EventType::TRACEPOINT
}
