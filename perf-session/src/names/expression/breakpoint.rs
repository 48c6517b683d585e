use perf_sys::BreakpointType;

use super::cursor::Cursor;
use super::{Modifiers, ParseError, Source};

/// The text before the address of a breakpoint.
pub(super) const PREFIX: &str = "mem:";

/// The letters of the accesses, in the order in which they are printed.
pub(super) const ACCESSES: [(char, BreakpointType); 3] =
    [('r', BreakpointType::READ), ('w', BreakpointType::WRITE), ('x', BreakpointType::EXECUTE)];

const EXPECTED: &str = "accesses (each of r, w, x at most once)";

/// Parses the text after `mem:`.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Source, ParseError> {
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
