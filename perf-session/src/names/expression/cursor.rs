use crate::names::pmu::number;

use super::{ParseError, Problem, Span, Spanned};

/// A position in an event string.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, offset: 0 }
    }

    pub(super) const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the text from the position to the end.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn skip_spaces(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Consumes `expected` if the rest starts with it.
    pub(super) fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.offset += expected.len();
        }
        found
    }

    /// Consumes the longest run of characters that `accept` accepts, which can be empty.
    pub(super) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> Spanned<&'a str> {
        let rest = self.rest();
        let len = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        let (node, start) = (rest.get(..len).unwrap_or_default(), self.offset);
        self.offset += len;
        Spanned { node, span: self.span_from(start) }
    }

    /// Consumes a run of at least one accepted character.
    pub(super) fn expect_while(
        &mut self,
        accept: impl Fn(char) -> bool,
        expected: &'static str,
    ) -> Result<Spanned<&'a str>, ParseError> {
        let run = self.take_while(accept);
        if run.node.is_empty() { Err(self.error(expected)) } else { Ok(run) }
    }

    /// Returns the span from `start` to the position.
    pub(super) const fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.offset }
    }

    /// Returns the error that something else was expected at the position.
    pub(super) fn error(&self, expected: &'static str) -> ParseError {
        let end = self.offset + self.peek().map_or(0, char::len_utf8);
        self.error_at(Span { start: self.offset, end }, expected)
    }

    /// Returns the error that something else was expected in place of `span`.
    pub(super) fn error_at(&self, span: Span, expected: &'static str) -> ParseError {
        ParseError::new(self.text, span, Problem::Expected(expected))
    }

    /// Consumes a decimal number, or a hexadecimal one after `0x`.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<Spanned<u64>, ParseError> {
        let digits = self.expect_while(|c| c.is_ascii_alphanumeric(), expected)?;
        let node = number(digits.node).ok_or_else(|| self.error_at(digits.span, expected))?;
        Ok(Spanned { node, span: digits.span })
    }
}

/// Returns the value of hexadecimal digits, if it fits 64 bits.
pub(super) fn parse_hex(digits: &str) -> Option<u64> {
    // `from_str_radix` takes a sign.
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}
