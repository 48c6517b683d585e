//! The steps from an event of the string to its specs: `group` asks `specs`, which goes by the
//! source to the core PMUs, to one PMU, to tracefs or to a probe. Each of these ends in
//! `with_terms`, and `event` adds name and modifiers.

use std::cell::OnceCell;
use std::fs;
use std::sync::Arc;

use perf_ring::abi::HW_EVENT_MASK;
use perf_ring::{Attr, AttrFlags, BreakpointLen, BreakpointType, CacheEvent, EventType};

use crate::names::expression::{Event, Group, Modifiers, ParseError, Problem, Source, Span, Spanned, Term};
use crate::names::nearest::KnownNames;
use crate::names::pmu::{GENERAL_TERMS, General, Pmu, PmuError, PmuTerm, TermProblem};
use crate::names::probe::{Probe, ProbeError};
use crate::names::spec::{EventSpec, NamedEvent};
use crate::names::tracefs::{Tracefs, TracefsError};
use crate::names::{catalog, nearest, pmu};
use crate::system::{FileError, System};

/// Finds the events of a string on one machine.
#[derive(Debug)]
pub(super) struct Resolver<'a> {
    text: &'a str,
    pub(super) system: &'a System,
    pmus: OnceCell<Result<Vec<Pmu>, FileError>>,
}

impl<'a> Resolver<'a> {
    pub(super) const fn new(text: &'a str, system: &'a System) -> Self {
        Self { text, system, pmus: OnceCell::new() }
    }

    /// Returns all PMUs, none where sysfs is not mounted: generic events are then left to the
    /// kernel.
    pub(super) fn pmus(&self, span: Span) -> Result<&[Pmu], ParseError> {
        let pmus = self.pmus.get_or_init(|| match System::optional(Pmu::all_names(self.system))? {
            Some(_) => Pmu::all(self.system),
            None => Ok(Vec::new()),
        });
        pmus.as_deref().map_err(|error| self.error(span, Problem::File(error.clone())))
    }

    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    pub(super) fn error(&self, span: Span, problem: Problem) -> ParseError {
        ParseError::new(self.text, span, problem)
    }

    /// Returns the event with the settings of the terms, for an event without a PMU in sysfs.
    pub(super) fn with_terms(&self, spec: EventSpec, terms: &[Term]) -> Result<EventSpec, ParseError> {
        let mut general = General { attr: spec.attr(), name: None };
        for term in terms {
            let name = term.name.node.as_str();
            // If the PMU is missing in sysfs, formats are unknown: only the terms of every event
            // apply.
            let is_known = general.apply(name, term.text());
            let is_known = is_known.map_err(|expected| {
                let span = term.value.as_ref().map_or(term.name.span, |value| value.span);
                self.error(span, Problem::Expected(expected))
            })?;
            if !is_known {
                let error = self.error(term.name.span, Problem::Unknown("term"));
                return Err(error.with_nearest(nearest(name, GENERAL_TERMS)));
            }
        }
        Ok(spec.map_attr(|_| general.attr))
    }
}

impl Event {
    /// Returns the terms between the slashes.
    pub(super) fn terms(&self) -> &[Term] {
        self.terms.as_deref().unwrap_or_default()
    }
}

impl Term {
    /// Returns the text after the equals sign.
    pub(super) fn text(&self) -> Option<&str> {
        self.value.as_ref().map(|value| value.node.as_str())
    }
}

/// Returns the name that the terms give the event. The last of several wins.
pub(super) fn name_of(terms: &[Term]) -> Option<&str> {
    terms.iter().rev().find(|term| term.name.node == "name")?.text()
}

impl Resolver<'_> {
    /// Returns the events of a group, in the order in which they were written.
    pub(super) fn group(&self, group: &Group) -> Result<Vec<NamedEvent>, ParseError> {
        let mut members = Vec::new();
        for event in &group.events {
            for specs in self.specs(event)? {
                let modifiers = self.modifiers(event, group, members.is_empty())?;
                members.push(self.event(event, specs, modifiers));
            }
        }
        Ok(members)
    }

    /// Names an event and sets its modifiers. The name comes from a term, else from the text as it
    /// was written; a tracepoint keeps its own, because a pattern may have found it.
    fn event(&self, event: &Event, specs: Vec<EventSpec>, modifiers: Modifiers) -> NamedEvent {
        let own = event.modifiers.node;
        let tracepoint = specs.first().filter(|_| matches!(event.source.node, Source::Tracepoint { .. }));
        let name: Arc<str> = match (name_of(event.terms()), tracepoint) {
            (Some(name), _) => name.into(),
            (None, Some(spec)) if own.is_empty() => Arc::clone(spec.label()),
            (None, Some(spec)) => format!("{}:{own}", spec.label()).into(),
            (None, None) => self.slice(event.span()).into(),
        };
        let (flags, is_one) = (modifiers.flags(), specs.len() == 1);
        // `with_flags` adds bits, but the two bits of the skid are a number, so they are set
        // separately.
        let skid = flags.precise_ip();
        let flags = flags.difference(AttrFlags::from_bits_retain(AttrFlags::PRECISE_IP_MASK));
        let specs = specs.into_iter().map(|spec| {
            // One name for the user, one label for each PMU.
            let label = match spec.pmu() {
                Some(pmu) if !is_one => format!("{pmu}/{name}/").into(),
                _ => Arc::clone(&name),
            };
            let excludes_guests = modifiers.excludes_guests(own) && self.has_guests(event, &spec.attr());
            let guests = if excludes_guests { AttrFlags::EXCLUDE_GUEST } else { AttrFlags::empty() };
            spec.map_attr(|attr| attr.with_flags(flags | guests).with_precise_ip(skid)).with_label(label)
        });
        NamedEvent::new(Arc::clone(&name), specs.collect())
    }

    /// Returns `true` if guests can be excluded from the event. PMUs outside of the cores, such as
    /// `msr` and uncore PMUs, fail with `EINVAL` for any exclusion.
    fn has_guests(&self, event: &Event, attr: &Attr) -> bool {
        let is_core = |pmu: &Pmu| pmu.is_core() && pmu.kind() == attr.kind;
        // If the PMUs cannot be listed, nothing is excluded: a PMU outside of the cores would
        // refuse to open.
        attr.kind <= EventType::BREAKPOINT
            || self.pmus(event.source.span).is_ok_and(|pmus| pmus.iter().any(is_core))
    }

    /// Returns the modifiers of the event and of its group. Flags of the group that concern it as a
    /// whole (`D`, `e`) are for the leader alone.
    fn modifiers(&self, event: &Event, group: &Group, is_leader: bool) -> Result<Modifiers, ParseError> {
        let of_group = group.modifiers.node;
        // The kernel schedules a group by its leader, and refuses a member that is pinned or
        // exclusive.
        let of_group = if is_leader { of_group } else { of_group.without("De") };
        event.modifiers.node.union(of_group).ok_or_else(|| {
            let reason = "event and group have more than three `p` together".to_owned();
            self.error(event.span(), Problem::Invalid(reason))
        })
    }

    /// Returns the events that a source names, several if it has wildcards: of each the spec on
    /// each of its PMUs, with all terms.
    fn specs(&self, event: &Event) -> Result<Vec<Vec<EventSpec>>, ParseError> {
        let specs = match &event.source.node {
            Source::Name(name) => self.named(event, name)?,
            Source::Tracepoint { category, name } => return self.tracepoints(event, category, name),
            &Source::Raw(config) => self.on_core_pmus(event, Attr::raw(config))?,
            &Source::Number { kind, config } => {
                self.on_core_pmus(event, Attr::new(EventType(kind), config))?
            }
            Source::Probe { file, function, offset, is_return } => {
                vec![self.probe(event, file.as_ref(), function, *offset, *is_return)?]
            }
            &Source::Breakpoint { address, len, access } => {
                vec![self.with_terms(EventSpec::new(breakpoint(address, len, access)), event.terms())?]
            }
        };
        Ok(vec![specs])
    }

    /// Returns the event of a name: a generic one, or with slashes one of the PMU, or one of any
    /// PMU.
    fn named(&self, event: &Event, name: &str) -> Result<Vec<EventSpec>, ParseError> {
        match catalog::attr_of(name) {
            Some(attr) => {
                self.check_cache_event(event, attr)?;
                self.on_core_pmus(event, attr)
            }
            None if event.terms.is_some() => self.pmu_events(event, name),
            None => self.alias(event, name),
        }
    }

    /// Fails for a cache event that the kernel cannot have.
    fn check_cache_event(&self, event: &Event, attr: Attr) -> Result<(), ParseError> {
        let cache = CacheEvent::from_config(attr.config);
        match cache.filter(|_| attr.kind == EventType::HW_CACHE) {
            Some(cache) if !catalog::is_possible(cache) => {
                let reason = format!("the kernel has no {} for {}", cache.op, cache.cache);
                Err(self.error(event.source.span, Problem::Invalid(reason)))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the attr of a breakpoint, by default on reads and writes of 4 bytes, or on the execution
/// of one instruction.
fn breakpoint(address: u64, len: Option<u64>, access: Option<BreakpointType>) -> Attr {
    let access = access.unwrap_or(BreakpointType::READ_WRITE);
    // x86 accepts the length of a long only for execution, whatever the length of the instruction.
    let default =
        if access == BreakpointType::EXECUTE { BreakpointLen::EXECUTE } else { BreakpointLen::FOUR };
    Attr::breakpoint(access, address, len.map_or(default, BreakpointLen))
}

impl Resolver<'_> {
    /// Returns a generic or raw event: on a machine with several core PMUs one for each of them.
    pub(super) fn on_core_pmus(&self, event: &Event, attr: Attr) -> Result<Vec<EventSpec>, ParseError> {
        let spec = self.with_terms(EventSpec::new(attr), event.terms())?;
        if !is_of_cores(&spec.attr()) {
            return Ok(vec![spec]);
        }
        let cores = self.core_pmus(event.source.span)?;
        if cores.len() < 2 {
            return Ok(vec![spec]);
        }
        Ok(cores.iter().map(|pmu| on(pmu, spec.clone())).collect())
    }

    /// Returns a generic event on one core PMU: `cpu_core/cycles/`. `None` if no term is a generic
    /// event, or if the PMU has an event or a term of this name itself.
    pub(super) fn generic_on(&self, event: &Event, pmu: &Pmu) -> Result<Option<EventSpec>, ParseError> {
        let of_file = |error| self.error(event.source.span, Problem::File(error));
        for (index, term) in event.terms().iter().enumerate() {
            let name = term.name.node.as_str();
            let attr = catalog::attr_of(name).filter(|_| term.value.is_none());
            let Some(attr) = attr.filter(|attr| pmu.is_core() && is_of_cores(attr)) else { continue };
            // A PMU may give another code to an event of this name. Between its slashes the user
            // means that one.
            let is_own =
                pmu.event(name).map_err(of_file)?.is_some() || pmu.format(name).map_err(of_file)?.is_some();
            if is_own {
                return Ok(None);
            }
            // The other terms apply to the attr of the generic event, not to formats of the PMU.
            let mut others = event.terms().to_vec();
            others.remove(index);
            let spec = self.with_terms(EventSpec::new(attr), &others)?;
            let is_hybrid = self.core_pmus(event.source.span)?.len() > 1;
            return Ok(Some(if is_hybrid { on(pmu, spec) } else { spec.with_pmu(pmu.name()) }));
        }
        Ok(None)
    }

    fn core_pmus(&self, span: Span) -> Result<Vec<&Pmu>, ParseError> {
        Ok(self.pmus(span)?.iter().filter(|pmu| pmu.is_core()).collect())
    }
}

/// Returns `true` for events of the CPU's PMU that do not name the PMU.
fn is_of_cores(attr: &Attr) -> bool {
    match attr.kind {
        EventType::RAW => true,
        EventType::HARDWARE | EventType::HW_CACHE => attr.config <= HW_EVENT_MASK,
        _ => false,
    }
}

/// Returns the event on one of several core PMUs.
fn on(pmu: &Pmu, spec: EventSpec) -> EventSpec {
    // The upper half of a generic event's `config` selects the PMU. A raw code may use these bits
    // itself, so that it takes the type of the PMU.
    let spec = spec.with_pmu(pmu.name()).map_attr(|attr| match attr.kind {
        EventType::RAW => attr.with(|attr| attr.kind = pmu.kind()),
        _ => attr.with_hybrid_pmu(pmu.kind().0),
    });
    match pmu.cpus() {
        Some(cpus) => spec.with_cpus(cpus.clone(), pmu.is_cpu_only()),
        None => spec,
    }
}

/// The names of values that the perf tool prints with counts.
const TOOL_EVENTS: [&str; 3] = ["duration_time", "user_time", "system_time"];

impl Resolver<'_> {
    /// Returns the event of the terms on each PMU that the name matches.
    pub(super) fn pmu_events(&self, event: &Event, name: &str) -> Result<Vec<EventSpec>, ParseError> {
        let terms: Vec<PmuTerm<'_>> =
            event.terms().iter().map(|term| PmuTerm { name: &term.name.node, value: term.text() }).collect();
        let pmus = Pmu::matching(self.system, name).map_err(|error| self.pmu_error(event, name, error))?;
        // `cpu_core/cycles/` is a generic event on one kind of cores, unless the PMU has an event
        // of this name.
        let specs = pmus.iter().map(|pmu| match self.generic_on(event, pmu)? {
            Some(spec) => Ok(spec),
            None => pmu.event_spec(&terms).map_err(|error| self.pmu_error(event, name, error)),
        });
        specs.collect()
    }

    /// Returns the predefined event of each PMU that has one of this name.
    pub(super) fn alias(&self, event: &Event, name: &str) -> Result<Vec<EventSpec>, ParseError> {
        let span = event.source.span;
        let of_file = |error| self.error(span, Problem::File(error));
        let pmus = self.pmus(span)?;
        let mut specs = Vec::new();
        for pmu in pmus {
            if pmu.event(name).map_err(of_file)?.is_some() {
                let spec = pmu.event_spec(&[PmuTerm { name, value: None }]);
                specs.push(spec.map_err(|error| self.pmu_error(event, name, error))?);
            }
        }
        if !specs.is_empty() {
            return Ok(specs);
        }
        if pmus.iter().any(|pmu| pmu.name() == name) {
            let reason = format!("a PMU, expected one of its events: `{name}/EVENT/`");
            return Err(self.error(span, Problem::Invalid(reason)));
        }
        if TOOL_EVENTS.contains(&name) {
            let reason = "a value that the perf tool computes, not an event of the kernel".to_owned();
            return Err(self.error(span, Problem::Invalid(reason)));
        }
        // The name is unknown: suggest a tracepoint of this name first, whose category may have
        // been left out.
        let mut names: Vec<String> =
            catalog::names().map(str::to_owned).chain(catalog::cache_names()).collect();
        for pmu in pmus {
            names.extend(pmu.event_names().map_err(of_file)?);
        }
        let tracepoints = self.tracepoints_like(name);
        let error = self.unknown(span, "event", name, &names);
        let nearest = tracepoints.into_iter().chain(error.nearest().to_vec()).take(nearest::LISTED).collect();
        Err(error.with_nearest(nearest))
    }

    fn pmu_error(&self, event: &Event, name: &str, error: PmuError) -> ParseError {
        let span = event.source.span;
        match error {
            PmuError::File(error) => self.error(span, Problem::File(error)),
            PmuError::NotFound { has, .. } => {
                let nearest = nearest(name, has.iter().map(String::as_str));
                let has_core = self.pmus(span).is_ok_and(|pmus| pmus.iter().any(Pmu::is_core));
                let core = if has_core { "" } else { ", none of them a hardware PMU" };
                let problem = Problem::NotAmong { kind: "PMU", has: format!("{}{core}", KnownNames(&has)) };
                self.error(span, problem).with_nearest(nearest)
            }
            PmuError::Term(error) => {
                let term = event.terms().get(error.index);
                let span = term.map_or(span, |term| place(term, error.is_value()));
                match &error.problem {
                    TermProblem::Unknown { terms, events } => {
                        let names: Vec<String> = terms.iter().chain(events).cloned().collect();
                        let wanted = term.map_or(name, |term| &term.name.node);
                        self.unknown(span, "term or event of the PMU", wanted, &names)
                    }
                    problem => self.error(span, Problem::Invalid(problem.to_string())),
                }
            }
        }
    }

    fn unknown(&self, span: Span, kind: &'static str, wanted: &str, names: &[String]) -> ParseError {
        let nearest = nearest(wanted, names.iter().map(String::as_str));
        self.error(span, Problem::Unknown(kind)).with_nearest(nearest)
    }
}

/// Returns the place of a term's value or name.
fn place(term: &Term, is_value: bool) -> Span {
    match &term.value {
        Some(value) if is_value => value.span,
        _ => term.name.span,
    }
}

impl Resolver<'_> {
    /// Returns the tracepoints that the two patterns match.
    pub(super) fn tracepoints(
        &self,
        event: &Event,
        category: &str,
        name: &str,
    ) -> Result<Vec<Vec<EventSpec>>, ParseError> {
        let tracefs = Tracefs::find(self.system).map_err(|error| self.tracefs_error(event, error))?;
        let found = match tracefs.matching(&format!("{category}:{name}")) {
            Ok(found) => found,
            Err(TracefsError::NotFound { has, .. }) => {
                let error = self.error(event.source.span, Problem::Unknown("tracepoint"));
                let categories = tracefs.categories().map_err(|error| self.tracefs_error(event, error))?;
                return Err(error.with_nearest(similar(category, name, &categories, &has)));
            }
            Err(error) => return Err(self.tracefs_error(event, error)),
        };
        let specs = found.iter().map(|found| Ok(vec![self.with_terms(found.event_spec(), event.terms())?]));
        specs.collect()
    }

    /// Returns the tracepoints with this name without the category, or those with a similar name.
    pub(super) fn tracepoints_like(&self, wanted: &str) -> Vec<String> {
        let Ok(tracefs) = Tracefs::find(self.system) else { return Vec::new() };
        let categories = tracefs.categories().unwrap_or_default();
        let named = |category: &String| -> Vec<(String, String)> {
            let names = tracefs.names(category).unwrap_or_default();
            names.into_iter().map(|name| (format!("{category}:{name}"), name)).collect()
        };
        let all: Vec<(String, String)> = categories.iter().flat_map(named).collect();
        let is_exact = all.iter().any(|(_, name)| name == wanted);
        let nearest = nearest(wanted, all.iter().map(|(_, name)| name.as_str()));
        let full = |name: &String| {
            let matching = all.iter().filter(move |(_, found)| found == name);
            matching.map(|(full, _)| full.clone()).collect::<Vec<_>>()
        };
        nearest.iter().filter(|name| !is_exact || *name == wanted).flat_map(full).collect()
    }

    fn tracefs_error(&self, event: &Event, error: TracefsError) -> ParseError {
        let problem = match error {
            TracefsError::File(error) => Problem::File(error),
            error => Problem::Invalid(error.to_string()),
        };
        self.error(event.source.span, problem)
    }
}

/// Returns the names of similar tracepoints: of the same category, or if the category is missing,
/// of categories with a similar name.
fn similar(category: &str, name: &str, categories: &[String], has: &[String]) -> Vec<String> {
    let nearest = |wanted, known: &[String]| nearest(wanted, known.iter().map(String::as_str));
    if categories.iter().any(|known| known == category) {
        nearest(name, has).iter().map(|name| format!("{category}:{name}")).collect()
    } else {
        nearest(category, categories).iter().map(|category| format!("{category}:{name}")).collect()
    }
}

impl Resolver<'_> {
    /// Returns the event of a probe by its PMU, which Linux has since 4.17.
    pub(super) fn probe(
        &self,
        event: &Event,
        file: Option<&Spanned<String>>,
        function: &Spanned<String>,
        offset: u64,
        is_return: bool,
    ) -> Result<EventSpec, ParseError> {
        let probe = match (file, pmu::number(&function.node)) {
            (Some(file), Some(place)) => {
                self.check_file(file)?;
                Probe::file_offset(&file.node, place)
            }
            (Some(file), None) => {
                self.check_file(file)?;
                Probe::file_function(&file.node, &function.node)
            }
            (None, Some(address)) => Ok(Probe::kernel_address(address)),
            (None, None) => Probe::kernel_function(&function.node),
        };
        let probe = probe.map(|probe| {
            let probe = probe.with_offset(offset);
            if is_return { probe.on_return() } else { probe }
        });
        let spec = probe.and_then(|probe| probe.event_spec(self.system));
        let spec = spec.map_err(|error| self.probe_error(event, file, function, error))?;
        self.with_terms(spec, event.terms())
    }

    /// Fails if the path is not a file, because opening a pipe would wait for its other end.
    fn check_file(&self, file: &Spanned<String>) -> Result<(), ParseError> {
        let problem = match fs::metadata(&file.node) {
            Ok(found) if found.is_file() => return Ok(()),
            Ok(_) => Problem::Invalid("not a file with symbols".to_owned()),
            Err(error) => Problem::File(FileError::io(file.node.clone().into(), error)),
        };
        Err(self.error(file.span, problem))
    }

    fn probe_error(
        &self,
        event: &Event,
        file: Option<&Spanned<String>>,
        function: &Spanned<String>,
        error: ProbeError,
    ) -> ParseError {
        let file = file.map_or(event.source.span, |file| file.span);
        match error {
            ProbeError::NoSymbol { nearest, .. } => {
                let reason = "no function of the file; of a stripped file only exported ones are known";
                self.error(function.span, Problem::Invalid(reason.to_owned())).with_nearest(nearest)
            }
            ProbeError::File(error) => self.error(file, Problem::File(error)),
            ProbeError::Path { .. } => self.error(file, Problem::Invalid(error.to_string())),
            ProbeError::Pmu(PmuError::NotFound { wanted, .. }) => {
                let option = wanted.to_ascii_uppercase();
                let reason =
                    format!("this kernel has no {wanted}s: they need CONFIG_{option}_EVENTS and Linux 4.17");
                self.error(event.source.span, Problem::Invalid(reason))
            }
            error => self.error(function.span, Problem::Invalid(error.to_string())),
        }
    }
}
