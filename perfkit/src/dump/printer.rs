//! The forms of the output of a dump, and the choice of its fields.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};

use perf_decode::schema::{self, BODIES, Word};
use perf_profile::read::Tracepoints;
use serde_json::Value as Json;

use super::entry::{Entry, HEADER, Key, Part, is_of_header};
use super::json::Object;
use super::{Options, tool_record};
use crate::out::message;
use crate::out::message::nearest;

/// Prints records in the form that the user chose.
pub(super) struct Printer<'a> {
    out: BufWriter<&'a mut dyn Write>,
    is_json: bool,
    is_flat: bool,
    fields: Option<FieldList>,
    /// The columns of a record in a table, kept to reuse their memory.
    columns: Vec<String>,
}

impl Write for Printer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<'a> Printer<'a> {
    /// Makes a printer, and prints the head of a table.
    ///
    /// # Errors
    ///
    /// The output is closed, or no tracepoint of the recording has a field that the user chose.
    pub(super) fn new(
        out: &'a mut dyn Write,
        options: &Options,
        tracepoints: &Tracepoints<'_>,
    ) -> io::Result<Self> {
        let (is_json, is_flat) = (options.json, options.flat);
        let is_table = is_flat && !is_json;
        let fields = FieldList::new(&options.fields).or_else(|| is_table.then(FieldList::common));
        if let Some(fields) = &fields
            && let Some(name) = fields.missing_of_tracepoint(|name| tracepoints.have_field(name))
        {
            let text = format!("--fields: no tracepoint of the recording has the field {name}");
            return Err(io::Error::other(text));
        }
        let mut out = BufWriter::new(out);
        if let Some(fields) = fields.as_ref().filter(|_| is_table) {
            writeln!(out, "{}", fields.names().join("\t"))?;
        }
        let columns = fields.as_ref().map_or(0, |fields| fields.names().len());
        Ok(Self { out, is_json, is_flat, fields, columns: vec![String::new(); columns] })
    }

    /// Returns whether the output is for people, who want to read about the recording before its
    /// records.
    pub(super) fn is_for_people(&self) -> bool {
        !self.is_json && !self.is_flat && self.fields.is_none()
    }

    /// Prints a record as a line.
    pub(super) fn print(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        match (self.is_json, &self.fields) {
            (true, fields) => {
                let object =
                    if self.is_flat { flat(entry, fields.as_ref()) } else { nested(entry, fields.as_ref()) };
                object.map_or(Ok(()), |object| writeln!(self.out, "{}", message::json(&object.into())))
            }
            (false, None) => writeln!(self.out, "{entry}"),
            (false, Some(_)) if self.is_flat => self.print_row(entry),
            (false, Some(fields)) => match line(entry, fields) {
                Some(line) => writeln!(self.out, "{line}"),
                None => Ok(()),
            },
        }
    }

    /// Prints the values of the columns, with a tab between two.
    fn print_row(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        use std::fmt::Write as _;
        let Some(fields) = &self.fields else { return Ok(()) };
        self.columns.iter_mut().for_each(String::clear);
        let mut has_content = !fields.asks_for_content();
        entry.each(|key, item| {
            let Some(position) = fields.position(key) else { return };
            let Some(column) = self.columns.get_mut(position) else { return };
            has_content |= key.part != Part::Header;
            // Writing to a string does not fail.
            let _ = if fields.has_whole_tracepoint(position) {
                let gap = if column.is_empty() { "" } else { " " };
                write!(column, "{gap}{}={item}", key.name.escape_debug())
            } else {
                write!(column, "{item}")
            };
        });
        if !has_content {
            return Ok(());
        }
        for (index, column) in self.columns.iter().enumerate() {
            let tab = if index > 0 { "\t" } else { "" };
            write!(self.out, "{tab}{column}")?;
        }
        writeln!(self.out)
    }
}

/// Returns the record as an object without inner objects; `None` if it has no field of the list.
fn flat(entry: &Entry<'_>, fields: Option<&FieldList>) -> Option<Object> {
    let mut object = Object::new();
    let mut has_content = fields.is_none_or(|fields| !fields.asks_for_content());
    entry.each(|key, item| {
        if fields.is_none_or(|fields| fields.position(key).is_some()) {
            has_content |= key.part != Part::Header;
            object.insert(key.flat().into_owned(), item.json());
        }
    });
    has_content.then(|| flatten(object))
}

/// Returns the record in the form of `docs/dump-json.md`, with its name and the fields of the list;
/// `None` if it lacks all of them.
fn nested(entry: &Entry<'_>, fields: Option<&FieldList>) -> Option<Object> {
    let mut object = Object::from_iter([("name".to_owned(), entry.name().into())]);
    let (mut body, mut trailer, mut tracepoint) = (Object::new(), Object::new(), Object::new());
    let mut has_content = fields.is_none_or(|fields| !fields.asks_for_content());
    entry.each(|key, item| {
        if fields.is_none_or(|fields| fields.position(key).is_some()) {
            has_content |= key.part != Part::Header;
            let part = match key.part {
                Part::Header => &mut object,
                Part::Body => &mut body,
                Part::Trailer | Part::RepeatedTrailer => &mut trailer,
                Part::Tracepoint => &mut tracepoint,
            };
            part.insert(key.name.to_owned(), item.json());
        }
    });
    let put = |object: &mut Object, key: &str, part: Object, is_there: bool| {
        if is_there || !part.is_empty() {
            object.insert(key.to_owned(), part.into());
        }
    };
    // A whole record includes empty parts.
    let is_whole = fields.is_none();
    put(&mut body, "sample_id", trailer, false);
    put(&mut object, "fields", body, is_whole && entry.decoded().is_some());
    put(&mut object, "tracepoint", tracepoint, is_whole && entry.tracepoint().is_some());
    has_content.then_some(object)
}

/// Returns the name and the fields of the list in its order; `None` if the record lacks all of
/// them.
fn line(entry: &Entry<'_>, fields: &FieldList) -> Option<String> {
    let mut chosen = Vec::new();
    let mut has_content = !fields.asks_for_content();
    entry.each(|key, item| {
        if let Some(position) = fields.position(key) {
            has_content |= key.part != Part::Header;
            // The line begins with the name already.
            if key.part != Part::Header || key.name != "name" {
                chosen.push((position, format!(" {}={item}", key.flat().escape_debug())));
            }
        }
    });
    // Stable, so that fields of a tracepoint keep their order.
    chosen.sort_by_key(|(position, _)| *position);
    let chosen: String = chosen.into_iter().map(|(_, text)| text).collect();
    has_content.then(|| entry.name().into_owned() + &chosen)
}

/// Fields of samples that are not single words.
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

/// The fields that the user chose, in this order.
#[derive(Clone, Debug)]
struct FieldList(Vec<String>);

impl FieldList {
    /// Returns a list, or `None` without names: all fields are chosen.
    fn new(names: &[String]) -> Option<Self> {
        (!names.is_empty()).then(|| Self(names.to_vec()))
    }

    /// Returns the default columns of a table.
    fn common() -> Self {
        let names = ["offset", "name", "event", "time", "cpu", "pid", "tid", "ip", "period"];
        Self(names.map(str::to_owned).into())
    }

    fn names(&self) -> &[String] {
        &self.0
    }

    /// Returns the position in the list by which a field is chosen.
    fn position(&self, key: Key<'_>) -> Option<usize> {
        // Without the allocation of `Key::flat`, because each field of each record comes here.
        let prefix = key.prefix();
        self.0.iter().position(|name| {
            name.strip_prefix(prefix) == Some(key.name) || key.part == Part::Tracepoint && name == TRACEPOINT
        })
    }

    /// Returns whether all fields of a tracepoint are chosen by the name at a position.
    fn has_whole_tracepoint(&self, position: usize) -> bool {
        self.0.get(position).is_some_and(|name| name == TRACEPOINT)
    }

    /// Returns whether only records with a chosen field of their content are printed. Otherwise the
    /// user chose only header fields, and all records are printed.
    fn asks_for_content(&self) -> bool {
        self.0.iter().any(|name| !is_of_header(name))
    }

    /// Returns the first chosen tracepoint field that the recording does not have.
    fn missing_of_tracepoint<'a>(&self, mut known: impl FnMut(&str) -> bool + 'a) -> Option<&str> {
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
pub(super) fn parse_field(name: &str) -> Result<String, String> {
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

/// Returns the names of all fields in flat form, without tracepoint fields.
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
    let header = HEADER.iter().map(|(name, _)| Key::new(Part::Header, name));
    header
        .chain(bodies)
        .chain(repeated)
        .map(|key| key.flat().into_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns an object without inner objects, whose keys are joined to the outer key by `_`. Lists
/// stay.
fn flatten(object: Object) -> Object {
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
