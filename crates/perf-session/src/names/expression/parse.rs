//! The parser: from the list to its groups, events, sources and terms, and last the cursor that
//! they share.

use std::str::FromStr;

use perf_ring::BreakpointType;

use super::{Event, Expression, Group, Modifiers, ParseError, Problem, Source, Span, Spanned, Term};
use crate::names::catalog;
use crate::names::pmu::number;

impl FromStr for Expression {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut cursor = Cursor::new(text);
        let mut groups = Vec::new();
        loop {
            cursor.skip_spaces();
            groups.push(parse_group(&mut cursor)?);
            cursor.skip_spaces();
            if cursor.rest().is_empty() {
                return Ok(Self { groups });
            }
            if !cursor.take(",") {
                return Err(cursor.error("`,` or the end"));
            }
        }
    }
}

fn parse_group(cursor: &mut Cursor<'_>) -> Result<Group, ParseError> {
    // A name before a brace is a group's; without the brace it is read again, as an event.
    let mut ahead = cursor.clone();
    let name = ahead.take_while(is_name);
    if !ahead.take("{") {
        let event = parse_event(cursor)?;
        return Ok(Group { events: vec![event], ..Group::default() });
    }
    *cursor = ahead;
    let name = (!name.node.is_empty()).then(|| Spanned { node: name.node.to_owned(), span: name.span });
    let mut events = Vec::new();
    loop {
        cursor.skip_spaces();
        events.push(parse_event(cursor)?);
        cursor.skip_spaces();
        if cursor.take("}") {
            break;
        }
        if !cursor.take(",") {
            return Err(cursor.error("`,` or the closing `}` of the group"));
        }
    }
    let modifiers = if cursor.take(":") {
        let modifiers = Modifiers::parse(cursor)?;
        if modifiers.node.is_empty() {
            return Err(cursor.error("modifiers"));
        }
        modifiers
    } else {
        Spanned { node: Modifiers::default(), span: cursor.span_from(cursor.offset()) }
    };
    Ok(Group { name, is_braced: true, events, modifiers })
}

/// Returns `true` for the characters of the name of an event, PMU or tracepoint.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '*' | '?' | '[' | ']' | '!' | '^')
}

/// Parses one event.
fn parse_event(cursor: &mut Cursor<'_>) -> Result<Event, ParseError> {
    let start = cursor.offset();
    let node = parse_source(cursor)?;
    let source = Spanned { node, span: cursor.span_from(start) };
    let terms = if cursor.take("/") { Some(parse_terms(cursor)?) } else { None };
    // After the slash of terms the modifiers follow without a colon.
    let modifiers = if terms.is_some() || cursor.take(":") {
        Modifiers::parse(cursor)?
    } else {
        Spanned { node: Modifiers::default(), span: cursor.span_from(cursor.offset()) }
    };
    Ok(Event { source, terms, modifiers })
}

fn parse_source(cursor: &mut Cursor<'_>) -> Result<Source, ParseError> {
    if cursor.take(BREAKPOINT) {
        return breakpoint(cursor);
    }
    if let Some(probe) = probe(cursor)? {
        return Ok(probe);
    }
    if cursor.take(TRACEPOINT) {
        let category = cursor.expect_while(is_name, "the category of a tracepoint")?;
        if !cursor.take(":") {
            return Err(cursor.error("`:` and the name of the tracepoint"));
        }
        let name = cursor.expect_while(is_name, "the name of a tracepoint")?;
        return Ok(Source::Tracepoint { category: category.node.to_owned(), name: name.node.to_owned() });
    }
    // `a:b` is `TYPE:CONFIG`, a name with modifiers or a tracepoint, so both words are looked at
    // before one is consumed.
    let first = cursor.expect_while(is_name, "an event")?;
    let mut ahead = cursor.clone();
    let second = if ahead.take(":") { ahead.take_while(is_name) } else { Spanned::default() };
    if is_digits(first.node) {
        let source = parse_number(cursor, first, second)?;
        *cursor = ahead;
        return Ok(source);
    }
    let is_generic = catalog::attr_of(first.node).is_some();
    // `sched:pp` could be both. Like the perf tool, it is an event with modifiers; `tracepoint:`
    // says otherwise. After a generic event no tracepoint follows, so that wrong modifiers are
    // named as such.
    if !second.node.is_empty() && !Modifiers::is_spelled(second.node) && !is_generic {
        *cursor = ahead;
        return Ok(Source::Tracepoint { category: first.node.to_owned(), name: second.node.to_owned() });
    }
    match raw_digits(first.node) {
        Some(digits) => match parse_hex(digits) {
            Some(config) => Ok(Source::Raw(config)),
            None => Err(cursor.error_at(first.span, "a raw event of at most 16 hexadecimal digits")),
        },
        None => Ok(Source::Name(first.node.to_owned())),
    }
}

/// Returns the event of `TYPE:CONFIG`.
fn parse_number(
    cursor: &Cursor<'_>,
    kind: Spanned<&str>,
    config: Spanned<&str>,
) -> Result<Source, ParseError> {
    if config.node.is_empty() {
        return Err(cursor.error_at(kind.span, "an event; one that starts with a number is TYPE:CONFIG"));
    }
    let fitting = number(kind.node).and_then(|kind| u32::try_from(kind).ok());
    let kind = fitting.ok_or_else(|| cursor.error_at(kind.span, "a type of at most 32 bits"))?;
    let fitting = number(config.node);
    let config = fitting.ok_or_else(|| cursor.error_at(config.span, "a number of at most 64 bits"))?;
    Ok(Source::Number { kind, config })
}

/// Returns the digits of a name that has the form of a raw event.
pub(super) fn raw_digits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix('r')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}

/// The text before a probe, with `true` for one of the kernel and for one on returns.
pub(super) const KINDS: [(&str, bool, bool); 4] = [
    ("uprobe:", false, false),
    ("uretprobe:", false, true),
    ("kprobe:", true, false),
    ("kretprobe:", true, true),
];

/// The text before a tracepoint whose category could be taken for something else.
pub(super) const TRACEPOINT: &str = "tracepoint:";

const FILE: &str = "the absolute path of a program or library";
const PLACE: &str = "a function, or a number of bytes from the start of the file";
const FUNCTION: &str = "a function or an address of the kernel";

/// Returns `true` for the characters of a path. A space is one, so that all paths without these can
/// be written.
fn is_path(c: char) -> bool {
    !c.is_control() && !matches!(c, ':' | ',' | '{' | '}')
}

/// Returns `true` for the characters of a function's name.
fn is_function(c: char) -> bool {
    is_path(c) && !c.is_whitespace() && !matches!(c, '/' | '+' | '%')
}

/// Parses a probe: its kind, the file for one of a program, the function with an offset, and
/// `%return`. `None` for any other event.
fn probe(cursor: &mut Cursor<'_>) -> Result<Option<Source>, ParseError> {
    let Some((_, is_kernel, is_return)) = KINDS.into_iter().find(|(prefix, ..)| cursor.take(prefix)) else {
        return Ok(None);
    };
    let file = if is_kernel { None } else { Some(file(cursor)?) };
    let function = cursor.expect_while(is_function, if is_kernel { FUNCTION } else { PLACE })?;
    let function = Spanned { node: function.node.to_owned(), span: function.span };
    let offset = if cursor.take("+") { cursor.number("a number of bytes")?.node } else { 0 };
    let is_return = cursor.take("%return") || is_return;
    Ok(Some(Source::Probe { file, function, offset, is_return }))
}

/// Consumes the path of a file and the colon after it.
fn file(cursor: &mut Cursor<'_>) -> Result<Spanned<String>, ParseError> {
    if cursor.peek() != Some('/') {
        return Err(cursor.error(FILE));
    }
    let path = cursor.take_while(is_path);
    if !cursor.take(":") {
        return Err(cursor.error("`:` and a function of the file"));
    }
    Ok(Spanned { node: path.node.to_owned(), span: path.span })
}

/// Returns `true` if a tracepoint is written with [`TRACEPOINT`], because `category:name` is
/// something else.
pub(super) fn is_taken(category: &str, name: &str) -> bool {
    let is = |prefix: &str| prefix.strip_suffix(':') == Some(category);
    let is_prefix = is(TRACEPOINT) || is(BREAKPOINT) || KINDS.iter().any(|(prefix, ..)| is(prefix));
    is_prefix || is_digits(category) || Modifiers::is_spelled(name) || catalog::attr_of(category).is_some()
}

/// The text before the address of a breakpoint.
const BREAKPOINT: &str = "mem:";

/// The letters of the accesses, in the order in which they are printed.
pub(super) const ACCESSES: [(char, BreakpointType); 3] =
    [('r', BreakpointType::READ), ('w', BreakpointType::WRITE), ('x', BreakpointType::EXECUTE)];

const EXPECTED: &str = "accesses (each of r, w, x at most once)";

/// Parses the text after `mem:`.
fn breakpoint(cursor: &mut Cursor<'_>) -> Result<Source, ParseError> {
    let address = cursor.number("the address of a breakpoint")?.node;
    let mut ahead = cursor.clone();
    // Terms start with a slash too, but not with a digit.
    let has_len = ahead.take("/") && ahead.peek().is_some_and(|c| c.is_ascii_digit());
    let len = if has_len {
        *cursor = ahead;
        Some(cursor.number("the length of a breakpoint in bytes")?.node)
    } else {
        None
    };
    Ok(Source::Breakpoint { address, len, access: access(cursor)? })
}

/// Consumes a colon and letters of accesses. Nothing if modifiers follow the colon.
fn access(cursor: &mut Cursor<'_>) -> Result<Option<BreakpointType>, ParseError> {
    let mut ahead = cursor.clone();
    if !ahead.take(":") {
        return Ok(None);
    }
    let run = ahead.take_while(|c| c.is_ascii_alphanumeric());
    // The whole word decides: no modifier has the letter of an access.
    if run.node.is_empty() || Modifiers::is_spelled(run.node) {
        return Ok(None);
    }
    let access = run.node.chars().try_fold(BreakpointType::EMPTY, |access, letter| {
        let (_, bit) = ACCESSES.iter().find(|(name, _)| *name == letter)?;
        (!access.intersects(*bit)).then_some(access | *bit)
    });
    let access = access.ok_or_else(|| cursor.error_at(run.span, EXPECTED))?;
    *cursor = ahead;
    Ok(Some(access))
}

const QUOTE: char = '\'';

/// Returns `true` for the characters of a term's name.
fn is_term_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Returns `true` for the characters of a value without quotes.
pub(super) fn is_value(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !matches!(c, ',' | '/' | '=' | QUOTE)
}

/// Returns `true` for the characters of a value between quotes.
fn is_quoted(c: char) -> bool {
    !c.is_control() && c != QUOTE
}

/// Parses terms up to the closing slash, which is consumed.
fn parse_terms(cursor: &mut Cursor<'_>) -> Result<Vec<Term>, ParseError> {
    let mut terms = Vec::new();
    cursor.skip_spaces();
    if cursor.take("/") {
        return Ok(terms);
    }
    loop {
        terms.push(parse_term(cursor)?);
        cursor.skip_spaces();
        if cursor.take("/") {
            return Ok(terms);
        }
        if !cursor.take(",") {
            return Err(cursor.error("`,`, `=` or the closing `/` of the terms"));
        }
        cursor.skip_spaces();
    }
}

fn parse_term(cursor: &mut Cursor<'_>) -> Result<Term, ParseError> {
    if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        return Err(cursor.error("the name of a term"));
    }
    let name = cursor.expect_while(is_term_name, "the name of a term")?;
    let name = Spanned { node: name.node.to_owned(), span: name.span };
    let value = if cursor.take("=") { Some(parse_value(cursor)?) } else { None };
    Ok(Term { name, value })
}

fn parse_value(cursor: &mut Cursor<'_>) -> Result<Spanned<String>, ParseError> {
    let start = cursor.offset();
    if !cursor.take("'") {
        let run = cursor.expect_while(is_value, "the value of the term")?;
        return Ok(Spanned { node: run.node.to_owned(), span: run.span });
    }
    let node = cursor.take_while(is_quoted).node.to_owned();
    if !cursor.take("'") {
        return Err(cursor.error("the closing `'` of the value"));
    }
    Ok(Spanned { node, span: cursor.span_from(start) })
}

/// Returns `true` if the text has the form of a number, which may be too large.
fn is_digits(text: &str) -> bool {
    match text.strip_prefix("0x") {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

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

    /// Returns the error that `expected` should be in place of `span`.
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
fn parse_hex(digits: &str) -> Option<u64> {
    // `from_str_radix` takes a sign.
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}
