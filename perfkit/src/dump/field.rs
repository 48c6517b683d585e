//! The fields of records by name, for `--fields` and `--flat`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use perf_decode::Value;
use perf_decode::schema::{self, BODIES, Word};
use perf_tracepoint as tracepoint;
use serde_json::Value as Json;

use super::json::{self, Object};
use super::tool_record;
use crate::cli::nearest::nearest;

/// The keys of every record. A field of a body with one of these names gets a prefix in flat forms.
const HEADER: &[&str] = &[
    "type",
    "name",
    "misc",
    "size",
    "offset",
    "in_compressed",
    "part",
    "attr",
    "event",
    "error",
    "trailing",
    "truncated",
    "ambiguous",
];

/// The fields of samples that are no words of a table.
const OF_SAMPLES: &[&str] = &[
    "read",
    "callchain",
    "raw",
    "branches",
    "user_abi",
    "user_regs",
    "stack_size",
    "stack_dyn_size",
    "stack",
    "weight_struct",
    "intr_abi",
    "intr_regs",
    "aux",
];

/// The name by which all fields of tracepoints are chosen, and the prefix of each.
const TRACEPOINT: &str = "tracepoint";

/// The part of a record that has a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Header,
    Body,
    Trailer,
    /// The body has a field of this name, too.
    RepeatedTrailer,
    Tracepoint,
}

/// A field's name in its part of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'a> {
    pub(super) part: Part,
    pub(super) name: &'a str,
}

impl<'a> Key<'a> {
    pub(super) fn new(part: Part, name: &'a str) -> Self {
        Self { part, name }
    }

    /// Returns the name that is unique in a record.
    pub(super) fn flat(self) -> Cow<'a, str> {
        match self.prefix() {
            "" => self.name.into(),
            prefix => format!("{prefix}{}", self.name).into(),
        }
    }

    /// Returns the start of the name that is unique in a record.
    fn prefix(self) -> &'static str {
        match self.part {
            Part::Body if HEADER.contains(&self.name) => "fields_",
            Part::Header | Part::Body | Part::Trailer => "",
            Part::RepeatedTrailer => "sample_id_",
            Part::Tracepoint => "tracepoint_",
        }
    }
}

/// A value of a field. Prints as in a line of text, without control characters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    Number(u64),
    /// A number that prints in hexadecimal and is decimal in JSON: an offset.
    Hex(u64),
    Text(&'a str),
    Field(Value<'a>),
    Json(&'a Json),
    Tracepoint(&'a tracepoint::Value<'a>),
}

impl<N: Into<u64>> From<N> for Item<'_> {
    fn from(number: N) -> Self {
        Self::Number(number.into())
    }
}

impl Item<'_> {
    pub(super) fn json(self) -> Json {
        match self {
            Self::Number(number) | Self::Hex(number) => number.into(),
            Self::Text(text) => text.into(),
            Self::Field(value) => json::value(value),
            Self::Json(value) => value.clone(),
            Self::Tracepoint(value) => json::of_tracepoint(value),
        }
    }
}

impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Hex(number) => write!(f, "{number:#x}"),
            Self::Text(text) => Value::Text(text.as_bytes()).fmt(f),
            Self::Json(Json::String(text)) => Value::Text(text.as_bytes()).fmt(f),
            Self::Field(value) => value.fmt(f),
            // JSON escapes control characters, except for the delete character and those that reorder text.
            Self::Json(value) => Value::Text(value.to_string().as_bytes()).fmt(f),
            Self::Tracepoint(value) => value.fmt(f),
        }
    }
}

/// The fields that the user chose, in this order.
#[derive(Clone, Debug)]
pub(super) struct FieldList(Vec<String>);

impl FieldList {
    /// Returns a list, or `None` without names: all fields are chosen.
    pub(super) fn new(names: &[String]) -> Option<Self> {
        (!names.is_empty()).then(|| Self(names.to_vec()))
    }

    /// Returns the columns of a table for which the user chose none.
    pub(super) fn common() -> Self {
        let names = ["offset", "name", "event", "time", "cpu", "pid", "tid", "ip", "period"];
        Self(names.map(str::to_owned).into())
    }

    pub(super) fn names(&self) -> &[String] {
        &self.0
    }

    /// Returns the position in the list by which a field is chosen.
    pub(super) fn position(&self, key: Key<'_>) -> Option<usize> {
        // Without the allocation of `Key::flat`, because each field of each record comes here.
        let prefix = key.prefix();
        self.0.iter().position(|name| {
            name.strip_prefix(prefix) == Some(key.name) || key.part == Part::Tracepoint && name == TRACEPOINT
        })
    }

    /// Returns whether all fields of a tracepoint are chosen by the name at a position.
    pub(super) fn has_whole_tracepoint(&self, position: usize) -> bool {
        self.0.get(position).is_some_and(|name| name == TRACEPOINT)
    }

    /// Returns whether a record with one of these fields is printed: records that have only keys of every record
    /// are, if the user asks for no others.
    pub(super) fn asks_for_content(&self) -> bool {
        self.0.iter().any(|name| !HEADER.contains(&name.as_str()))
    }

    /// Returns the first name of a tracepoint's field that is not among those of the recording.
    pub(super) fn missing_of_tracepoint<'a>(&self, mut known: impl FnMut(&str) -> bool + 'a) -> Option<&str> {
        let prefix =
            |name: &str| name.strip_prefix(TRACEPOINT).and_then(|rest| rest.strip_prefix('_')).is_some();
        let mut names = self.0.iter().map(String::as_str).filter(|name| prefix(name));
        names.find(|name| !known(name.get(TRACEPOINT.len() + 1..).unwrap_or_default()))
    }
}

/// Parses one name of `--fields`.
///
/// # Errors
///
/// No record can have the field. Fields of tracepoints depend on the recording.
pub(super) fn parse(name: &str) -> Result<String, String> {
    let known = known();
    let of_tracepoint =
        name.strip_prefix(TRACEPOINT).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    if of_tracepoint || known.contains(name) {
        return Ok(name.to_owned());
    }
    let near = nearest(name, known.iter().map(String::as_str));
    let all: Vec<_> = known.iter().map(String::as_str).chain(["tracepoint", "tracepoint_NAME"]).collect();
    Err(format!("unknown field{near}; all fields: {}", all.join(", ")))
}

/// Returns the names of all fields in flat form, without those of tracepoints.
fn known() -> BTreeSet<String> {
    let words = [schema::HEAD, schema::MEM, schema::ADDR, schema::TRAILER];
    let of_words = words.into_iter().flatten().flat_map(Word::shown).map(|(name, _)| name);
    let of_bodies = BODIES
        .iter()
        .flat_map(|body| body.fields.iter().chain(body.fields_with_build_id.unwrap_or_default()));
    let of_bodies = of_bodies.map(|(name, _)| *name).chain(["read"]);
    let bodies = of_words
        .chain(of_bodies)
        .chain(OF_SAMPLES.iter().copied())
        .chain(tool_record::FIELDS.iter().copied());
    let bodies = bodies.map(|name| Key::new(Part::Body, name));
    let repeated =
        schema::TRAILER.iter().flat_map(Word::shown).map(|(name, _)| Key::new(Part::RepeatedTrailer, name));
    let header = HEADER.iter().map(|name| Key::new(Part::Header, name));
    header
        .chain(bodies)
        .chain(repeated)
        .map(|key| key.flat().into_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns an object without inner objects: their keys follow the outer one, joined by `_`. Lists stay.
pub(super) fn flatten(object: Object) -> Object {
    fn add(flat: &mut Object, key: String, value: Json) {
        match value {
            Json::Object(inner) => {
                inner.into_iter().for_each(|(name, value)| add(flat, format!("{key}_{name}"), value));
            }
            value => {
                flat.insert(key, value);
            }
        }
    }
    let mut flat = Object::new();
    object.into_iter().for_each(|(key, value)| add(&mut flat, key, value));
    flat
}
