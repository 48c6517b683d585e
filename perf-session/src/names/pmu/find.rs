use super::{DEVICES, Pmu, PmuError, unit};
use crate::names::glob::Glob;
use crate::system::{FileError, System};

/// # Finding PMUs
impl Pmu {
    /// Returns the sorted names of all PMUs.
    ///
    /// # Errors
    ///
    /// The directory cannot be read: sysfs is not mounted, or the kernel has no perf events.
    pub fn all_names(system: &System) -> Result<Vec<String>, FileError> {
        system.list(DEVICES)
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
    /// There is no such PMU, or one of its files cannot be read or is malformed.
    pub fn named(system: &System, name: &str) -> Result<Self, PmuError> {
        let names = Self::all_names(system)?;
        if !names.iter().any(|known| known == name) {
            return Err(PmuError::NotFound { wanted: name.into(), has: names });
        }
        Ok(Self::load(system, name)?)
    }

    /// Returns the PMU of this value of [`Attr::kind`](perf_sys::Attr::kind), or `None` if no PMU has it.
    /// The kernel has numbers without a PMU in sysfs: hardware and cache events, and the two clocks.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is malformed.
    pub fn with_kind(system: &System, kind: perf_sys::EventType) -> Result<Option<Self>, FileError> {
        Ok(Self::all(system)?.into_iter().find(|pmu| pmu.kind == kind))
    }

    /// Returns the PMUs that a name in an event string stands for, sorted by number: the PMU itself, or the
    /// instances of a unit, `uncore_imc` or `imc` for `uncore_imc_0` and `uncore_imc_1`. The name may have
    /// the wildcards `*`, `?` and `[..]`.
    ///
    /// # Errors
    ///
    /// There is no such PMU, or a file cannot be read or is malformed.
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

    /// Returns the PMUs of the kinds of CPU cores: one on most machines, several on hybrid ones, none on
    /// many virtual ones.
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
                Err(error) if error.is_not_found() && !system.path(DEVICES).join(name).exists() => {}
                pmu => found.push(pmu?),
            }
        }
        // `uncore_imc_10` comes after `uncore_imc_9`.
        found.sort_by_cached_key(|pmu| (pmu.unit_name().to_owned(), pmu.name.len(), pmu.name.clone()));
        Ok(found)
    }
}
