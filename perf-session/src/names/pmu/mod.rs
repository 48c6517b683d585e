//! PMUs: the sources of events that the kernel lists in sysfs.

use std::fmt;
use std::sync::Arc;

use perf_sys::EventType;

use crate::system::{CpuList, FileError, System};

mod config;
mod error;
mod event;
mod find;
mod format;
mod general;
mod info;
mod sampling;
mod term;
#[cfg(test)]
mod tests;
mod unit;

pub use error::{PmuError, TermError, TermProblem};
pub use event::PmuEvent;
pub use format::{ConfigField, ConfigFieldError};
pub use term::{PmuTerm, PmuTermError};

pub(in crate::names) use general::{General, NAMES as GENERAL_TERMS, number};

/// The directory of all PMUs.
const DEVICES: &str = "/sys/bus/event_source/devices";

/// One PMU: a directory below `/sys/bus/event_source/devices`.
///
/// Its type, cpumask and CPUs are read when it is found; formats, events and the rest when they are
/// asked for.
///
/// ```no_run
/// use perf_session::{Pmu, PmuTerm, System};
///
/// let pmu = Pmu::named(&System::new(), "cpu")?;
/// let spec = pmu.event_spec(&PmuTerm::parse_list("event=0xc0,umask=0x1,period=1000")?)?;
/// println!("{} counts {:#x}", spec.label(), spec.attr().config);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # References
///
/// - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "dynamic PMU"
/// - `Documentation/ABI/testing/sysfs-bus-event_source-devices-*` of the kernel
#[derive(Clone, Debug)]
pub struct Pmu {
    system: System,
    name: Arc<str>,
    kind: EventType,
    cpus: Option<CpuList>,
    is_core: bool,
    is_cpu_only: bool,
}

impl Pmu {
    /// Reads the PMU of this directory name, which exists.
    fn load(system: &System, name: &str) -> Result<Self, FileError> {
        let file = |file: &str| format!("{DEVICES}/{name}/{file}");
        let kind = EventType(system.number(file("type"), "the number of the PMU")?);
        let served = System::optional(system.cpu_list(&file("cpus")))?;
        let mask = System::optional(system.cpu_list(&file("cpumask")))?;
        let is_core = served.is_some() || ["cpu", "cpum_cf"].contains(&name);
        // The driver of Arm SPE lists the CPUs that it serves in `cpumask`, and opens events of tasks.
        let is_cpu_only = served.is_none() && mask.is_some() && !name.starts_with("arm_spe");
        let cpus = served.or(mask);
        Ok(Self { system: system.clone(), name: name.into(), kind, cpus, is_core, is_cpu_only })
    }

    /// Returns the name of the directory: `cpu`, `uncore_imc_0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name without the number of the instance: `uncore_imc` for `uncore_imc_0`. Instances of
    /// one unit have the same events.
    ///
    /// The number is decimal, or hexadecimal of more than two digits except on a core PMU, whose name may
    /// end like one: `armv8_cortex_a53`.
    pub fn unit_name(&self) -> &str {
        unit::split(&self.name, !self.is_core).0
    }

    /// Returns the value of [`Attr::kind`](perf_sys::Attr::kind). It may change at each boot.
    pub fn kind(&self) -> EventType {
        self.kind
    }

    /// Returns the CPUs on which an event is to be opened, from the file `cpus` or `cpumask`; `None` for all.
    pub fn cpus(&self) -> Option<&CpuList> {
        self.cpus.as_ref()
    }

    /// Returns `true` for the PMU of a kind of CPU core: `cpu`, `cpu_atom`, `armv8_cortex_a53`.
    ///
    /// It has a file `cpus`, or the name `cpu` (s390: `cpum_cf`).
    pub fn is_core(&self) -> bool {
        self.is_core
    }

    /// Returns `true` if its events can be opened for CPUs only, not for a task: it has a file `cpumask`.
    ///
    /// `arm_spe_0` has one and takes tasks.
    pub fn is_cpu_only(&self) -> bool {
        self.is_cpu_only
    }

    fn path(&self, file: &str) -> String {
        format!("{DEVICES}/{}/{file}", self.name)
    }

    /// Returns the sorted names in one of its directories, none if it is missing.
    fn names(&self, directory: &str) -> Result<Vec<String>, FileError> {
        Ok(System::optional(self.system.list(self.path(directory)))?.unwrap_or_default())
    }

    /// Returns the content of one of its files without whitespace at the end, `None` if it is missing.
    fn text(&self, file: &str) -> Result<Option<String>, FileError> {
        let text = System::optional(self.system.read(self.path(file)))?;
        Ok(text.map(|text| text.trim_ascii_end().to_owned()))
    }

    fn malformed(&self, file: &str, expected: impl Into<String>, found: &str) -> FileError {
        FileError::malformed(self.system.path(self.path(file)), expected, found)
    }
}

impl fmt::Display for Pmu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
