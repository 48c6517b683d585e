//! Predefined events of a PMU, from its directory `events/`.

use super::{Pmu, PmuTerm};
use crate::system::{FileError, System};

/// The suffixes of the files that describe an event's value.
const SUFFIXES: [&str; 4] = [".scale", ".unit", ".per-pkg", ".snapshot"];

/// A predefined event of a PMU: a file in `events/`, with the files that describe its value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PmuEvent {
    /// The name, as the file is called.
    pub name: String,
    /// The terms: `event=0x64,umask=0x09`. A value `?` must be given by the user.
    pub terms: String,
    /// The factor that turns the count into the [`unit`](Self::unit), by default 1.
    pub scale: f64,
    /// The unit of the scaled count, or an empty text.
    pub unit: String,
    /// Whether all CPUs of a package read the same count.
    pub is_per_package: bool,
    /// Whether the count is a momentary value, not a sum.
    pub is_snapshot: bool,
}

/// # Predefined events
impl Pmu {
    /// Returns the sorted names of the predefined events.
    ///
    /// # Errors
    ///
    /// The directory cannot be read. A missing directory is not an error.
    pub fn event_names(&self) -> Result<Vec<String>, FileError> {
        let mut names = self.names("events")?;
        names.retain(|name| !SUFFIXES.iter().any(|suffix| name.ends_with(suffix)));
        Ok(names)
    }

    /// Returns the predefined event of this name, in any case, or `None` if the PMU has no such
    /// event.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is malformed.
    pub fn event(&self, name: &str) -> Result<Option<PmuEvent>, FileError> {
        let names = self.event_names()?;
        // Drivers write names in either case, and two may differ in it alone: the exact one wins.
        let exact = names.iter().find(|known| *known == name);
        let found = exact.or_else(|| names.iter().find(|known| known.eq_ignore_ascii_case(name)));
        found.map(|name| self.load_event(name)).transpose()
    }

    /// Returns all predefined events, sorted by name.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is malformed.
    pub fn events(&self) -> Result<Vec<PmuEvent>, FileError> {
        self.event_names()?.iter().map(|name| self.load_event(name)).collect()
    }

    fn load_event(&self, name: &str) -> Result<PmuEvent, FileError> {
        let file = format!("events/{name}");
        let terms = self.system.read(self.path(&file))?.trim_ascii().to_owned();
        let malformed = |found| self.malformed(&file, "terms such as `event=0x64,umask=0x09`", found);
        if PmuTerm::parse_list(&terms).map_err(|_| malformed(&terms))?.is_empty() {
            return Err(malformed(""));
        }
        let extra = |suffix| self.text(&format!("{file}{suffix}"));
        // An empty file counts too, because its name has the meaning.
        let exists = |suffix| {
            System::optional(self.system.read(self.path(&format!("{file}{suffix}")))).map(|it| it.is_some())
        };
        let scale = match extra(".scale")? {
            Some(text) => self.scale(&format!("{file}.scale"), &text)?,
            None => 1.0,
        };
        Ok(PmuEvent {
            name: name.to_owned(),
            terms,
            scale,
            unit: extra(".unit")?.unwrap_or_default(),
            is_per_package: exists(".per-pkg")?,
            is_snapshot: exists(".snapshot")?,
        })
    }

    fn scale(&self, file: &str, text: &str) -> Result<f64, FileError> {
        let scale = text.trim_ascii().parse().ok().filter(|scale: &f64| scale.is_finite() && *scale != 0.0);
        scale.ok_or_else(|| self.malformed(file, "a number such as `2.3e-10`, not 0", text))
    }
}
