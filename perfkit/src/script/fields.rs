//! The option that chooses the fields of a line.

use std::io;

use perf_abi::{Attr, EventType, Software};
use perf_profile::read::ScriptFields;

use crate::out::message::shown;

/// Returns the set of a field's name.
fn of_name(name: &str) -> Result<ScriptFields, String> {
    ScriptFields::from_name(name).ok_or_else(|| {
        let names: Vec<_> = ScriptFields::all_names().collect();
        format!("unknown field {:?}; the fields are {}", shown(name), names.join(", "))
    })
}

/// Returns the bit of the attr that a field needs, as the perf tool names it.
fn bit(name: &str) -> String {
    match name {
        "brstack" => "BRANCH_STACK".to_owned(),
        "pid" => "TID".to_owned(),
        "trace" => "RAW".to_owned(),
        _ => name.to_uppercase(),
    }
}

/// Returns how to record samples with a field.
fn remedy(name: &str) -> &'static str {
    match name {
        "brstack" => "; record with -b, which needs a PMU",
        "cpu" => "; record with --sample-cpu",
        "period" => "; record with --period",
        "addr" => "; record with -d",
        "cgroup" => "; record with --all-cgroups",
        _ => "",
    }
}

/// The events that a list of fields is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Hardware,
    Software,
    Tracepoint,
}

impl Class {
    fn of(attr: &Attr) -> Self {
        match attr.kind {
            EventType::TRACEPOINT => Self::Tracepoint,
            EventType::SOFTWARE => Self::Software,
            _ => Self::Hardware,
        }
    }
}

/// An argument of `-F`.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// Kind of the events; `None` for all events.
    class: Option<Class>,
    fields: Change,
}

#[derive(Clone, Debug)]
enum Change {
    Only(ScriptFields),
    /// Fields to add, and fields to leave out.
    Edit(ScriptFields, ScriptFields),
}

impl Choice {
    /// Parses an argument.
    pub(super) fn parse(argument: &str) -> Result<Self, String> {
        let (class, list) = match argument.split_once(':') {
            Some(("hw", list)) => (Some(Class::Hardware), list),
            Some(("sw", list)) => (Some(Class::Software), list),
            Some(("trace", list)) => (Some(Class::Tracepoint), list),
            Some((class, _)) => {
                let class = shown(class);
                return Err(format!("unknown kind of events {class:?}; expected hw, sw or trace"));
            }
            None => (None, argument),
        };
        let (mut only, mut added, mut left_out) = (None, None, None);
        for name in list.split(',').filter(|name| !name.is_empty()) {
            let (set, name) = match (name.strip_prefix('+'), name.strip_prefix('-')) {
                (Some(name), _) => (&mut added, name),
                (_, Some(name)) => (&mut left_out, name),
                _ => (&mut only, name),
            };
            *set = Some(set.unwrap_or_default() | of_name(name)?);
        }
        let fields = match (only, added, left_out) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                return Err(
                    "either all fields, or fields to add (+) and leave out (-), not both in one list"
                        .to_owned(),
                );
            }
            (only, None, None) => Change::Only(only.unwrap_or_default()),
            (None, added, left_out) => Change::Edit(added.unwrap_or_default(), left_out.unwrap_or_default()),
        };
        Ok(Self { class, fields })
    }

    /// Returns the fields of an event by all arguments in their order. `has_branches` is true if an
    /// event of the recording has branch stacks.
    ///
    /// # Errors
    ///
    /// The user asked for a field that its samples do not have.
    pub(super) fn fields(
        choices: &[Self],
        name: &str,
        attr: &Attr,
        has_branches: bool,
    ) -> io::Result<ScriptFields> {
        let class = Class::of(attr);
        // `perf record -a` adds a dummy event for mapping records, which has no samples.
        let is_dummy = attr.is_software(Software::DUMMY);
        let mut fields = ScriptFields::default_of(attr);
        for request in choices.iter().filter(|request| request.class.is_none_or(|wanted| wanted == class)) {
            let wanted = match request.fields {
                Change::Only(only) => {
                    fields = only;
                    only
                }
                Change::Edit(added, left_out) => {
                    fields = (fields | added) - left_out;
                    added
                }
            };
            // Only tracepoints have this field, so a list for all events means them.
            let is_optional = request.class.is_none() && class != Class::Tracepoint;
            let wanted = if is_optional { wanted - ScriptFields::TRACE } else { wanted };
            // So it is for branch stacks, which few events have.
            let is_optional = request.class.is_none() && has_branches;
            let wanted = if is_optional { wanted - ScriptFields::BRSTACK } else { wanted };
            if let Some(missing) = wanted.missing(attr).filter(|_| !is_dummy) {
                // The words of the perf tool, by which perf2bolt recognizes a missing field.
                let (name, bit, remedy) = (shown(name), bit(missing), remedy(missing));
                let text = format!(
                    "Samples for '{name}' event do not have {bit} attribute set. Cannot print '{missing}' field{remedy}"
                );
                return Err(io::Error::other(text));
            }
        }
        Ok(if class == Class::Tracepoint { fields } else { fields - ScriptFields::TRACE })
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::SampleType;

    use super::*;

    fn fields(arguments: &[&str], attr: &Attr) -> Result<Vec<&'static str>, String> {
        let choices =
            arguments.iter().map(|argument| Choice::parse(argument)).collect::<Result<Vec<_>, _>>()?;
        Choice::fields(&choices, "x", attr, attr.sample_type.contains(SampleType::BRANCH_STACK))
            .map(|fields| fields.names().collect())
            .map_err(|error| error.to_string())
    }

    fn clock() -> Attr {
        let bits = SampleType::TID | SampleType::TIME | SampleType::PERIOD | SampleType::IP;
        Attr::software(Software::CPU_CLOCK).with_sample_type(bits)
    }

    #[test]
    fn default_fields_are_those_that_the_samples_have() {
        let expected = ["comm", "tid", "time", "period", "event", "ip", "sym", "symoff", "dso"];
        assert_eq!(fields(&[], &clock()).unwrap(), expected);
    }

    #[test]
    fn fixed_period_is_a_field_without_being_in_the_samples() {
        let fixed = clock().replace_sample_type(SampleType::TID | SampleType::IP).with_period(3);
        assert_eq!(fields(&["comm,period"], &fixed).unwrap(), ["comm", "period"]);
        assert!(fields(&[], &fixed).unwrap().contains(&"period"));
        // The period of a frequency is known from the samples only.
        let frequency = fixed.with_frequency(99);
        assert!(!fields(&[], &frequency).unwrap().contains(&"period"));
        let error = fields(&["period"], &frequency).unwrap_err();
        assert_eq!(
            error,
            "Samples for 'x' event do not have PERIOD attribute set. Cannot print 'period' field; record with --period"
        );
    }

    #[test]
    fn lists_replace_or_change_the_fields_in_their_order() {
        assert_eq!(fields(&["comm,ip"], &clock()).unwrap(), ["comm", "ip"]);
        assert_eq!(fields(&["comm", "+pid,-comm"], &clock()).unwrap(), ["pid"]);
        assert_eq!(fields(&["comm", "hw:ip"], &clock()).unwrap(), ["comm"]);
        assert_eq!(fields(&["comm", "sw:ip"], &clock()).unwrap(), ["ip"]);
        assert_eq!(fields(&["comm,trace"], &clock()).unwrap(), ["comm"]);
    }

    #[test]
    fn branch_stacks_are_wanted_of_the_events_that_have_them() {
        let choices = [Choice::parse("ip,brstack").unwrap()];
        let names = |attr: &Attr, has_branches| Choice::fields(&choices, "x", attr, has_branches);
        assert!(names(&clock(), true).is_ok());
        let error = names(&clock(), false).unwrap_err().to_string();
        assert!(
            error.starts_with("Samples for 'x' event do not have BRANCH_STACK attribute set."),
            "{error}"
        );
    }

    #[test]
    fn field_that_is_unknown_or_was_not_recorded_is_named() {
        let error = fields(&["coom"], &clock()).unwrap_err();
        assert!(error.starts_with("unknown field \"coom\"; the fields are comm, pid,"), "{error}");
        let error = |name| fields(&[name], &clock()).unwrap_err();
        assert_eq!(
            error("cpu"),
            "Samples for 'x' event do not have CPU attribute set. Cannot print 'cpu' field; record with --sample-cpu"
        );
        assert_eq!(
            error("cgroup"),
            "Samples for 'x' event do not have CGROUP attribute set. Cannot print 'cgroup' field; record with --all-cgroups"
        );
        let dummy = Attr::software(Software::DUMMY);
        assert_eq!(fields(&["comm,cpu"], &dummy).unwrap(), ["comm", "cpu"]);
        assert!(fields(&["comm,+ip"], &clock()).unwrap_err().contains("not both"));
        assert!(fields(&["raw:ip"], &clock()).unwrap_err().contains("expected hw, sw or trace"));
    }
}
