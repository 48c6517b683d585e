//! The events of a profile that a command is about.

use std::io;

use clap::Args;
use perf_profile::{EventId, Profile};

use crate::message::shown;

/// The option that chooses events.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EventOptions {
    /// Only these events, by their names in the recording
    #[arg(short = 'e', long = "event", value_name = "EVENT")]
    events: Vec<String>,
}

impl EventOptions {
    /// Keeps the events of these names, which may be without the modifiers after the colon.
    pub(crate) fn choose(&self, profile: &mut Profile) -> io::Result<()> {
        let names = &self.events;
        if names.is_empty() {
            return Ok(());
        }
        let is_name = |event: &str, name: &str| {
            event == name || event.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
        };
        let events = profile.events();
        if let Some(name) = names.iter().find(|name| !events.iter().any(|event| is_name(&event.name, name))) {
            let known: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
            let text = format!("no event `{}`: the recording has {}", shown(name), known.join(", "));
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        profile.retain_events(|event| names.iter().any(|name| is_name(&event.name, name)));
        Ok(())
    }
}

/// Returns the number of samples of an event.
pub(crate) fn sample_count(profile: &Profile, event: EventId) -> u64 {
    profile.samples().iter().filter(|sample| sample.event == event).map(|sample| sample.count).sum()
}

/// Returns the event of a format or a comparison that has one.
pub(crate) fn single_event(profile: &Profile) -> io::Result<EventId> {
    let has_samples = |id| profile.samples().iter().any(|sample| sample.event == id);
    let sampled: Vec<_> = profile.event_ids().filter(|&(id, _)| has_samples(id)).collect();
    match sampled.as_slice() {
        [(id, _)] => Ok(*id),
        [] => {
            let first = profile.event_ids().next().map(|(id, _)| id);
            first.ok_or_else(|| io::Error::other("the recording has no event"))
        }
        _ => {
            let names: Vec<_> = sampled.iter().map(|(_, event)| event.name.as_str()).collect();
            Err(io::Error::other(format!(
                "expected one event, found several: choose one by -e: {}",
                names.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Software};
    use perf_profile::{Event, Locations, ProfileBuilder};

    use super::*;

    /// A profile of events that have samples or not.
    fn profile(events: &[(&str, bool)]) -> Profile {
        let (mut builder, mut locations) = (ProfileBuilder::new(), Locations::new());
        let thread = builder.thread(1, 1, locations.intern("a"));
        for &(name, has_sample) in events {
            let event = builder.event(Event::new(name, &Attr::software(Software::CPU_CLOCK)));
            if has_sample {
                builder.sample(event, thread, None, 1);
            }
        }
        builder.finish(locations)
    }

    fn names(profile: &Profile) -> Vec<&str> {
        profile.events().iter().map(|event| event.name.as_str()).collect()
    }

    #[test]
    fn event_is_chosen_with_or_without_its_modifiers() {
        let all = [("cycles:u", true), ("cycles:k", true), ("cycles-ct", true), ("sched:sched_switch", true)];
        let chosen = |wanted: &[&str]| {
            let mut profile = profile(&all);
            let events = wanted.iter().map(|&name| name.to_owned()).collect();
            EventOptions { events }.choose(&mut profile).map(|()| names(&profile).join(" "))
        };
        assert_eq!(chosen(&["cycles"]).unwrap(), "cycles:u cycles:k");
        assert_eq!(chosen(&["cycles:k", "sched:sched_switch"]).unwrap(), "cycles:k sched:sched_switch");
        assert_eq!(chosen(&[]).unwrap().split(' ').count(), 4);
        let error = chosen(&["cycles", "\u{1b}"]).unwrap_err().to_string();
        assert!(error.starts_with("no event `\\u{1b}`: the recording has cycles:u, "), "{error}");
    }

    #[test]
    fn single_event_is_the_one_with_samples() {
        let two = profile(&[("dummy", false), ("cpu-clock", true)]);
        assert_eq!(single_event(&two).unwrap(), two.event_ids().nth(1).unwrap().0);
        let error = single_event(&profile(&[("a", true), ("b", true)])).unwrap_err().to_string();
        assert!(error.ends_with("choose one by -e: a, b"), "{error}");
        assert!(single_event(&profile(&[("a", false)])).is_ok());
        assert!(single_event(&profile(&[])).is_err());
    }
}
