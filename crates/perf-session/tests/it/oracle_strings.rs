//! Compares the attrs of event strings with recorded attrs of the perf tool.
//!
//! The machines are directories with the files of sysfs and tracefs, so the test needs no perf
//! events.

mod differences;
mod fields;
mod machine;

use std::collections::BTreeMap;

use differences::{DIFFERENCES, reason};
use fields::Fields;
use machine::machines;
use perf_session::expression::Expression;
use perf_session::{EventGroup, NamedEvent, System};

const ORACLE: &str = include_str!("../data/event_strings/perf-6.1.187.txt");

/// The attrs of one string, sorted: the perf tool lists PMUs and tracepoints in the order of the
/// directory.
type Attrs = Vec<Fields>;

/// Returns the machine, the string, and the attrs that the perf tool made, or its error.
fn oracle() -> impl Iterator<Item = (&'static str, &'static str, Result<Attrs, &'static str>)> {
    ORACLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let &[machine, text, attrs] = columns.as_slice() else { panic!("{line}") };
        let attrs = match attrs.strip_prefix("error: ") {
            Some(error) => Err(error),
            None => Ok(sorted(attrs.split("; ").map(|attr| Fields::from_perf(attr, text)))),
        };
        (machine, text, attrs)
    })
}

fn ours(text: &str, system: &System) -> Result<Attrs, String> {
    let groups = perf_session::parse(text, system).map_err(|error| error.to_string())?;
    let events = groups.iter().flat_map(EventGroup::members);
    Ok(sorted(events.flat_map(NamedEvent::specs).map(|spec| Fields::from_attr(&spec.attr(), text))))
}

fn sorted(attrs: impl Iterator<Item = Fields>) -> Attrs {
    let mut attrs: Attrs = attrs.collect();
    attrs.sort();
    attrs
}

#[test]
fn every_string_has_the_attrs_of_the_perf_tool() {
    let machines = machines();
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (machine, text, theirs) in oracle() {
        let ours = ours(text, machines[machine].system());
        let is_equal = match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => ours == theirs,
            (Err(_), Err(_)) => true,
            _ => false,
        };
        compared += 1;
        // A listed string without a difference is wrong too, so that the list stays true.
        if is_equal == reason(machine, text).is_some() {
            wrong.push(format!("{machine} {text:?}\n  ours  {ours:?}\n  perf's {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 600, "{compared}");
}

#[test]
fn every_difference_is_in_the_recording() {
    let recorded: Vec<_> = oracle().map(|(machine, text, _)| (machine, text)).collect();
    for (machine, text, _) in DIFFERENCES {
        assert!(recorded.contains(&(*machine, *text)), "{machine} {text}");
    }
}

#[test]
fn every_accepted_string_is_printed_and_parsed_to_the_same_attrs() {
    let machines = machines();
    for (machine, text, _) in oracle() {
        let system = machines[machine].system();
        let Ok(attrs) = ours(text, system) else { continue };
        let printed = text.parse::<Expression>().unwrap().to_string();
        assert_eq!(ours(&printed, system), Ok(attrs), "{text} {printed}");
    }
}

#[test]
fn name_of_an_attr_is_a_string_of_the_same_attr() {
    let machines = machines();
    for (machine, text, _) in oracle() {
        let system = machines[machine].system();
        for event in
            perf_session::parse(text, system).unwrap_or_default().iter().flat_map(EventGroup::members)
        {
            for spec in event.specs() {
                let name = perf_session::catalog::name_of(&spec.attr());
                let groups = perf_session::parse(&name, system).unwrap_or_else(|error| panic!("{error}"));
                let again: Vec<_> =
                    groups.iter().flat_map(EventGroup::members).flat_map(NamedEvent::specs).collect();
                let fields = |spec: &perf_session::EventSpec| Fields::from_attr(&spec.attr(), "").named();
                let found = again.iter().any(|again| fields(again) == fields(spec));
                assert!(found, "{machine} {text}: {name}");
            }
        }
    }
}

#[test]
fn errors_have_a_place_and_a_caret() {
    let machines = machines();
    let mut by_offset = BTreeMap::new();
    for (machine, text, _) in oracle() {
        let Err(error) = perf_session::parse(text, machines[machine].system()) else { continue };
        assert!(error.offset() <= text.len() && text.is_char_boundary(error.offset()), "{error}");
        let caret = error.to_string().lines().last().and_then(|line| line.find('^'));
        assert!(caret.is_some(), "{error}");
        *by_offset.entry(error.offset()).or_insert(0) += 1;
    }
    assert!(by_offset.len() > 5, "{by_offset:?}");
}
