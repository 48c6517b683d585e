//! Strings that live as long as the process.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Interned strings, so that memory is bounded by the number of different units and notes.
static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Interns a string for criterion's formatter. Also returns whether it is new.
fn keep(text: &str) -> (&'static str, bool) {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return (known, false);
    }
    let new: &'static str = String::leak(text.to_owned());
    texts.insert(new);
    (new, true)
}

/// Interns a string.
pub(crate) fn to_static(text: &str) -> &'static str {
    keep(text).0
}

/// Prints a line on standard error, each text once per process.
pub(crate) fn note(text: impl Display) {
    let (text, is_new) = keep(&format!("criterion-perf: {text}"));
    if is_new {
        // Unlike `eprintln`, does not panic if standard error is closed.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once() {
        let (first, is_new) = keep(&format!("a text of this test, {}", 1));
        assert!(is_new);
        let (second, is_new) = keep("a text of this test, 1");
        assert!(std::ptr::eq(first, second) && !is_new);
    }
}
