use super::cursor::Cursor;
use super::term::is_digits;
use super::{Modifiers, ParseError, Source, Spanned};
use crate::names::catalog;

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

/// Returns `true` for the characters of a path. A space is one, so that all paths without these can be written.
fn is_path(c: char) -> bool {
    !c.is_control() && !matches!(c, ':' | ',' | '{' | '}')
}

/// Returns `true` for the characters of a function's name.
fn is_function(c: char) -> bool {
    is_path(c) && !c.is_whitespace() && !matches!(c, '/' | '+' | '%')
}

/// Parses a probe: its kind, the file for one of a program, the function with an offset, and `%return`. `None` for
/// any other event.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Source>, ParseError> {
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

/// Returns `true` if a tracepoint is written with [`TRACEPOINT`], because `category:name` is something else.
pub(super) fn is_taken(category: &str, name: &str) -> bool {
    let is = |prefix: &str| prefix.strip_suffix(':') == Some(category);
    let is_prefix =
        is(TRACEPOINT) || is(super::breakpoint::PREFIX) || KINDS.iter().any(|(prefix, ..)| is(prefix));
    is_prefix || is_digits(category) || Modifiers::is_spelled(name) || catalog::attr_of(category).is_some()
}
