//! The forms of a dump's output.

use std::io::{self, BufWriter, Write};

use super::Options;
use super::entry::Entry;
use super::field::{FieldList, Part, flatten};
use super::json::Object;
use crate::out::message;
use crate::recording::Tracepoints;

/// Prints records in the form that the user chose.
pub(super) struct Printer<'a> {
    out: BufWriter<&'a mut dyn Write>,
    is_json: bool,
    is_flat: bool,
    fields: Option<FieldList>,
    /// The columns of a record in a table, kept for their memory.
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

    /// Returns whether the output is for people, who want to read about the recording before its records.
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

/// Returns the record in the form of `docs/dump-json.md`, with its name and the fields of the list; `None` if it has none of
/// them.
fn nested(entry: &Entry<'_>, fields: Option<&FieldList>) -> Option<Object> {
    let Some(fields) = fields else { return Some(entry.json()) };
    let mut object = Object::from_iter([("name".to_owned(), entry.name().into())]);
    let (mut body, mut trailer, mut tracepoint) = (Object::new(), Object::new(), Object::new());
    let mut has_content = !fields.asks_for_content();
    entry.each(|key, item| {
        if fields.position(key).is_some() {
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
    let put = |object: &mut Object, key: &str, part: Object| {
        if !part.is_empty() {
            object.insert(key.to_owned(), part.into());
        }
    };
    put(&mut body, "sample_id", trailer);
    put(&mut object, "fields", body);
    put(&mut object, "tracepoint", tracepoint);
    has_content.then_some(object)
}

/// Returns the name and the fields of the list in its order; `None` if the record has none of them.
fn line(entry: &Entry<'_>, fields: &FieldList) -> Option<String> {
    let mut chosen = Vec::new();
    let mut has_content = !fields.asks_for_content();
    entry.each(|key, item| {
        if let Some(position) = fields.position(key) {
            has_content |= key.part != Part::Header;
            // The name is the first word in any case.
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
