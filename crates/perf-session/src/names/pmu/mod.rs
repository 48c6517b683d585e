//! PMUs: the sources of events that the kernel lists in sysfs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use perf_ring::EventType;

use crate::names::glob::Glob;
use crate::system::{CpuList, FileError, PMUS, System, pmu_file};

mod config;
mod error;
mod event;
mod format;
mod general;
mod term;
#[cfg(test)]
mod tests;
mod unit;

pub use error::{PmuError, TermError, TermProblem};
pub use event::PmuEvent;
pub use format::{ConfigField, ConfigFieldError};
pub use term::{PmuTerm, PmuTermError};

pub(in crate::names) use general::{General, NAMES as GENERAL_TERMS, number};

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
/// - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "dynamic
///   PMU"
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
        let file = |file: &str| pmu_file(name, file);
        let kind = EventType(system.number(file("type"), "the number of the PMU")?);
        let served = System::optional(system.cpu_list(&file("cpus")))?;
        let mask = System::optional(system.cpu_list(&file("cpumask")))?;
        // A machine with one kind of cores has one PMU for them, which needs no file `cpus` and is
        // known by its name.
        let is_core = served.is_some() || ["cpu", "cpum_cf"].contains(&name);
        // The driver of Arm SPE lists the CPUs that it serves in `cpumask`, and opens events of
        // tasks.
        let is_cpu_only = served.is_none() && mask.is_some() && !name.starts_with("arm_spe");
        let cpus = served.or(mask);
        Ok(Self { system: system.clone(), name: name.into(), kind, cpus, is_core, is_cpu_only })
    }

    /// Returns the name of the directory: `cpu`, `uncore_imc_0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name without the number of the instance: `uncore_imc` for `uncore_imc_0`.
    /// Instances of one unit have the same events.
    ///
    /// The number is decimal, or hexadecimal of more than two digits except on a core PMU, whose
    /// name may end like one: `armv8_cortex_a53`.
    pub fn unit_name(&self) -> &str {
        unit::split(&self.name, !self.is_core).0
    }

    /// Returns the value of [`Attr::kind`](perf_ring::Attr::kind). It may change at each boot.
    pub fn kind(&self) -> EventType {
        self.kind
    }

    /// Returns the CPUs on which to open an event, from the file `cpus` or `cpumask`; `None` for
    /// all.
    pub fn cpus(&self) -> Option<&CpuList> {
        self.cpus.as_ref()
    }

    /// Returns `true` for the PMU of a kind of CPU core: `cpu`, `cpu_atom`, `armv8_cortex_a53`.
    ///
    /// It has a file `cpus`, or the name `cpu` (s390: `cpum_cf`).
    pub fn is_core(&self) -> bool {
        self.is_core
    }

    /// Returns `true` if its events can only be opened for CPUs, not for a task: it has a file
    /// `cpumask`.
    ///
    /// `arm_spe_0` has one and takes tasks.
    pub fn is_cpu_only(&self) -> bool {
        self.is_cpu_only
    }

    fn path(&self, file: &str) -> String {
        pmu_file(&self.name, file)
    }

    /// Returns the sorted names in one of its directories, none if it is missing.
    fn names(&self, directory: &str) -> Result<Vec<String>, FileError> {
        Ok(System::optional(self.system.list(self.path(directory)))?.unwrap_or_default())
    }

    /// Returns the content of one of its files without whitespace at the end, `None` if it is
    /// missing.
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

/// # Finding PMUs
impl Pmu {
    /// Returns the sorted names of all PMUs.
    ///
    /// # Errors
    ///
    /// The directory cannot be read: sysfs is not mounted, or the kernel has no perf events.
    pub fn all_names(system: &System) -> Result<Vec<String>, FileError> {
        system.list(PMUS)
    }

    /// Returns the numbers and names of all PMUs, by number.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is malformed.
    pub fn all_kinds(system: &System) -> Result<Vec<(EventType, String)>, FileError> {
        let kind = |name: &str| system.number(pmu_file(name, "type"), "the number of the PMU");
        let names = Self::all_names(system)?.into_iter();
        let kinds = names.map(|name| Ok((EventType(kind(&name)?), name)));
        let mut kinds = kinds.collect::<Result<Vec<_>, _>>()?;
        kinds.sort_unstable();
        Ok(kinds)
    }

    /// Returns all PMUs, sorted by unit and number.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is malformed.
    pub fn all(system: &System) -> Result<Vec<Self>, FileError> {
        Self::filter(system, |_| true)
    }

    /// Returns the PMU of this name.
    ///
    /// # Errors
    ///
    /// The PMU does not exist, or one of its files cannot be read or is malformed.
    pub fn named(system: &System, name: &str) -> Result<Self, PmuError> {
        let names = Self::all_names(system)?;
        if !names.iter().any(|known| known == name) {
            return Err(PmuError::NotFound { wanted: name.into(), has: names });
        }
        Ok(Self::load(system, name)?)
    }

    /// Returns the PMU of this value of [`Attr::kind`](perf_ring::Attr::kind), or `None` if no PMU
    /// has it. The kernel has numbers without a PMU in sysfs: hardware and cache events, and the
    /// two clocks.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is malformed.
    pub fn with_kind(system: &System, kind: EventType) -> Result<Option<Self>, FileError> {
        Ok(Self::all(system)?.into_iter().find(|pmu| pmu.kind == kind))
    }

    /// Returns the PMUs that a name in an event string stands for, sorted by number: the PMU
    /// itself, or the instances of a unit, `uncore_imc` or `imc` for `uncore_imc_0` and
    /// `uncore_imc_1`. The name may have the wildcards `*`, `?` and `[..]`.
    ///
    /// # Errors
    ///
    /// No PMU matches, or a file cannot be read or is malformed.
    pub fn matching(system: &System, name: &str) -> Result<Vec<Self>, PmuError> {
        let glob = Glob::new(name);
        let matches = |text: &str| {
            glob.matches(text) || text.strip_prefix("uncore_").is_some_and(|short| glob.matches(short))
        };
        let found = Self::filter(system, |known| matches(known) || matches(unit::split(known, true).0))?;
        let found: Vec<_> =
            found.into_iter().filter(|pmu| matches(&pmu.name) || matches(pmu.unit_name())).collect();
        if found.is_empty() {
            return Err(PmuError::NotFound { wanted: name.into(), has: Self::all_names(system)? });
        }
        Ok(found)
    }

    /// Returns the PMUs of the kinds of CPU cores: one on most machines, several on hybrid ones,
    /// none on many virtual ones.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is malformed.
    pub fn core(system: &System) -> Result<Vec<Self>, FileError> {
        Ok(Self::all(system)?.into_iter().filter(Self::is_core).collect())
    }

    fn filter(system: &System, matches: impl Fn(&str) -> bool) -> Result<Vec<Self>, FileError> {
        let mut found = Vec::new();
        for name in Self::all_names(system)?.iter().filter(|name| matches(name)) {
            match Self::load(system, name) {
                // Its driver was unloaded since it was listed.
                Err(error) if error.is_not_found() && !system.path(PMUS).join(name).exists() => {}
                pmu => found.push(pmu?),
            }
        }
        // `uncore_imc_10` comes after `uncore_imc_9`.
        found.sort_by_cached_key(|pmu| (pmu.unit_name().to_owned(), pmu.name.len(), pmu.name.clone()));
        Ok(found)
    }
}

/// # Terms and properties
///
/// Each reads one or several files. A missing file is not an error.
impl Pmu {
    /// Returns the sorted names of the terms that its events may have.
    pub fn format_names(&self) -> Result<Vec<String>, FileError> {
        self.names("format")
    }

    /// Returns the bits of the attr that hold the value of a term, or `None` if the PMU has no such
    /// term.
    pub fn format(&self, term: &str) -> Result<Option<ConfigField>, FileError> {
        // The name is looked up in the directory, because a user's name may be a path.
        if !self.format_names()?.iter().any(|name| name == term) {
            return Ok(None);
        }
        let file = format!("format/{term}");
        let text = self.system.read(self.path(&file))?;
        let field =
            text.parse().map_err(|_| self.malformed(&file, "bits such as `config:0-7,32-35`", &text))?;
        Ok(Some(field))
    }

    /// Returns the names and the values of its capabilities, sorted by name: `max_precise`,
    /// `branches`.
    ///
    /// Since Linux 4.14.
    pub fn caps(&self) -> Result<Vec<(String, String)>, FileError> {
        let names = self.names("caps")?.into_iter();
        names
            .map(|name| Ok((name.clone(), self.text(&format!("caps/{name}"))?.unwrap_or_default())))
            .collect()
    }

    /// Returns the value of a capability.
    pub fn cap(&self, name: &str) -> Result<Option<String>, FileError> {
        Ok(self.caps()?.into_iter().find(|(cap, _)| cap == name).map(|(_, value)| value))
    }

    /// Returns the hardware's id, which some uncore PMUs have.
    pub fn identifier(&self) -> Result<Option<String>, FileError> {
        self.text("identifier")
    }

    /// Returns whether programs may read counters by an instruction: 0 never, 1 while they have
    /// mapped an event, 2 always. x86 only.
    #[doc(alias = "rdpmc")]
    pub fn user_access(&self) -> Result<Option<u32>, FileError> {
        self.optional_number("rdpmc", "0, 1 or 2")
    }

    /// Returns the time after which another event of the same CPU gets the counter, if there are
    /// more events than counters.
    #[doc(alias = "perf_event_mux_interval_ms")]
    pub fn multiplex_interval(&self) -> Result<Option<Duration>, FileError> {
        let milliseconds = self.optional_number("perf_event_mux_interval_ms", "milliseconds")?;
        Ok(milliseconds.map(|milliseconds| Duration::from_millis(milliseconds.into())))
    }

    /// Returns the number of address filters that an event can have.
    #[doc(alias = "nr_addr_filters")]
    pub fn address_filters(&self) -> Result<Option<u32>, FileError> {
        self.optional_number("nr_addr_filters", "the number of address filters")
    }

    fn optional_number(&self, file: &str, expected: &str) -> Result<Option<u32>, FileError> {
        System::optional(self.system.number(self.path(file), expected))
    }
}
