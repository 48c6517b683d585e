use super::cursor::{Cursor, parse_hex};
use super::term::{is_digits, parse_terms};
use super::{Event, Modifiers, ParseError, Source, Spanned, breakpoint, probe};
use crate::names::{catalog, pmu};

/// Returns `true` for the characters of the name of an event, PMU or tracepoint.
pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '*' | '?' | '[' | ']' | '!' | '^')
}

/// Parses one event.
pub(super) fn parse_event(cursor: &mut Cursor<'_>) -> Result<Event, ParseError> {
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
    if cursor.take(breakpoint::PREFIX) {
        return breakpoint::parse(cursor);
    }
    if let Some(probe) = probe::parse(cursor)? {
        return Ok(probe);
    }
    if cursor.take(probe::TRACEPOINT) {
        let category = cursor.expect_while(is_name, "the category of a tracepoint")?;
        if !cursor.take(":") {
            return Err(cursor.error("`:` and the name of the tracepoint"));
        }
        let name = cursor.expect_while(is_name, "the name of a tracepoint")?;
        return Ok(Source::Tracepoint { category: category.node.to_owned(), name: name.node.to_owned() });
    }
    // `a:b` is `TYPE:CONFIG`, a name with modifiers or a tracepoint, so both words are looked at before one is consumed.
    let first = cursor.expect_while(is_name, "an event")?;
    let mut ahead = cursor.clone();
    let second = if ahead.take(":") { ahead.take_while(is_name) } else { Spanned::default() };
    if is_digits(first.node) {
        let source = parse_number(cursor, first, second)?;
        *cursor = ahead;
        return Ok(source);
    }
    let is_generic = catalog::attr_of(first.node).is_some();
    // `sched:pp` could be both. Like the perf tool, it is an event with modifiers; `tracepoint:` says otherwise. After a
    // generic event no tracepoint follows, so that wrong modifiers are named as such.
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
    let fitting = pmu::number(kind.node).and_then(|kind| u32::try_from(kind).ok());
    let kind = fitting.ok_or_else(|| cursor.error_at(kind.span, "a type of at most 32 bits"))?;
    let fitting = pmu::number(config.node);
    let config = fitting.ok_or_else(|| cursor.error_at(config.span, "a number of at most 64 bits"))?;
    Ok(Source::Number { kind, config })
}

/// Returns the digits of a name that has the form of a raw event.
pub(super) fn raw_digits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix('r')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}
