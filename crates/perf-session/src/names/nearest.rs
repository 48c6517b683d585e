//! The names nearest to one that does not exist.

use std::fmt;

/// The names that an error lists, at most.
pub(in crate::names) const LISTED: usize = 5;

/// The characters of a name that are compared, at most: the comparison takes quadratic time.
const COMPARED: usize = 64;

/// The similarity from which a name is listed, between 0 and 1.
const SIMILAR: f64 = 0.75;

/// Returns up to five names that are most like `wanted`, the nearest first, equals in the order of
/// `names`. Case is ignored, `_` equals `-`, and the first 64 characters are compared.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = key(wanted);
    let mut similar: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (similarity(&wanted, &key(name)), name))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .collect();
    similar.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    similar.dedup_by_key(|(_, name)| *name);
    similar.into_iter().take(LISTED).map(|(_, name)| name.to_owned()).collect()
}

fn key(name: &str) -> String {
    name.chars().take(COMPARED).map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn similarity(wanted: &str, name: &str) -> f64 {
    // Edits alone rate a name low that was left unfinished. The second measure rates names by their
    // beginning, and all of them higher, hence the deduction.
    strsim::normalized_damerau_levenshtein(wanted, name).max(strsim::jaro_winkler(wanted, name) - 0.1)
}

/// The names that an error prints, at most.
const MOST: usize = 40;

/// Names in one line: `cpu, msr, software`, without those after the fortieth.
pub(in crate::names) struct KnownNames<'a>(pub(crate) &'a [String]);

impl fmt::Display for KnownNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for name in self.0.iter().take(MOST) {
            write!(f, "{comma}{}", name.escape_debug())?;
            comma = ", ";
        }
        match self.0.len() {
            0 => f.write_str("(none)"),
            len if len > MOST => write!(f, " and {} more", len - MOST),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["cycles", "cpu-cycles", "instructions", "cs", "context-switches"];

    #[test]
    fn nearest_name_is_the_first() {
        assert_eq!(nearest("cycels", NAMES)[0], "cycles");
        assert_eq!(nearest("Context_Switch", NAMES), ["context-switches"]);
    }

    #[test]
    fn names_that_are_not_similar_are_left_out() {
        assert!(nearest("zzzzz", NAMES).is_empty());
        assert!(nearest("", NAMES).is_empty());
        // The same beginning alone is not enough.
        assert!(nearest("interrupts", NAMES).is_empty());
    }

    #[test]
    fn no_more_than_five_names_are_listed() {
        let names = ["aaaaab", "aaaaac", "aaaaad", "aaaaae", "aaaaaf", "aaaaag"];
        assert_eq!(nearest("aaaaaa", names).len(), LISTED);
    }

    #[test]
    fn long_names_are_compared_by_their_first_characters() {
        let long = "a".repeat(1 << 20);
        assert_eq!(nearest(&long, [long.as_str()]).len(), 1);
    }

    #[test]
    fn long_lists_are_bounded() {
        let names = |count: usize| (0..count).map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(KnownNames(&names(0)).to_string(), "(none)");
        assert_eq!(KnownNames(&names(3)).to_string(), "0, 1, 2");
        assert!(KnownNames(&names(40)).to_string().ends_with(", 38, 39"));
        assert!(KnownNames(&names(42)).to_string().ends_with(", 38, 39 and 2 more"));
    }
}
