//! The choice of events by name or kind.

use perf_session::Glob;

use super::events::ListedEvent;

/// Which events are listed.
#[derive(Clone, Debug)]
pub(super) struct Filter(Option<String>);

/// The kinds, and the words that choose them.
const KINDS: [(&str, &[&str]); 6] = [
    ("hw", &["hw", "hardware"]),
    ("sw", &["sw", "software"]),
    ("cache", &["cache", "hwcache"]),
    ("pmu", &["pmu"]),
    ("tracepoint", &["tracepoint", "tracepoints"]),
    ("form", &["form", "forms"]),
];

impl Filter {
    pub(super) fn new(text: Option<&str>) -> Self {
        Self(text.map(str::to_lowercase))
    }

    /// Returns whether all events are listed.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether the filter is the name of this kind.
    pub(super) fn is_kind(&self, kind: &str) -> bool {
        let names = KINDS.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, names)| names);
        self.0.as_deref().is_some_and(|filter| names.contains(&filter))
    }

    pub(super) fn matches(&self, kind: &str, event: &ListedEvent) -> bool {
        let Some(filter) = self.0.as_deref() else { return true };
        if KINDS.iter().any(|(_, names)| names.contains(&filter)) {
            return self.is_kind(kind);
        }
        let glob = Glob::new(filter);
        let matches =
            |name: String| if glob.is_pattern() { glob.matches(&name) } else { name.contains(filter) };
        event.names().any(|name| matches(name.to_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, note: &str) -> ListedEvent {
        ListedEvent { name: name.to_owned(), aliases: vec![note.to_owned()], note: None }
    }

    #[test]
    fn filter_is_a_part_of_a_name_a_pattern_or_a_kind() {
        let matches = |filter: &str| {
            let events =
                [("sw", event("page-faults", "faults")), ("tracepoint", event("sched:sched_switch", ""))];
            let filter = Filter::new(Some(filter));
            events.map(|(kind, event)| filter.matches(kind, &event))
        };
        assert_eq!(matches("fault"), [true, false]);
        assert_eq!(matches("SCHED:*"), [false, true]);
        assert_eq!(matches("f*"), [true, false], "the alias");
        assert_eq!(matches("tracepoint"), [false, true]);
        assert_eq!(matches("hw"), [false, false]);
        assert!(Filter::new(None).matches("hw", &event("cycles", "")));
    }
}
