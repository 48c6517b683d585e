//! Attrs from the terms of a PMU.

use perf_ring::Attr;

use super::format::WORDS;
use super::general::{self, General, NUMBER, number};
use super::{ConfigField, Pmu, PmuError, PmuEvent, PmuTerm, TermError, TermProblem};
use crate::names::spec::EventSpec;
use crate::system::FileError;

/// # Describing an event
impl Pmu {
    /// Returns the event of these terms: each the name of a predefined event, a term of the PMU (a
    /// name alone is 1), `config` to `config4` for a whole word, `r1a2` for a hexadecimal `config`,
    /// or `name`, `period`, `freq` and the like.
    ///
    /// Like the perf tool, it sets whole words first and adds the bits of all other terms to them:
    /// a term next to a predefined event can set further bits and clears none.
    ///
    /// # Errors
    ///
    /// [`PmuError::Term`] with the index of the wrong term, and [`PmuError::File`] if a file of the
    /// PMU cannot be read or is malformed.
    pub fn event_spec(&self, terms: &[PmuTerm<'_>]) -> Result<EventSpec, PmuError> {
        let attr = Attr::new(self.kind, 0);
        let mut builder =
            Builder { pmu: self, bits: [0; WORDS], general: General { attr, name: None }, event: None };
        for (index, term) in terms.iter().enumerate() {
            builder.add(*term, terms).map_err(|problem| match problem {
                Problem::File(error) => PmuError::File(error),
                Problem::Term(problem) => {
                    TermError { pmu: self.name.clone(), index, term: term.to_string(), problem }.into()
                }
            })?;
        }
        Ok(builder.finish(terms))
    }
}

/// The parts of an event while its terms are applied.
struct Builder<'p> {
    pmu: &'p Pmu,
    /// Bits to add to `config` to `config4`. They are kept apart from the attr, in which a whole
    /// word replaces what it had, so that the order of the terms does not matter.
    bits: [u64; WORDS],
    general: General,
    /// The predefined event; there may be one. It has the scale and the unit of the result.
    event: Option<PmuEvent>,
}

enum Problem {
    File(FileError),
    Term(TermProblem),
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<TermProblem> for Problem {
    fn from(problem: TermProblem) -> Self {
        Self::Term(problem)
    }
}

impl Builder<'_> {
    fn add(&mut self, term: PmuTerm<'_>, all: &[PmuTerm<'_>]) -> Result<(), Problem> {
        // The perf tool also takes `event=cache-misses` and `cache-misses=1`.
        if let PmuTerm { name: "event", value: Some(name) } = term {
            if number(name).is_none() && self.add_named(name, all)? {
                return Ok(());
            }
        }
        // A term of the PMU wins over its event of the same name. Only then is `r1a2` a number,
        // because a PMU may have a term or an event of this name.
        if self.add_simple(term)?
            || matches!(term.value, None | Some("1")) && self.add_named(term.name, all)?
        {
            return Ok(());
        }
        match raw(term) {
            Some(config) => self.bits[0] |= config,
            None => return Err(self.unknown()?.into()),
        }
        Ok(())
    }

    /// Applies a general term or one of the PMU. Returns `false` if it is neither.
    fn add_simple(&mut self, term: PmuTerm<'_>) -> Result<bool, Problem> {
        let is_general = self.general.apply(term.name, term.value);
        if is_general.map_err(|expected| TermProblem::Value { expected })? {
            return Ok(true);
        }
        let Some(field) = self.pmu.format(term.name)? else {
            return Ok(false);
        };
        let value = term.value.map_or(Some(1), number).ok_or(TermProblem::Value { expected: NUMBER })?;
        self.add_bits(field, value)?;
        Ok(true)
    }

    fn add_bits(&mut self, field: ConfigField, value: u64) -> Result<(), TermProblem> {
        let too_wide = TermProblem::TooWide { value, max: field.max() };
        let bits = field.insert(value).ok_or(too_wide)?;
        if let Some(word) = self.bits.get_mut(field.word()) {
            *word |= bits;
        }
        Ok(())
    }

    /// Applies the predefined event of this name. Returns `false` if the PMU lacks it.
    fn add_named(&mut self, name: &str, all: &[PmuTerm<'_>]) -> Result<bool, Problem> {
        let Some(event) = self.pmu.event(name)? else {
            return Ok(false);
        };
        self.add_event(event, all)?;
        Ok(true)
    }

    /// Applies the terms of a predefined event. Those with the value `?` are parameters, which
    /// `all` gives.
    fn add_event(&mut self, event: PmuEvent, all: &[PmuTerm<'_>]) -> Result<(), Problem> {
        if let Some(first) = &self.event {
            return Err(TermProblem::SecondEvent { first: first.name.clone() }.into());
        }
        for term in PmuTerm::parse_list(&event.terms).unwrap_or_default() {
            if term.value == Some("?") {
                // Applied from `all`, where the user wrote it with its value.
                let is_given = |given: &PmuTerm<'_>| given.name == term.name && given.value.is_some();
                if !all.iter().any(is_given) {
                    return Err(TermProblem::Parameter { name: term.name.to_owned() }.into());
                }
                continue;
            }
            let file = format!("events/{}", event.name);
            let malformed = |expected: &str| Problem::File(self.pmu.malformed(&file, expected, &event.terms));
            // The user wrote none of these terms, so a wrong one is an error of the file.
            match self.add_simple(term) {
                Ok(true) => {}
                Ok(false) => return Err(malformed("terms of the PMU")),
                Err(Problem::Term(_)) => return Err(malformed("values that fit the terms of the PMU")),
                Err(error) => return Err(error),
            }
        }
        self.event = Some(event);
        Ok(())
    }

    fn unknown(&self) -> Result<TermProblem, FileError> {
        let mut terms = self.pmu.format_names()?;
        terms.extend(general::NAMES.map(str::to_owned));
        Ok(TermProblem::Unknown { terms, events: self.pmu.event_names()? })
    }

    fn finish(self, terms: &[PmuTerm<'_>]) -> EventSpec {
        let Self { pmu, bits: [config, config1, config2, config3, config4], general, event } = self;
        let attr = general.attr;
        let attr = attr
            .with(|attr| attr.config |= config)
            .with_config1(attr.config1 | config1)
            .with_config2(attr.config2 | config2)
            .with_config3(attr.config3 | config3)
            .with_config4(attr.config4 | config4);
        let label = general.name.unwrap_or_else(|| {
            let terms: Vec<_> = terms.iter().map(PmuTerm::to_string).collect();
            format!("{pmu}/{}/", terms.join(","))
        });
        let mut spec = EventSpec::new(attr).with_label(label).with_pmu(pmu.name.clone());
        if let Some(cpus) = &pmu.cpus {
            spec = spec.with_cpus(cpus.clone(), pmu.is_cpu_only);
        }
        if let Some(event) = event {
            spec = spec
                .with_scale(event.scale, event.unit)
                .with_per_package(event.is_per_package)
                .with_snapshot(event.is_snapshot);
        }
        spec
    }
}

/// Returns the hexadecimal number of `r1a2`.
fn raw(term: PmuTerm<'_>) -> Option<u64> {
    let digits = term.name.strip_prefix('r').filter(|_| term.value.is_none())?;
    number(&format!("0x{}", digits.strip_prefix("0x").unwrap_or(digits)))
}
