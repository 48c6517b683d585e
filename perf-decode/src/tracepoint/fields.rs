//! A block of field lines.

use core::iter::FusedIterator;

use super::error::Fault;
use super::line;
use super::lines::Lines;
use super::{Field, FormatError};

/// A block of fields. Holding one proves that every line of it can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields<'t> {
    text: &'t str,
}

impl<'t> Fields<'t> {
    /// Reads a text of nothing but field lines, as `events/header_page` is.
    ///
    /// # Errors
    ///
    /// [`FormatError::Syntax`] at the first line that is none.
    pub fn parse(text: &'t str) -> Result<Self, FormatError> {
        let mut lines = Lines::new(text);
        let fields = Self::block(&mut lines)?;
        lines.skip_blank();
        match lines.peek() {
            None => Ok(fields),
            Some(found) => Err(Fault { expected: "`field:`", found }.at(lines.number())),
        }
    }

    /// Takes the field lines that come next, after blank lines.
    pub(super) fn block(lines: &mut Lines<'t>) -> Result<Self, FormatError> {
        lines.skip_blank();
        let start = lines.clone();
        while let Some(text) = lines.peek().filter(|text| text.trim_start().starts_with("field:")) {
            line::parse(text).map_err(|fault| fault.at(lines.number()))?;
            lines.advance();
        }
        Ok(Self { text: lines.since(&start) })
    }

    /// The fields, in the order of the text.
    pub fn iter(&self) -> FieldsIter<'t> {
        FieldsIter { lines: Lines::new(self.text) }
    }

    /// The field of this name. Looks through the text: bind once, do not ask for every sample.
    pub fn get(&self, name: &str) -> Option<Field<'t>> {
        self.iter().find(|field| field.name == name)
    }
}

impl<'t> IntoIterator for Fields<'t> {
    type Item = Field<'t>;
    type IntoIter = FieldsIter<'t>;

    fn into_iter(self) -> FieldsIter<'t> {
        self.iter()
    }
}

impl<'t> IntoIterator for &Fields<'t> {
    type Item = Field<'t>;
    type IntoIter = FieldsIter<'t>;

    fn into_iter(self) -> FieldsIter<'t> {
        self.iter()
    }
}

/// Iterator over [`Fields`].
#[derive(Clone, Debug)]
pub struct FieldsIter<'t> {
    lines: Lines<'t>,
}

impl<'t> Iterator for FieldsIter<'t> {
    type Item = Field<'t>;

    fn next(&mut self) -> Option<Field<'t>> {
        let text = self.lines.peek()?;
        self.lines.advance();
        // The block was read once already, so no field is lost by `ok`.
        line::parse(text).ok()
    }
}

impl FusedIterator for FieldsIter<'_> {}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;
    use std::vec::Vec;

    use super::super::Kind;
    use super::*;

    /// `events/header_page` of Linux 6.18.
    const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";

    #[test]
    fn the_header_page_is_a_block_of_fields() {
        let fields = Fields::parse(HEADER_PAGE).unwrap();
        let names: Vec<_> = fields.iter().map(|field| field.name).collect();
        assert_eq!(names, ["timestamp", "commit", "overwrite", "data"]);
        let data = fields.get("data").unwrap();
        assert_eq!((data.offset, data.size, data.kind), (16, 4080, Kind::Opaque));
        assert_eq!(fields.get("commitment"), None);
    }

    #[test]
    fn a_line_of_another_kind_is_refused() {
        let error = Fields::parse("field:int a;offset:0;size:4;\n\n# compressed entry header\n").unwrap_err();
        assert_eq!(error.to_string(), "line 3: expected `field:`, found `# compressed entry header`");
        assert_eq!(Fields::parse("").unwrap().iter().next(), None);
    }
}
