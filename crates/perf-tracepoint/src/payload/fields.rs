//! A block of field lines, and the cursor over the lines of a text.

use core::iter::FusedIterator;

use super::error::Unexpected;
use super::line;
use super::{Field, FormatError};

/// A block of fields. Holding one proves that each of its lines parses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields<'t> {
    text: &'t str,
}

impl<'t> Fields<'t> {
    /// Parses a text of field lines only, such as `events/header_page`.
    ///
    /// # Errors
    ///
    /// [`FormatError::Syntax`] at the first other line.
    pub fn parse(text: &'t str) -> Result<Self, FormatError> {
        let mut lines = Lines::new(text);
        let fields = Self::block(&mut lines)?;
        lines.skip_blank();
        match lines.peek() {
            None => Ok(fields),
            Some(found) => Err(Unexpected { expected: "`field:`", found }.at(lines.number())),
        }
    }

    /// Takes the next field lines, after blank lines.
    pub(super) fn block(lines: &mut Lines<'t>) -> Result<Self, FormatError> {
        lines.skip_blank();
        let block = lines.rest;
        while let Some(text) = lines.peek().filter(|text| text.trim_ascii().starts_with("field:")) {
            line::parse(text).map_err(|error| error.at(lines.number()))?;
            lines.advance();
        }
        Ok(Self { text: block.strip_suffix(lines.rest).unwrap_or_default() })
    }

    /// Returns the fields, in the order of the text.
    pub fn iter(&self) -> FieldsIter<'t> {
        FieldsIter { lines: Lines::new(self.text) }
    }

    /// Returns the field of this name.
    ///
    /// Scans the text, so bind fields once and not for every sample.
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
        // Every line of the block has been parsed before, so `ok` drops no field.
        line::parse(text).ok()
    }
}

impl FusedIterator for FieldsIter<'_> {}

/// A cursor over numbered lines.
#[derive(Clone, Debug)]
pub(super) struct Lines<'t> {
    rest: &'t str,
    number: u32,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text, number: 1 }
    }

    /// Returns the number of the next line, counted from 1.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the next line without its line feed, `None` at the end of the text.
    pub(super) fn peek(&self) -> Option<&'t str> {
        self.split().map(|(line, _)| line)
    }

    /// Returns the rest of the text.
    pub(super) fn rest(&self) -> &'t str {
        self.rest
    }

    /// Skips the next line.
    pub(super) fn advance(&mut self) {
        if let Some((_, rest)) = self.split() {
            self.rest = rest;
            self.number = self.number.saturating_add(1);
        }
    }

    /// Skips blank lines.
    pub(super) fn skip_blank(&mut self) {
        while self.peek().is_some_and(|line| line.trim_ascii().is_empty()) {
            self.advance();
        }
    }

    fn split(&self) -> Option<(&'t str, &'t str)> {
        let line_feed = line::split_once(self.rest, b'\n');
        line_feed.or((!self.rest.is_empty()).then_some((self.rest, "")))
    }
}

#[cfg(test)]
mod tests {
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
        assert!(fields.into_iter().eq(fields.iter()) && (&fields).into_iter().eq(fields));
        let data = fields.get("data").unwrap();
        assert_eq!((data.offset, data.size, data.kind), (16, 4080, Kind::Opaque));
        assert_eq!(fields.get("commitment"), None);
    }

    #[test]
    fn another_line_is_an_error() {
        let error = Fields::parse("field:int a;offset:0;size:4;\n\n# compressed entry header\n").unwrap_err();
        assert_eq!(error.to_string(), "line 3: expected `field:`, found `# compressed entry header`");
        let error = Fields::parse("\n\tfield:int a;offset:0;size:4;\n field:int b;\n").unwrap_err();
        assert_eq!(error.to_string(), "line 3: expected `offset:`, found `field:int b;`");
    }

    #[test]
    fn a_text_may_have_no_fields_or_no_last_line_feed() {
        assert_eq!(Fields::parse("").unwrap().iter().next(), None);
        assert_eq!(Fields::parse("\n \t\r\n").unwrap(), Fields::default());
        let fields = Fields::parse("\n field:int a;offset:0;size:4;\nfield:int b;offset:4;size:4;").unwrap();
        assert_eq!((fields.iter().count(), fields.get("b").unwrap().offset), (2, 4));
    }

    #[test]
    fn a_block_ends_before_the_next_blank_line() {
        let mut lines = Lines::new("\nfield:int a;offset:0;size:4;\r\n \nfield:int b;offset:4;size:4;\n");
        let blocks = [(); 3].map(|()| Fields::block(&mut lines).unwrap());
        let names = blocks.map(|block| block.iter().map(|field| field.name).collect::<Vec<_>>());
        assert_eq!(names, [Vec::from(["a"]), Vec::from(["b"]), Vec::new()]);
        assert_eq!((lines.peek(), lines.number()), (None, 5));
    }

    #[test]
    fn lines_are_numbered_from_1_to_the_end() {
        let mut lines = Lines::new("one\n\n  \nfour\nfive");
        assert_eq!((lines.number(), lines.peek()), (1, Some("one")));
        lines.advance();
        assert_eq!((lines.number(), lines.peek()), (2, Some("")));
        lines.skip_blank();
        assert_eq!((lines.number(), lines.peek()), (4, Some("four")));
        lines.skip_blank();
        lines.advance();
        assert_eq!((lines.number(), lines.peek()), (5, Some("five")));
        lines.advance();
        lines.advance();
        assert_eq!((lines.number(), lines.peek()), (6, None));
    }
}
