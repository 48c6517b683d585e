//! The events of a profile that a command is about.

use std::io;

use clap::Args;
use perf_profile::{EventId, Profile};

use crate::out::message::shown;

/// The option that chooses events.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EventOptions {
    /// Only these events, by their names in the recording
    #[arg(short = 'e', long = "event", value_name = "EVENT")]
    events: Vec<String>,
}

impl EventOptions {
    /// Returns which of these events are chosen. The names may be without the modifiers after the
    /// colon.
    pub(super) fn choose(&self, events: &[&str]) -> io::Result<Vec<bool>> {
        let names = &self.events;
        let is_name = |event: &str, name: &str| {
            event == name || event.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
        };
        if let Some(name) = names.iter().find(|name| !events.iter().any(|event| is_name(event, name))) {
            let text = format!("no event `{}`: the recording has {}", shown(name), events.join(", "));
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let is_chosen = |event: &&str| names.is_empty() || names.iter().any(|name| is_name(event, name));
        Ok(events.iter().map(is_chosen).collect())
    }
}

/// Returns the event for a format or a comparison of a single event, by preference the event with
/// this name.
pub(crate) fn single_event(profile: &Profile, preferred: Option<&str>) -> io::Result<EventId> {
    let preferred = profile.event_ids().find(|(_, event)| Some(event.name.as_str()) == preferred);
    if let Some((id, _)) = preferred {
        return Ok(id);
    }
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

    /// A profile of events with or without samples.
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

    #[test]
    fn event_is_chosen_with_or_without_its_modifiers() {
        let all = ["cycles:u", "cycles:k", "cycles-ct", "sched:sched_switch"];
        let chosen = |wanted: &[&str]| {
            let events = wanted.iter().map(|&name| name.to_owned()).collect();
            EventOptions { events }.choose(&all)
        };
        assert_eq!(chosen(&["cycles"]).unwrap(), [true, true, false, false]);
        assert_eq!(chosen(&["cycles:k", "sched:sched_switch"]).unwrap(), [false, true, false, true]);
        assert_eq!(chosen(&[]).unwrap(), [true; 4]);
        let error = chosen(&["cycles", "\u{1b}"]).unwrap_err().to_string();
        assert!(error.starts_with("no event `\\u{1b}`: the recording has cycles:u, "), "{error}");
    }

    #[test]
    fn single_event_is_the_one_with_samples() {
        let two = profile(&[("dummy", false), ("cpu-clock", true)]);
        assert_eq!(single_event(&two, None).unwrap(), two.event_ids().nth(1).unwrap().0);
        let preferred = single_event(&profile(&[("a", true), ("b", false)]), Some("b"));
        assert_eq!(preferred.unwrap(), two.event_ids().nth(1).unwrap().0);
        let error = single_event(&profile(&[("a", true), ("b", true)]), None).unwrap_err().to_string();
        assert!(error.ends_with("choose one by -e: a, b"), "{error}");
        assert!(single_event(&profile(&[("a", false)]), None).is_ok());
        assert!(single_event(&profile(&[]), None).is_err());
    }
}
