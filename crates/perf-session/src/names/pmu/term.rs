//! Terms of a PMU's event.

use std::fmt;

use crate::system::excerpt;

/// One term of a PMU's event: `event=0xc0`, or a name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PmuTerm<'t> {
    /// The text before `=`.
    pub name: &'t str,
    /// The text after `=`, or `None` without `=`.
    pub value: Option<&'t str>,
}

impl<'t> PmuTerm<'t> {
    /// Parses terms that are separated by commas: the content of a file in `events/`. Blank text
    /// has no terms.
    ///
    /// # Errors
    ///
    /// A name or the value after `=` is missing.
    pub fn parse_list(text: &'t str) -> Result<Vec<Self>, PmuTermError> {
        if text.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        text.split(',').map(|term| Self::parse(term.trim_ascii())).collect()
    }

    fn parse(text: &'t str) -> Result<Self, PmuTermError> {
        let error = || PmuTermError { found: excerpt(text.as_bytes()) };
        let is_word =
            |word: &str| !word.is_empty() && !word.contains(|c: char| c == '=' || c.is_whitespace());
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim_ascii_end(), Some(value.trim_ascii_start())),
            None => (text, None),
        };
        if !is_word(name) || !value.is_none_or(is_word) {
            return Err(error());
        }
        Ok(Self { name, value })
    }
}

impl fmt::Display for PmuTerm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{}={value}", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// A text that is not a list of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PmuTermError {
    found: String,
}

impl fmt::Display for PmuTermError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "terms of an event: expected `name` or `name=value`, found {}", self.found)
    }
}

impl std::error::Error for PmuTermError {}

crate::std_error::into_std!(no_errno PmuTermError, InvalidInput);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn term<'t>(name: &'t str, value: Option<&'t str>) -> PmuTerm<'t> {
        PmuTerm { name, value }
    }

    #[test]
    fn terms_are_names_with_or_without_a_value() {
        let terms = PmuTerm::parse_list("event=0xc0, edge ,umask = 1,x=?\n").unwrap();
        let expected =
            [term("event", Some("0xc0")), term("edge", None), term("umask", Some("1")), term("x", Some("?"))];
        assert_eq!(terms, expected);
        for blank in ["", " \n"] {
            assert_eq!(PmuTerm::parse_list(blank), Ok(Vec::new()));
        }
    }

    #[test]
    fn missing_names_and_values_are_errors() {
        for (text, found) in [
            ("event=1,", "nothing"),
            (",event=1", "nothing"),
            ("event=", "`event=`"),
            ("=1", "`=1`"),
            ("event=1=2", "`event=1=2`"),
            ("event 1", "`event 1`"),
            ("event=1 2", "`event=1 2`"),
        ] {
            let error = PmuTerm::parse_list(text).unwrap_err().to_string();
            let expected = format!("terms of an event: expected `name` or `name=value`, found {found}");
            assert_eq!(error, expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_is_the_identity(words in prop::collection::vec(("[a-zA-Z0-9_.:-]{1,8}", "[a-z0-9?]{0,5}"), 0..6)) {
            let terms: Vec<_> = words.iter().map(|(name, value)| term(name, Some(value.as_str()).filter(|value| !value.is_empty()))).collect();
            let text = terms.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            prop_assert_eq!(PmuTerm::parse_list(&text), Ok(terms));
        }
    }
}
