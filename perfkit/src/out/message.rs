//! Messages to the user.

use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::io::{self, Write};

use perf_decode::breaks_line;

use crate::out::interrupt::wait_until_writable;

/// Prints a message to standard error.
pub(crate) fn note(text: impl fmt::Display) {
    print(format_args!("perfkit: {text}"));
}

/// Prints a text to standard error after [`plain`] has escaped it.
pub(crate) fn print(text: impl fmt::Display) {
    let text = plain(&text.to_string()) + "\n";
    if wait_until_writable(&io::stderr()).unwrap_or(true) {
        // Without standard error there is nowhere to report this.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Returns a text as it may be printed to a terminal: control characters are escaped, except
/// newlines and tabs, and the number of an errno, which the standard library adds to its
/// description, is left out.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in without_numbers(text).chars() {
        match character {
            '\n' | '\t' => plain.push(character),
            _ if breaks_line(character) => plain.extend(character.escape_default()),
            _ => plain.push(character),
        }
    }
    plain
}

/// Returns `; the nearest is NAME`, or nothing if none is like the wanted one.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = perf_session::nearest(wanted, names);
    nearest.first().map_or_else(String::new, |name| format!("; the nearest is {name}"))
}

/// Returns a name from the command line as one line of text without control characters.
pub(crate) fn shown(name: impl AsRef<OsStr>) -> String {
    let mut shown = String::new();
    for character in name.as_ref().to_string_lossy().chars() {
        if breaks_line(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Returns the first line of a message: an error of an event string has lines that point into it.
pub(crate) fn first_line(text: impl fmt::Display) -> String {
    text.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Returns the last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns a number of bytes with a unit.
pub(crate) fn size(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss)] // printed with one decimal
    let float = bytes as f64;
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{:.0} kB", float / 1e3),
        _ => format!("{:.1} MB", float / 1e6),
    }
}

/// Returns a value as one line of JSON, in which the characters are escaped that [`plain`] escapes.
/// JSON itself permits DEL, control characters above ASCII and direction marks in a string.
pub(crate) fn json(value: &serde_json::Value) -> String {
    let text = value.to_string();
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        // They are in strings only, and none needs two of these escapes.
        if breaks_line(character) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Returns an error with the name of the file before its description.
pub(crate) fn of_file(path: impl AsRef<OsStr>, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", shown(path)))
}

/// Returns a number as text: sums that do not fit are at least the largest one.
pub(crate) fn number(number: u64) -> String {
    let least = if number == u64::MAX { "at least " } else { "" };
    format!("{least}{number}")
}

/// Returns a number with its noun, in the plural if it is not 1.
pub(crate) fn count(count: u64, noun: &str) -> String {
    let ending = match noun {
        _ if count == 1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", number(count))
}

/// Returns ns as ms with three decimals, rounded as the perf tool rounds them.
pub(crate) fn milliseconds(ns: u64) -> String {
    let us = ns / 1000 + u64::from(ns % 1000 >= 500);
    format!("{}.{:03}", us / 1000, us % 1000)
}

/// Removes each ` (os error N)`.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => kept.push_str(rest),
            _ => {
                kept.push_str(" (os error ");
                kept.push_str(part);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            plain("a\u{1b}[31m\tb\nc\u{9b}\u{2028}\u{202e}"),
            "a\\u{1b}[31m\tb\nc\\u{9b}\\u{2028}\\u{202e}"
        );
        assert_eq!(shown("a\nb\u{7}"), "a\\nb\\u{7}");
        let value = serde_json::json!({"n\u{7f}": "a\u{1b}\n\u{9b}\u{2029}\u{202e}\u{fc}"});
        let line = json(&value);
        assert_eq!(line, r#"{"n\u007f":"a\u001b\n\u009b\u2029\u202eü"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    }

    #[test]
    fn times_are_in_ms_with_three_decimals() {
        assert_eq!([0, 499, 500, 1_499_500].map(milliseconds), ["0.000", "0.000", "0.001", "1.500"]);
        assert_eq!(milliseconds(u64::MAX), "18446744073709.552");
    }

    #[test]
    fn number_of_the_errno_is_left_out() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(
            plain(&format!("{error}: x; {error}")),
            "No such file or directory: x; No such file or directory"
        );
        assert_eq!(plain("x (os error y)"), "x (os error y)");
    }
}
