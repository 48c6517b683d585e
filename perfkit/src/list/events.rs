//! The names of events, by their source.

use perf_session::catalog::{HARDWARE, Named, SOFTWARE, cache_name};
use perf_session::ring::CacheEvent;
use perf_session::{FileError, Pmu, System, Tracefs, TracefsError};
use serde_json::{Map, Value, json};

use super::check::{self, Scope};

/// Events of one source.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) title: String,
    /// The word that chooses this section.
    pub(super) kind: &'static str,
    pub(super) events: Vec<ListedEvent>,
    /// The reason why events are missing.
    pub(super) error: Option<String>,
    /// An event that every machine with any of these events has; `None` if the events are
    /// independent.
    probe: Option<&'static str>,
    /// Whether its events are listed only on demand.
    pub(super) is_long: bool,
}

/// An event, or the form of events.
#[derive(Clone, Debug)]
pub(super) struct ListedEvent {
    /// The event string, as `-e` takes it.
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    /// A note, such as the terms that the name stands for.
    pub(super) note: Option<String>,
}

impl Section {
    fn new(title: impl Into<String>, kind: &'static str, events: Vec<ListedEvent>) -> Self {
        Self { title: title.into(), kind, events, error: None, probe: None, is_long: false }
    }

    /// Tries to open an event if the user wants it. The form of events cannot be opened.
    pub(super) fn try_open(
        &self,
        event: &ListedEvent,
        check: bool,
        system: &System,
    ) -> Option<Result<Scope, String>> {
        (check && self.kind != FORM).then(|| check::check(&event.name, system))
    }

    /// Returns the reason why none of the events opens on this machine.
    pub(super) fn closed_because(&self, system: &System) -> Option<String> {
        check::check(self.probe?, system).err()
    }
}

impl ListedEvent {
    fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), aliases: Vec::new(), note: None }
    }

    /// Iterates over the name and the aliases.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }

    pub(super) fn json(&self, kind: &str, check: Option<&Result<Scope, String>>) -> Value {
        let mut object = Map::new();
        let mut set = |key: &str, value: Value| {
            object.insert(key.to_owned(), value);
        };
        set("kind", json!(kind));
        set("name", json!(self.name));
        set("aliases", json!(self.aliases));
        if let (Some(note), true) = (&self.note, self.aliases.is_empty()) {
            set("terms", json!(note));
        }
        if let Some(check) = check {
            set("opens", json!(check.is_ok()));
        }
        match check {
            Some(Err(reason)) => set("reason", json!(reason)),
            Some(Ok(Scope::UserOnly)) => set("user_only", json!(true)),
            _ => {}
        }
        Value::Object(object)
    }
}

/// The kind of forms from which events are made.
const FORM: &str = "form";

/// Forms of event strings, with other words for them and the events that they stand for.
const FORMS: [(&str, &[&str], &str); 5] = [
    ("rHEX", &["raw"], "raw event of the CPU's PMU, such as r1a8"),
    ("PMU/TERM=VALUE,.../", &[], "event of a PMU by its terms, such as msr/event=0x01/"),
    ("mem:ADDR[/LEN][:rwx]", &["breakpoint"], "hardware breakpoint, such as mem:0x1000/4:w"),
    ("uprobe:FILE:FUNCTION", &["uretprobe"], "entry of a function of a program or library"),
    ("kprobe:FUNCTION", &["kretprobe"], "entry of a function of the kernel"),
];

/// Returns all events of the machine.
pub(super) fn sections(system: &System) -> Vec<Section> {
    let caches = CacheEvent::all().filter_map(cache_name).map(ListedEvent::new).collect();
    let hardware =
        |title, kind, events| Section { probe: Some("cycles:u"), ..Section::new(title, kind, events) };
    let mut sections = vec![
        hardware("Hardware events", "hw", HARDWARE.iter().map(generic).collect()),
        Section::new("Software events", "sw", SOFTWARE.iter().map(generic).collect()),
        hardware("Cache events", "cache", caches),
    ];
    match Pmu::all(system) {
        Ok(pmus) => sections.extend(pmus.iter().filter_map(pmu)),
        Err(error) => {
            let error = Some(error.to_string());
            sections.push(Section { error, ..Section::new("PMUs", "pmu", Vec::new()) });
        }
    }
    sections.push(tracepoints(system));
    sections.push(Section::new("Other forms of events", FORM, FORMS.iter().map(form).collect()));
    sections
}

fn form(&(name, words, note): &(&str, &[&str], &str)) -> ListedEvent {
    let aliases = words.iter().map(|&word| word.to_owned()).collect();
    ListedEvent { name: name.to_owned(), aliases, note: Some(note.to_owned()) }
}

fn generic<T: Copy>(event: &Named<T>) -> ListedEvent {
    let aliases: Vec<String> = event.names.iter().skip(1).map(|&name| name.to_owned()).collect();
    let note = (!aliases.is_empty()).then(|| format!("or {}", aliases.join(", ")));
    ListedEvent { name: event.name().to_owned(), aliases, note }
}

/// Returns the events of a PMU, and the terms from which others are made; `None` without either.
fn pmu(pmu: &Pmu) -> Option<Section> {
    let (events, error) = match pmu_events(pmu) {
        Ok(events) => (events, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let title = match pmu.format_names() {
        Ok(terms) if !terms.is_empty() => {
            format!("PMU {0}, {0}/TERM=VALUE,.../ with the terms {1}", pmu.name(), terms.join(", "))
        }
        _ => format!("PMU {}", pmu.name()),
    };
    let is_empty = events.is_empty() && error.is_none();
    (!is_empty).then_some(Section { error, ..Section::new(title, "pmu", events) })
}

fn pmu_events(pmu: &Pmu) -> Result<Vec<ListedEvent>, FileError> {
    let events = pmu.events()?.into_iter().map(|event| ListedEvent {
        name: format!("{}/{}/", pmu.name(), event.name),
        aliases: Vec::new(),
        note: Some(event.terms.clone()),
    });
    Ok(events.collect())
}

fn tracepoints(system: &System) -> Section {
    let (events, error) = match tracepoint_names(system) {
        Ok(names) => (names.into_iter().map(ListedEvent::new).collect(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    Section { error, is_long: true, ..Section::new("Tracepoints", "tracepoint", events) }
}

fn tracepoint_names(system: &System) -> Result<Vec<String>, TracefsError> {
    let tracefs = Tracefs::find(system)?;
    let mut names = Vec::new();
    for category in tracefs.categories()? {
        names.extend(tracefs.names(&category)?.into_iter().map(|name| format!("{category}:{name}")));
    }
    Ok(names)
}
