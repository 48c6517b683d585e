//! The stacks of a flame graph, in the order in which they are drawn.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io;

use perf_profile::{Folded, Profile, UNKNOWN};

use crate::out::message::shown;

/// A stack with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its frames, outermost first, between semicolons.
    pub(super) stack: String,
    /// The value in the recording that is drawn.
    pub(super) value: u64,
    /// The value in the base of a comparison, 0 without one.
    pub(super) base: u64,
}

impl Line {
    /// Returns the order by frames. In text order, a stack and its callees are not always
    /// neighbors: `a::b` is between `a` and `a;b`.
    fn compare(&self, other: &Self) -> Ordering {
        self.stack.split(';').cmp(other.stack.split(';'))
    }
}

/// Returns the stacks of a profile, sorted by their frames.
pub(super) fn lines(profile: &Profile, folded: &Folded) -> io::Result<Vec<Line>> {
    let mut text = Vec::new();
    folded.write(profile, &mut text)?;
    let mut lines = Vec::new();
    for line in String::from_utf8_lossy(&text).lines() {
        let Some((stack, value)) = line.rsplit_once(' ') else { continue };
        let frames: Vec<_> = stack.split(';').map(frame).collect();
        let value = value.parse().map_err(io::Error::other)?;
        lines.push(Line { stack: frames.join(";"), value, base: 0 });
    }
    lines.sort_unstable_by(Line::compare);
    Ok(lines)
}

/// Joins the stacks of a recording with the stacks of its base. Both are sorted, and so is the
/// result.
pub(super) fn join(base: Vec<Line>, lines: Vec<Line>) -> Vec<Line> {
    let as_base = base.into_iter().map(|line| Line { base: line.value, value: 0, ..line });
    let mut joined: Vec<Line> = as_base.chain(lines).collect();
    joined.sort_by(Line::compare);
    joined.dedup_by(|line, kept| {
        let is_same = line.stack == kept.stack;
        if is_same {
            kept.value = kept.value.saturating_add(line.value);
            kept.base = kept.base.saturating_add(line.base);
        }
        is_same
    });
    joined
}

/// Puts the innermost frame of each stack first.
pub(super) fn reverse(lines: &mut [Line]) {
    for line in lines.iter_mut() {
        line.stack = line.stack.rsplit(';').collect::<Vec<_>>().join(";");
    }
    lines.sort_unstable_by(Line::compare);
}

/// Returns the name of a frame as inferno takes it and XML may have it.
///
/// Inferno takes a number after a blank for a value, and a line that begins with `# ` for a
/// comment, so each blank becomes a no-break space. Inferno also removes white space around a
/// stack.
fn frame(name: &str) -> Cow<'_, str> {
    let name = match name.trim() {
        "" => UNKNOWN,
        name => name,
    };
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let blank = match name.rsplit_once(' ') {
        Some((before, last)) if is_number(last) => Some(before.len()),
        _ if name.starts_with("# ") => Some(1),
        _ => None,
    };
    let parts = blank.and_then(|blank| Some((name.get(..blank)?, name.get(blank + 1..)?)));
    let name = match parts {
        Some((before, after)) => Cow::Owned(format!("{before}\u{a0}{after}")),
        None => Cow::Borrowed(name),
    };
    if name.is_ascii() { name } else { Cow::Owned(text(&name)) }
}

/// Returns a text without characters that control a terminal or a browser, or that XML does not
/// permit.
pub(super) fn text(text: &str) -> String {
    shown(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(stack: &str, value: u64, base: u64) -> Line {
        Line { stack: stack.to_owned(), value, base }
    }

    #[test]
    fn frame_is_neither_a_value_nor_a_comment_nor_a_control() {
        assert_eq!(frame("operator new(unsigned long)"), "operator new(unsigned long)");
        assert_eq!(frame("lambda 12"), "lambda\u{a0}12");
        assert_eq!(frame("a b 1.5"), "a b\u{a0}1.5");
        assert_eq!(frame("# x"), "#\u{a0}x");
        assert_eq!(frame("a\u{202e}b\u{ffff}"), "a\\u{202e}b\u{fffd}");
        assert_eq!(frame(" \u{2003}"), UNKNOWN);
        assert_eq!(frame("x "), "x");
    }

    #[test]
    fn stack_is_beside_its_callees() {
        let mut lines = [line("a;b", 1, 0), line("a::c", 1, 0), line("a", 1, 0), line("a (x)", 1, 0)];
        lines.sort_by(Line::compare);
        let stacks: Vec<_> = lines.iter().map(|line| line.stack.as_str()).collect();
        assert_eq!(stacks, ["a", "a;b", "a (x)", "a::c"]);
    }

    #[test]
    fn joined_stacks_have_both_values() {
        let base = vec![line("a;b", 3, 0), line("a;gone", 4, 0)];
        let joined = join(base, vec![line("a;b", 5, 0), line("a;new", 6, 0)]);
        assert_eq!(joined, [line("a;b", 5, 3), line("a;gone", 0, 4), line("a;new", 6, 0)]);
    }

    #[test]
    fn reversed_stacks_are_sorted_by_the_innermost_frame() {
        let mut lines = vec![line("a;b;z", 1, 0), line("a;y", 2, 0)];
        reverse(&mut lines);
        assert_eq!(lines, [line("y;a", 2, 0), line("z;b;a", 1, 0)]);
    }
}
