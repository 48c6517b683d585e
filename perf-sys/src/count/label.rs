use core::fmt;
use core::hash::{Hash, Hasher};
use std::sync::Arc;

use perf_abi::{Attr, CacheEvent, EventType, HW_EVENT_MASK, Hardware, PMU_TYPE_SHIFT, Software};

/// The name of an event, printed beside its count.
///
/// The default is that of the attr, by the kernel header's names: `PAGE_FAULTS`, `L1D-READ-MISS`.
/// An event without a name there has its type and number: `TRACEPOINT:0x1a3`. The names of
/// tracepoints and of a PMU's own events are in files, which this crate does not read. Set them by
/// [`Event::with_label`](crate::Event::with_label) or
/// [`Group::with_labels`](crate::Group::with_labels).
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_sys::Label;
///
/// assert_eq!(Label::from_attr(&Attr::software(Software::PAGE_FAULTS)).to_string(), "PAGE_FAULTS");
///
/// let (system, name) = ("sched", "sched_switch"); // found at run time
/// assert_eq!(Label::from(format!("{system}:{name}")).to_string(), "sched:sched_switch");
/// ```
///
/// Cloning does not allocate, because a name that was made at run time is shared.
#[derive(Clone, Debug)]
pub struct Label(Source);

/// The source of the text.
#[derive(Clone, Debug)]
enum Source {
    Attr { kind: EventType, config: u64 },
    Static(&'static str),
    Shared(Arc<str>),
}

impl Label {
    /// Returns the default label of events that are opened with `attr`.
    pub const fn from_attr(attr: &Attr) -> Self {
        Self(Source::Attr { kind: attr.kind, config: attr.config })
    }

    /// Returns a label with a name that is a constant. [`From`] takes names that are made at run time.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Self(Source::Static(name))
    }

    /// Returns the name, or the attr's type and number. They decide equality, independent of how
    /// the name is stored.
    fn key(&self) -> Result<&str, (EventType, u64)> {
        match &self.0 {
            &Source::Attr { kind, config } => Err((kind, config)),
            Source::Static(name) => Ok(name),
            Source::Shared(name) => Ok(name),
        }
    }
}

impl From<&'static str> for Label {
    fn from(name: &'static str) -> Self {
        Self::named(name)
    }
}

impl From<String> for Label {
    fn from(name: String) -> Self {
        Self(Source::Shared(name.into()))
    }
}

impl From<Arc<str>> for Label {
    fn from(name: Arc<str>) -> Self {
        Self(Source::Shared(name))
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Label {}

impl Hash for Label {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, config) = match self.key() {
            Ok(name) => return f.write_str(name),
            Err(attr) => attr,
        };
        match (kind, CacheEvent::from_config(config)) {
            (EventType::SOFTWARE, _) => return write!(f, "{}", Software(config)),
            (EventType::HARDWARE, _) => write!(f, "{}", Hardware(config & HW_EVENT_MASK))?,
            (EventType::HW_CACHE, Some(event)) => write!(f, "{event}")?,
            _ => return write!(f, "{kind}:{config:#x}"),
        }
        match config >> PMU_TYPE_SHIFT {
            0 => Ok(()),
            pmu => write!(f, "@{pmu}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    use super::*;

    fn label(kind: EventType, config: u64) -> String {
        Label::from_attr(&Attr::new(kind, config)).to_string()
    }

    #[test]
    fn names_are_those_of_the_header() {
        assert_eq!(label(EventType::HARDWARE, 1), "INSTRUCTIONS");
        assert_eq!(label(EventType::SOFTWARE, 3), "CONTEXT_SWITCHES");
        assert_eq!(label(EventType::HW_CACHE, 0x1_0000), "L1D-READ-MISS");
    }

    #[test]
    fn core_pmu_of_a_hybrid_cpu_is_printed() {
        assert_eq!(label(EventType::HARDWARE, 0xa_0000_0000), "CPU_CYCLES@10");
        assert_eq!(label(EventType::HW_CACHE, 0xa_0001_0000), "L1D-READ-MISS@10");
    }

    #[test]
    fn event_without_a_name_is_a_number() {
        assert_eq!(label(EventType::TRACEPOINT, 0x1a3), "TRACEPOINT:0x1a3");
        assert_eq!(label(EventType::HW_CACHE, 0xff00_0000), "HW_CACHE:0xff000000");
        assert_eq!(label(EventType::SOFTWARE, 77), "Software(77)");
        assert_eq!(label(EventType(9), 2), "EventType(9):0x2");
    }

    #[test]
    fn name_replaces_that_of_the_attr() {
        const SWITCH: Label = Label::named("sched:sched_switch");
        assert_eq!(SWITCH.to_string(), "sched:sched_switch");
        assert_ne!(SWITCH, Label::from_attr(&Attr::tracepoint(0x1a3)));
    }

    #[test]
    fn names_are_equal_however_they_are_stored() {
        let shared = Arc::<str>::from("instructions:u");
        let owned = String::from("instructions:u");
        let labels = [Label::named("instructions:u"), shared.into(), owned.into(), "instructions:u".into()];
        assert!(labels.iter().all(|label| *label == labels[0]));
        assert_eq!(labels.into_iter().collect::<HashSet<_>>().len(), 1);
        assert_ne!(Label::named("instructions:u"), Label::named("instructions"));
    }

    #[test]
    fn hash_is_that_of_the_name_or_the_attr() {
        let hash = |label: Label| BuildHasherDefault::<DefaultHasher>::default().hash_one(label);
        let cycles = || Label::from_attr(&Attr::hardware(Hardware::CPU_CYCLES));
        assert_eq!(hash(cycles()), hash(cycles()));
        assert_ne!(hash(cycles()), hash(Label::from_attr(&Attr::hardware(Hardware::INSTRUCTIONS))));
        assert_ne!(hash(Label::named("a")), hash(Label::named("b")));
    }

    #[test]
    fn clone_shares_the_name() {
        let name = Arc::<str>::from("sched:sched_switch");
        let label = Label::from(Arc::clone(&name));
        let copies = [label.clone(), label];
        assert_eq!(Arc::strong_count(&name), 3);
        drop(copies);
        assert_eq!(Arc::strong_count(&name), 1);
    }
}
