use std::time::Duration;

use super::{ConfigField, Pmu};
use crate::system::FileError;

/// # Terms and properties
///
/// Each reads one or several files. A file that the PMU does not have is no error.
impl Pmu {
    /// Returns the sorted names of the terms that its events may have.
    pub fn format_names(&self) -> Result<Vec<String>, FileError> {
        self.names("format")
    }

    /// Returns the bits of the attr that hold the value of a term, or `None` if the PMU has no such term.
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

    /// Returns the names and the values of its capabilities, sorted by name: `max_precise`, `branches`.
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

    /// Returns whether programs may read counters by an instruction: 0 never, 1 while they have mapped
    /// an event, 2 always. x86 only.
    #[doc(alias = "rdpmc")]
    pub fn user_access(&self) -> Result<Option<u32>, FileError> {
        self.optional_number("rdpmc", "0, 1 or 2")
    }

    /// Returns the time after which another event of the same CPU gets the counter, if there are more
    /// events than counters.
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
        crate::system::System::optional(self.system.number(self.path(file), expected))
    }
}
