//! The whole of a `format` file.

use super::error::Fault;
use super::lines::Lines;
use super::{ArrayField, Excerpt, Field, Fields, FormatError, IntegerField, Payload, TextField};

/// The layout of one tracepoint. Holding one proves that every field of it can be read.
///
/// Borrows the text it was parsed from and copies nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Format<'t> {
    /// The tracepoint's name, without its system.
    pub name: &'t str,
    /// What `perf_event_attr.config` asks for and `common_type` in a payload says. Valid for this boot, and for
    /// tracepoints of modules until the module is unloaded.
    #[doc(alias = "common_type")]
    pub id: u32,
    /// The fields every tracepoint begins with: `common_type`, `common_flags`, `common_preempt_count`, `common_pid`,
    /// and what a patched kernel adds. `common_pid` is the thread's id in the initial pid namespace.
    pub common: Fields<'t>,
    /// The tracepoint's own fields.
    pub fields: Fields<'t>,
    /// How the kernel would print a payload: a C format string and its arguments, not interpreted here. Empty if the
    /// text has none.
    #[doc(alias = "print fmt")]
    pub print_fmt: &'t str,
}

impl<'t> Format<'t> {
    /// Reads the content of `events/SYSTEM/NAME/format`, in one pass.
    ///
    /// # Errors
    ///
    /// [`FormatError::Syntax`] with the line, what was expected there and what was found.
    pub fn parse(text: &'t str) -> Result<Self, FormatError> {
        let mut lines = Lines::new(text);
        let (name, id) = heading(&mut lines)?;
        let common = Fields::block(&mut lines)?;
        let fields = Fields::block(&mut lines)?;
        lines.skip_blank();
        let print_fmt = match lines.peek() {
            None => "",
            Some(line) => line.trim().strip_prefix("print fmt:").map(str::trim_start).ok_or_else(|| {
                Fault { expected: "`field:`, `print fmt:` or a blank line", found: line }.at(lines.number())
            })?,
        };
        Ok(Self { name, id, common, fields, print_fmt })
    }

    /// The field of this name, of the tracepoint's own or the common ones.
    ///
    /// Looks through the text: bind once, do not ask for every sample.
    pub fn field(&self, name: &str) -> Option<Field<'t>> {
        self.fields.get(name).or_else(|| self.common.get(name))
    }

    /// Binds the named field as an integer.
    ///
    /// # Errors
    ///
    /// [`FormatError::NoField`]; or as [`Field::integer`].
    pub fn integer(&self, name: &str) -> Result<IntegerField, FormatError> {
        self.require(name)?.integer()
    }

    /// Binds the named field as text.
    ///
    /// # Errors
    ///
    /// [`FormatError::NoField`]; or as [`Field::text`].
    pub fn text(&self, name: &str) -> Result<TextField, FormatError> {
        self.require(name)?.text()
    }

    /// Binds the named field as an array of integers.
    ///
    /// # Errors
    ///
    /// [`FormatError::NoField`]; or as [`Field::array`].
    pub fn array(&self, name: &str) -> Result<ArrayField, FormatError> {
        self.require(name)?.array()
    }

    /// A payload, ready to be printed as `name=value name=value`, without the common fields.
    pub fn display<'a>(&self, raw: &'a [u8]) -> Payload<'t, 'a> {
        Payload { fields: self.fields, raw }
    }

    fn require(&self, name: &str) -> Result<Field<'t>, FormatError> {
        self.field(name).ok_or_else(|| FormatError::NoField { name: Excerpt::of(name) })
    }
}

/// The lines up to and with `format:`; unknown keys among them are skipped.
fn heading<'t>(lines: &mut Lines<'t>) -> Result<(&'t str, u32), FormatError> {
    let (mut name, mut id) = ("", None);
    loop {
        lines.skip_blank();
        let line = lines.peek().unwrap_or_default();
        let fault = |expected, found| Fault { expected, found }.at(lines.number());
        let (key, value) = line.split_once(':').ok_or_else(|| fault("`name:`, `ID:` or `format:`", line))?;
        match key.trim() {
            "name" => name = value.trim(),
            "ID" => {
                let number = value.trim().parse();
                id = Some(number.map_err(|_| fault("a decimal number below 2^32", value))?);
            }
            "field" => return Err(fault("`format:` before the first field", line)),
            "format" if name.is_empty() => return Err(fault("`name:` before `format:`", line)),
            "format" => {
                let id = id.ok_or_else(|| fault("`ID:` before `format:`", line))?;
                lines.advance();
                return Ok((name, id));
            }
            _ => {}
        }
        lines.advance();
    }
}

#[cfg(test)]
mod tests;
