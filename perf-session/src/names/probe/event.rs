use super::register::Registration;
use super::{Probe, ProbeError};
use crate::names::pmu::PmuError;
use crate::names::spec::EventSpec;
use crate::system::System;

/// A probe that can be opened, by its PMU or, on a kernel without the PMU, by a tracepoint that is listed in
/// tracefs until this value is dropped.
///
/// The kernel does not remove a probe while an event of it is open: drop the events first.
#[derive(Debug)]
pub struct ProbeEvent {
    spec: EventSpec,
    registration: Option<Registration>,
}

impl ProbeEvent {
    /// Returns the event.
    pub fn spec(&self) -> &EventSpec {
        &self.spec
    }

    /// Returns `true` if the probe is listed in tracefs, because the kernel has no PMU for it.
    pub fn is_in_tracefs(&self) -> bool {
        self.registration.is_some()
    }

    /// Removes the probe from tracefs, if it is listed there. Dropping does the same, and ignores an error.
    ///
    /// # Errors
    ///
    /// The kernel did not remove the probe: `EBUSY` while an event of it is open.
    pub fn remove(mut self) -> Result<(), ProbeError> {
        self.registration.as_mut().map_or(Ok(()), Registration::remove)
    }
}

impl Probe {
    /// Returns the event of the probe by its PMU, or by [`tracefs_event`](Self::tracefs_event) if the kernel
    /// has no such PMU (before Linux 4.17).
    ///
    /// # Errors
    ///
    /// [`ProbeError::Pmu`] or [`ProbeError::File`] if the PMU cannot be read; without the PMU, [`ProbeError::Tracefs`] if
    /// tracefs is not mounted, and [`ProbeError::Register`] if the kernel does not accept the probe.
    pub fn event(&self, system: &System) -> Result<ProbeEvent, ProbeError> {
        match self.event_spec(system) {
            Ok(spec) => Ok(ProbeEvent { spec, registration: None }),
            Err(ProbeError::Pmu(PmuError::NotFound { .. })) => self.tracefs_event(system),
            Err(error) => Err(error),
        }
    }

    /// Returns the event of the probe by a tracepoint, which a line in `kprobe_events` or `uprobe_events` makes.
    /// Needs root.
    ///
    /// # Errors
    ///
    /// tracefs cannot be used, the kernel has no such file, or does not accept the line.
    pub fn tracefs_event(&self, system: &System) -> Result<ProbeEvent, ProbeError> {
        let (registration, tracepoint) = Registration::new(self, system)?;
        let spec = tracepoint.event_spec().with_label(self.to_string());
        Ok(ProbeEvent { spec, registration: Some(registration) })
    }
}
