//! Wildcards in names, as in the perf tool. The crates for paths differ: `glob` refuses `a**` and a
//! lone `[`, and `fast-glob` gives braces a meaning.

/// A pattern: `*` is any text, `?` any character, `[a-z]` one of a set, `[!a-z]` or `[^a-z]` one
/// that is not in the set. Every other character is itself. A `[` without `]` is itself.
///
/// Matching takes time proportional to the product of the two lengths at most, whatever the pattern
/// is.
#[derive(Clone, Debug)]
pub struct Glob {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text,
    Any,
    One(char),
    Set { is_negated: bool, ranges: Vec<(char, char)> },
}

impl Glob {
    /// Returns the pattern of this text. Every text is a pattern.
    pub fn new(pattern: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = pattern;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            let (part, after) = match c {
                '*' => (Part::Text, after),
                '?' => (Part::Any, after),
                '[' => set(after).unwrap_or((Part::One('['), after)),
                _ => (Part::One(c), after),
            };
            // Repeated stars are one star.
            if part != Part::Text || parts.last() != Some(&Part::Text) {
                parts.push(part);
            }
            rest = after;
        }
        Self { parts }
    }

    /// Returns `true` if the pattern has a wildcard, so that it may match several names.
    pub fn is_pattern(&self) -> bool {
        self.parts.iter().any(|part| !matches!(part, Part::One(_)))
    }

    /// Returns `true` if the pattern matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        let (mut parts, mut text) = (self.parts.as_slice(), text.chars());
        // The parts after the last star and the text from which they are tried next: only the last
        // star is ever tried again, because the shortest text for the earlier ones leaves the most.
        let mut retry: Option<(&[Part], std::str::Chars<'_>)> = None;
        loop {
            if let Some((Part::Text, after)) = parts.split_first() {
                parts = after;
                retry = Some((after, text.clone()));
                continue;
            }
            let mut ahead = text.clone();
            match (parts.split_first(), ahead.next()) {
                (None, None) => return true,
                (Some((part, after)), Some(c)) if part.matches(c) => (parts, text) = (after, ahead),
                _ => {
                    let Some((after, from)) = &mut retry else { return false };
                    if from.next().is_none() {
                        return false;
                    }
                    (parts, text) = (*after, from.clone());
                }
            }
        }
    }
}

impl Part {
    fn matches(&self, c: char) -> bool {
        match self {
            Self::Text | Self::Any => true,
            Self::One(one) => *one == c,
            Self::Set { is_negated, ranges } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) != *is_negated
            }
        }
    }
}

/// Parses a set after its `[`. A `]` at the start is a member.
fn set(text: &str) -> Option<(Part, &str)> {
    let members = text.strip_prefix(['!', '^']);
    let is_negated = members.is_some();
    let members = members.unwrap_or(text);
    let first = members.chars().next()?;
    let end = members.get(first.len_utf8()..)?.find(']')? + first.len_utf8();
    let mut ranges = Vec::new();
    let mut rest = members.get(..end)?.chars();
    while let Some(first) = rest.next() {
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) => {
                ranges.push((first, last));
                rest = ahead;
            }
            _ => ranges.push((first, first)),
        }
    }
    Some((Part::Set { is_negated, ranges }, members.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).matches(text)
    }

    #[test]
    fn star_is_any_text() {
        for text in ["", "a", "sched_switch"] {
            assert!(matches("*", text));
        }
        assert!(matches("sched_*", "sched_") && matches("sched_*", "sched_switch"));
        assert!(matches("*_switch", "sched_switch") && !matches("*_switch", "sched_switched"));
        assert!(matches("a*b*c", "aXbYbZc") && !matches("a*b*c", "aXbYbZ"));
        assert!(matches("**a**", "bab"));
    }

    #[test]
    fn question_mark_is_one_character() {
        assert!(matches("imc_?", "imc_0") && matches("imc_?", "imc_é"));
        assert!(!matches("imc_?", "imc_") && !matches("imc_?", "imc_10"));
    }

    #[test]
    fn set_is_one_of_its_characters() {
        assert!(matches("imc_[0-35]", "imc_2") && matches("imc_[0-35]", "imc_5"));
        assert!(!matches("imc_[0-35]", "imc_4"));
        for negated in ["[!0-3]", "[^0-3]"] {
            assert!(matches(negated, "4") && !matches(negated, "3") && !matches(negated, ""));
        }
        assert!(matches("[]-]", "]") && matches("[]-]", "-") && matches("[a-]", "-"));
    }

    #[test]
    fn bracket_without_an_end_is_itself() {
        assert!(matches("a[b", "a[b") && matches("[", "[") && matches("[!", "[!") && matches("[]", "[]"));
        assert!(!Glob::new("a[b").is_pattern());
    }

    #[test]
    fn only_wildcards_make_a_pattern() {
        assert!(!Glob::new("sched_switch").is_pattern() && !Glob::new("").is_pattern());
        assert!(["a*", "a?", "[a]"].iter().all(|pattern| Glob::new(pattern).is_pattern()));
        assert!(matches("", "") && !matches("", "a"));
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let (pattern, text) = ("a*".repeat(2000) + "b", "a".repeat(4000));
        assert!(!matches(&pattern, &text));
    }

    /// The definition, which takes exponential time.
    fn by_definition(parts: &[Part], text: &[char]) -> bool {
        match (parts.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((Part::Text, after)), None) => by_definition(after, text),
            (Some((Part::Text, after)), Some((_, rest))) => {
                by_definition(after, text) || by_definition(parts, rest)
            }
            (Some((part, after)), Some((c, rest))) => part.matches(*c) && by_definition(after, rest),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matching_is_that_of_the_definition(pattern in "[ab*?\\[\\]!-]{0,9}", text in "[ab\\]-]{0,9}") {
            let glob = Glob::new(&pattern);
            let chars: Vec<char> = text.chars().collect();
            prop_assert_eq!(glob.matches(&text), by_definition(&glob.parts, &chars));
        }

        #[test]
        fn text_matches_itself(text in "[a-z_:.é]{0,20}") {
            prop_assert!(matches(&text, &text));
        }
    }
}
