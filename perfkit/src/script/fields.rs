//! The fields of a line, and the option that chooses them.

use std::io;

use perf_abi::{Attr, EventType, SampleType, Sampling, Software};

/// A set of fields of a printed sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields(u16);

impl Fields {
    pub(super) const COMM: Self = Self(1);
    pub(super) const PID: Self = Self(1 << 1);
    pub(super) const TID: Self = Self(1 << 2);
    pub(super) const CPU: Self = Self(1 << 3);
    pub(super) const TIME: Self = Self(1 << 4);
    pub(super) const PERIOD: Self = Self(1 << 5);
    pub(super) const EVENT: Self = Self(1 << 6);
    pub(super) const TRACE: Self = Self(1 << 7);
    pub(super) const ADDR: Self = Self(1 << 8);
    pub(super) const IP: Self = Self(1 << 9);
    pub(super) const SYM: Self = Self(1 << 10);
    pub(super) const SYMOFF: Self = Self(1 << 11);
    pub(super) const DSO: Self = Self(1 << 12);
    pub(super) const SRCLINE: Self = Self(1 << 13);
    pub(super) const CGROUP: Self = Self(1 << 14);

    /// The names, and the bit of the attr without which samples do not have the field. A fixed
    /// period is known from the attr.
    const NAMES: [(&'static str, Self, SampleType); 15] = [
        ("comm", Self::COMM, SampleType::empty()),
        ("pid", Self::PID, SampleType::TID),
        ("tid", Self::TID, SampleType::TID),
        ("cpu", Self::CPU, SampleType::CPU),
        ("time", Self::TIME, SampleType::TIME),
        ("period", Self::PERIOD, SampleType::PERIOD),
        ("event", Self::EVENT, SampleType::empty()),
        ("trace", Self::TRACE, SampleType::RAW),
        ("addr", Self::ADDR, SampleType::ADDR),
        ("cgroup", Self::CGROUP, SampleType::CGROUP),
        ("ip", Self::IP, SampleType::empty()),
        ("sym", Self::SYM, SampleType::empty()),
        ("symoff", Self::SYMOFF, SampleType::empty()),
        ("dso", Self::DSO, SampleType::empty()),
        ("srcline", Self::SRCLINE, SampleType::empty()),
    ];

    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether it has a field of the frames of a stack.
    pub(super) fn has_frames(self) -> bool {
        [Self::IP, Self::SYM, Self::DSO, Self::SRCLINE].into_iter().any(|field| self.contains(field))
    }

    /// Returns the set of a field's name.
    fn of_name(name: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(known, ..)| *known == name);
        found.map(|(_, field, _)| *field).ok_or_else(|| {
            let names: Vec<_> = Self::NAMES.iter().map(|(name, ..)| *name).collect();
            let name = crate::out::message::shown(name);
            format!("unknown field {name:?}; the fields are {}", names.join(", "))
        })
    }

    /// Returns all fields that the samples of an event have.
    fn of_samples(attr: &Attr) -> Self {
        let is_fixed = |field| field == Self::PERIOD && matches!(attr.sampling(), Sampling::Period(_));
        let has =
            |&&(_, field, bit): &&(_, Self, SampleType)| attr.sample_type.contains(bit) || is_fixed(field);
        Self::NAMES.iter().filter(has).fold(Self(0), |all, (_, field, _)| all.or(*field))
    }

    /// Returns the first field of the set that the samples of an event do not have.
    fn missing(self, attr: &Attr) -> Option<&'static str> {
        let missing = self.without(Self::of_samples(attr));
        Self::NAMES.iter().find(|(_, field, _)| missing.contains(*field)).map(|(name, ..)| *name)
    }

    /// Returns how to record samples with a field.
    fn remedy(name: &str) -> &'static str {
        match name {
            "cpu" => "; record with --sample-cpu",
            "period" => "; record with --period",
            "addr" => "; record with -d",
            "cgroup" => "; record with --all-cgroups",
            _ => "",
        }
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

    /// Returns the fields that the perf tool prints.
    fn default_fields(self) -> Fields {
        let common = [Fields::COMM, Fields::TID, Fields::CPU, Fields::TIME, Fields::EVENT];
        let rest: &[Fields] = match self {
            Self::Tracepoint => &[Fields::TRACE],
            _ => &[Fields::PERIOD, Fields::IP, Fields::SYM, Fields::SYMOFF, Fields::DSO],
        };
        common.iter().chain(rest).fold(Fields(0), |all, field| all.or(*field))
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
    Only(Fields),
    /// Fields to add, and fields to leave out.
    Edit(Fields, Fields),
}

impl Choice {
    /// Parses an argument.
    pub(super) fn parse(argument: &str) -> Result<Self, String> {
        let (class, list) = match argument.split_once(':') {
            Some(("hw", list)) => (Some(Class::Hardware), list),
            Some(("sw", list)) => (Some(Class::Software), list),
            Some(("trace", list)) => (Some(Class::Tracepoint), list),
            Some((class, _)) => {
                let class = crate::out::message::shown(class);
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
            *set = Some(set.unwrap_or(Fields(0)).or(Fields::of_name(name)?));
        }
        let fields = match (only, added, left_out) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                return Err(
                    "either all fields, or fields to add (+) and leave out (-), not both in one list"
                        .to_owned(),
                );
            }
            (only, None, None) => Change::Only(only.unwrap_or(Fields(0))),
            (None, added, left_out) => {
                Change::Edit(added.unwrap_or(Fields(0)), left_out.unwrap_or(Fields(0)))
            }
        };
        Ok(Self { class, fields })
    }

    /// Returns the fields of an event by all arguments in their order.
    ///
    /// # Errors
    ///
    /// The user asked for a field that its samples do not have.
    pub(super) fn fields(choices: &[Self], name: &str, attr: &Attr) -> io::Result<Fields> {
        let class = Class::of(attr);
        let default = class.default_fields();
        let default = match class {
            // A tracepoint has a stack if it was recorded.
            Class::Tracepoint if attr.sample_type.contains(SampleType::CALLCHAIN) => {
                [Fields::IP, Fields::SYM, Fields::SYMOFF, Fields::DSO]
                    .iter()
                    .fold(default, |all, field| all.or(*field))
            }
            _ => default,
        };
        let mut fields = Fields(default.0 & Fields::of_samples(attr).0);
        for request in choices.iter().filter(|request| request.class.is_none_or(|wanted| wanted == class)) {
            let wanted = match request.fields {
                Change::Only(only) => {
                    fields = only;
                    only
                }
                Change::Edit(added, left_out) => {
                    fields = fields.or(added).without(left_out);
                    added
                }
            };
            // Only tracepoints have this field, so a list for all events means them.
            let is_optional = request.class.is_none() && class != Class::Tracepoint;
            let wanted = if is_optional { wanted.without(Fields::TRACE) } else { wanted };
            // `perf record -a` adds a dummy event for mapping records, which has no samples.
            if let Some(missing) = wanted.missing(attr).filter(|_| !attr.is_software(Software::DUMMY)) {
                let remedy = Fields::remedy(missing);
                let text = format!("the samples of {name} have no field {missing:?}{remedy}");
                return Err(io::Error::other(text));
            }
        }
        Ok(if class == Class::Tracepoint { fields } else { fields.without(Fields::TRACE) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(fields: Fields) -> Vec<&'static str> {
        let all = Fields::NAMES.iter().filter(|(_, field, _)| fields.contains(*field));
        all.map(|(name, ..)| *name).collect()
    }

    fn fields(arguments: &[&str], attr: &Attr) -> Result<Vec<&'static str>, String> {
        let choices =
            arguments.iter().map(|argument| Choice::parse(argument)).collect::<Result<Vec<_>, _>>()?;
        Choice::fields(&choices, "x", attr).map(names).map_err(|error| error.to_string())
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
        assert_eq!(error, "the samples of x have no field \"period\"; record with --period");
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
    fn field_that_is_unknown_or_was_not_recorded_is_named() {
        let error = fields(&["coom"], &clock()).unwrap_err();
        assert!(error.starts_with("unknown field \"coom\"; the fields are comm, pid,"), "{error}");
        let error = |name| fields(&[name], &clock()).unwrap_err();
        assert_eq!(error("cpu"), "the samples of x have no field \"cpu\"; record with --sample-cpu");
        assert_eq!(error("cgroup"), "the samples of x have no field \"cgroup\"; record with --all-cgroups");
        let dummy = Attr::software(Software::DUMMY);
        assert_eq!(fields(&["comm,cpu"], &dummy).unwrap(), ["comm", "cpu"]);
        assert!(fields(&["comm,+ip"], &clock()).unwrap_err().contains("not both"));
        assert!(fields(&["raw:ip"], &clock()).unwrap_err().contains("expected hw, sw or trace"));
    }
}
