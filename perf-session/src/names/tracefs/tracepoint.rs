use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use perf_sys::Attr;
use perf_sys::decode::tracepoint::{Format, FormatError};

use super::TracefsError;
use crate::names::spec::EventSpec;
use crate::system::System;

/// A tracepoint of this machine, with the layout of its payload.
///
/// ```no_run
/// use perf_session::{System, Tracefs};
/// use perf_session::sys::{Attr, Sample, SampleType};
///
/// let tracepoint = Tracefs::find(&System::new())?.tracepoint("sched", "sched_switch")?;
/// // Some tracepoints count more than 1 at a hit. `PERIOD` makes each hit one sample, with what it counted.
/// let fields = SampleType::RAW | SampleType::PERIOD;
/// let spec = tracepoint.event_spec().map_attr(|attr| attr.with_period(1).with_sample_type(fields));
/// // Once:
/// let (comm, pid) = (tracepoint.format()?.text("next_comm")?, tracepoint.format()?.integer("next_pid")?);
/// // For each sample of an event of `spec`:
/// fn print(sample: &Sample<'_>, comm: perf_session::sys::decode::tracepoint::TextField) {
///     println!("switch to {:?}", sample.raw().and_then(|payload| comm.read(payload)));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Tracepoint {
    label: Arc<str>,
    category_len: usize,
    id: u32,
    text: Arc<str>,
}

impl Tracepoint {
    /// Reads the format, which also has the name and the id.
    pub(super) fn load(system: &System, path: PathBuf, category: &str) -> Result<Self, TracefsError> {
        let text = system.read(&path)?;
        match Format::parse(&text) {
            Ok(Format { name, id, .. }) => Ok(Self {
                label: format!("{category}:{name}").into(),
                category_len: category.len(),
                id,
                text: text.into(),
            }),
            Err(error) => Err(TracefsError::Format { path: system.path(path), error }),
        }
    }

    /// Returns the category: `sched`.
    pub fn category(&self) -> &str {
        self.label.get(..self.category_len).unwrap_or_default()
    }

    /// Returns the name in the category: `sched_switch`.
    pub fn name(&self) -> &str {
        self.label.get(self.category_len + 1..).unwrap_or_default()
    }

    /// Returns the value of [`Attr::config`] and of `common_type` in a payload. Valid for this boot, and
    /// for tracepoints of a module until the module is unloaded.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the layout of the payload: fields are bound and read by their names.
    ///
    /// Parses the text of the kernel, so bind fields once and not for every sample.
    ///
    /// # Errors
    ///
    /// None, because the text was parsed when the tracepoint was found. It is a result because [`Format::parse`] returns one.
    pub fn format(&self) -> Result<Format<'_>, FormatError> {
        Format::parse(&self.text)
    }

    /// Returns the text of the kernel, which [`Format::parse`] takes.
    pub fn format_text(&self) -> &str {
        &self.text
    }

    /// Returns an event that counts the hits, or what each hit stands for: `sched:sched_stat_runtime` counts
    /// nanoseconds. Its label is `category:name`.
    ///
    /// To sample every hit, set a period of 1 and [`SampleType::PERIOD`](perf_sys::SampleType::PERIOD):
    /// see [`Attr::with_period`].
    pub fn event_spec(&self) -> EventSpec {
        let attr = Attr::tracepoint(self.id.into());
        EventSpec::new(attr).with_label(Arc::clone(&self.label)).with_pmu("tracepoint")
    }
}

impl fmt::Display for Tracepoint {
    /// Prints `category:name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl fmt::Debug for Tracepoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracepoint").field("label", &self.label).field("id", &self.id).finish_non_exhaustive()
    }
}
