//! Whether text for a terminal has colors, and the escape codes for them.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ValueEnum;

/// When output has colors. The values have no documentation, because the parser would print it in the help of every command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    // On a terminal, unless the environment forbids it.
    #[default]
    Auto,
    // Also in files and pipes.
    Always,
    Never,
}

/// The value of `--color`, which the commands do not pass on from one function to the next.
static CHOSEN: OnceLock<When> = OnceLock::new();

/// Sets when output has colors, once, before any is printed.
pub(crate) fn set(when: When) {
    // Called once; a second call would change nothing.
    let _ = CHOSEN.set(when);
}

/// Returns whether text for a stream has colors.
pub(crate) fn colored(stream: &impl IsTerminal) -> bool {
    let when = CHOSEN.get().copied().unwrap_or_default();
    let (no_color, term) = (env::var_os("NO_COLOR"), env::var_os("TERM"));
    decide(when, stream.is_terminal(), no_color.as_deref(), term.as_deref())
}

/// Returns whether there are colors. An empty `NO_COLOR` counts as not set
/// (<https://no-color.org>).
fn decide(when: When, is_terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => {
            let is_plain = no_color.is_some_and(|value| !value.is_empty());
            is_terminal && !is_plain && term != Some(OsStr::new("dumb"))
        }
    }
}

/// A color of the terminal. The colors differ in brightness too, so that the meaning never depends
/// on the hue alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    Green,
    Red,
    Yellow,
}

/// A text in a color, or as it is.
#[derive(Debug)]
pub(crate) struct Painted<T> {
    text: T,
    color: Option<Color>,
}

impl Color {
    /// Returns the text in this color if `is_colored`. Widths of the format apply to the text
    /// alone.
    pub(crate) fn paint<T: fmt::Display>(self, text: T, is_colored: bool) -> Painted<T> {
        Painted { text, color: is_colored.then_some(self) }
    }
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = match self.color {
            None => return self.text.fmt(f),
            Some(Color::Green) => 32,
            Some(Color::Red) => 31,
            Some(Color::Yellow) => 33,
        };
        write!(f, "\u{1b}[{code}m")?;
        self.text.fmt(f)?;
        f.write_str("\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_for_terminals_unless_the_user_says_otherwise() {
        let (no, xterm) = (Some(OsStr::new("1")), Some(OsStr::new("xterm")));
        assert!(decide(When::Auto, true, None, xterm));
        assert!(decide(When::Auto, true, Some(OsStr::new("")), xterm));
        assert!(!decide(When::Auto, true, no, xterm));
        assert!(!decide(When::Auto, false, None, xterm));
        assert!(!decide(When::Auto, true, None, Some(OsStr::new("dumb"))));
        assert!(decide(When::Always, false, no, None));
        assert!(!decide(When::Never, true, None, xterm));
    }

    #[test]
    fn width_is_that_of_the_text() {
        assert_eq!(format!("{:<4}|", Color::Red.paint("no", false)), "no  |");
        assert_eq!(format!("{:<4}|", Color::Red.paint("no", true)), "\u{1b}[31mno  \u{1b}[0m|");
    }
}
