//! Probes by a line in `kprobe_events` or `uprobe_events` of tracefs.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{io, thread};

use perf_ring::Attr;

use super::{Location, Probe, ProbeError};
use crate::names::pmu::{Pmu, PmuError, PmuTerm};
use crate::names::spec::EventSpec;
use crate::names::tracefs::{Tracefs, Tracepoint};
use crate::system::{FileError, System};

/// A probe that can be opened, by its PMU or, on a kernel without the PMU, by a tracepoint that is
/// listed in tracefs until this value is dropped.
///
/// The kernel does not remove a probe while one of its events is open: drop the events first.
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

    /// Removes the probe from tracefs, if it is listed there. Dropping does the same, and ignores
    /// an error.
    ///
    /// # Errors
    ///
    /// The kernel did not remove the probe: `EBUSY` while one of its events is open.
    pub fn remove(mut self) -> Result<(), ProbeError> {
        self.registration.as_mut().map_or(Ok(()), Registration::remove)
    }
}

impl Probe {
    /// Returns the event of the probe by its PMU, or by [`tracefs_event`](Self::tracefs_event) if
    /// the kernel has no such PMU (before Linux 4.17).
    ///
    /// # Errors
    ///
    /// [`ProbeError::Pmu`] or [`ProbeError::File`] if the PMU cannot be read; without the PMU,
    /// [`ProbeError::Tracefs`] if tracefs is not mounted, and [`ProbeError::Register`] if the
    /// kernel does not accept the probe.
    pub fn event(&self, system: &System) -> Result<ProbeEvent, ProbeError> {
        match self.event_spec(system) {
            Ok(spec) => Ok(ProbeEvent { spec, registration: None }),
            Err(ProbeError::Pmu(PmuError::NotFound { .. })) => self.tracefs_event(system),
            Err(error) => Err(error),
        }
    }

    /// Returns the event of the probe by a tracepoint, which a line in `kprobe_events` or
    /// `uprobe_events` makes. Needs root.
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

/// The number of names to try. Names of a process that ended without removing its probes are in
/// use.
const ATTEMPTS: u32 = 1000;

/// The attempts to remove a probe when it is dropped, with a pause of 1 ms between two.
const REMOVALS: u32 = 20;

/// A probe that is listed in tracefs until it is dropped.
#[derive(Debug)]
pub(super) struct Registration {
    file: PathBuf,
    name: String,
    is_removed: bool,
}

impl Registration {
    /// Lists the probe under a name that no other one has, and returns its tracepoint.
    pub(super) fn new(probe: &Probe, system: &System) -> Result<(Self, Tracepoint), ProbeError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let tracefs = Tracefs::find(system)?;
        let file = tracefs.path().join(format!("{}_events", probe.pmu()));
        let category = format!("perf_session_{}", std::process::id());
        for _ in 0..ATTEMPTS {
            // A process that had this id before may have left its probes.
            let name = format!("probe_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
            let line = probe.line(&category, &name)?;
            match append(&file, &line) {
                Ok(()) => {
                    let registration = Self { file, name: format!("{category}/{name}"), is_removed: false };
                    return Ok((registration, tracefs.tracepoint(&category, &name)?));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // The kernel also returns ENOENT for a symbol that it does not have.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !file.exists() => {
                    return Err(ProbeError::Unsupported { kind: probe.pmu() });
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(ProbeError::Tracefs(FileError::io(file, error).into()));
                }
                Err(error) => return Err(ProbeError::Register { path: file, line, error: Arc::new(error) }),
            }
        }
        let error = Arc::new(io::ErrorKind::AlreadyExists.into());
        Err(ProbeError::Register { path: file, line: category, error })
    }

    /// Removes the probe from tracefs.
    pub(super) fn remove(&mut self) -> Result<(), ProbeError> {
        let line = format!("-:{}", self.name);
        let removed = append(&self.file, &line);
        self.is_removed = removed.is_ok();
        removed.map_err(|error| ProbeError::Register {
            path: self.file.clone(),
            line,
            error: Arc::new(error),
        })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // The kernel may need a moment after the last event was closed.
        for attempt in 0..REMOVALS {
            if self.is_removed || self.remove().is_ok() {
                return;
            }
            if attempt + 1 < REMOVALS {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Writes one line. The file is not truncated, because that would remove all probes of all
/// programs.
fn append(file: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().append(true).open(file)?.write_all(format!("{line}\n").as_bytes())
}

impl Probe {
    /// Returns the line that lists the probe under this name.
    pub(super) fn line(&self, category: &str, name: &str) -> Result<String, ProbeError> {
        let kind = if self.is_return { 'r' } else { 'p' };
        let location = match &self.location {
            Location::Function { name, offset } => format!("{}+{offset}", name.to_string_lossy()),
            Location::Address(address) => format!("{address:#x}"),
            Location::File { path, offset, .. } => {
                // The kernel splits the line at blanks.
                let text = path.to_str().ok().filter(|text| !text.contains(char::is_whitespace));
                let text = text.ok_or_else(|| ProbeError::Path { path: super::path_of(path) })?;
                format!("{text}:{offset:#x}")
            }
        };
        let counter = match (self.ref_counter, &self.location) {
            (None, _) => String::new(),
            (Some(offset), Location::File { .. }) => format!("({offset:#x})"),
            (Some(_), _) => return Err(ProbeError::KernelRefCounter),
        };
        Ok(format!("{kind}:{category}/{name} {location}{counter}"))
    }
}

impl Probe {
    /// Returns the event of the probe by the PMU `kprobe` or `uprobe`. The probe lives as long as
    /// the event is open.
    ///
    /// # Errors
    ///
    /// The kernel has no such PMU, the place of the reference counter does not fit, or a file
    /// cannot be read or is malformed.
    pub fn event_spec(&self, system: &System) -> Result<EventSpec, ProbeError> {
        if self.ref_counter.is_some() && !matches!(self.location, Location::File { .. }) {
            return Err(ProbeError::KernelRefCounter);
        }
        let pmu = Pmu::named(system, self.pmu())?;
        let counter = self.ref_counter.map(|offset| format!("{offset:#x}"));
        let is_return = self.is_return.then_some(PmuTerm { name: "retprobe", value: None });
        let counter =
            counter.as_deref().map(|offset| PmuTerm { name: "ref_ctr_offset", value: Some(offset) });
        let terms: Vec<_> = is_return.into_iter().chain(counter).collect();
        let spec = pmu.event_spec(&terms)?.with_label(self.to_string()).with_probe(self.clone());
        Ok(match &self.location {
            Location::Function { name: text, offset } | Location::File { path: text, offset, .. } => {
                spec.with_probe_text(Arc::clone(text)).map_attr(|attr: Attr| attr.with_config2(*offset))
            }
            Location::Address(address) => spec.map_attr(|attr| attr.with_config2(*address)),
        })
    }
}
