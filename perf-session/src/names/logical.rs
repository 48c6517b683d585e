use std::sync::Arc;

use crate::names::spec::EventSpec;

/// One event as the user named it. On a hybrid machine it is one [`EventSpec`] for each core PMU, whose
/// counts are summed unscaled; everywhere else it is one.
#[derive(Clone, Debug)]
pub struct NamedEvent {
    name: Arc<str>,
    specs: Vec<EventSpec>,
}

impl NamedEvent {
    /// Returns an event of these parts.
    pub fn new(name: impl Into<Arc<str>>, specs: Vec<EventSpec>) -> Self {
        Self { name: name.into(), specs }
    }

    /// Returns the name that the user wrote.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the event on each of its PMUs.
    pub fn specs(&self) -> &[EventSpec] {
        &self.specs
    }
}

impl From<EventSpec> for NamedEvent {
    fn from(spec: EventSpec) -> Self {
        Self { name: Arc::clone(spec.label()), specs: vec![spec] }
    }
}
