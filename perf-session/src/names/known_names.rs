//! Lists of names in errors.

use std::fmt;

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

    #[test]
    fn long_lists_are_bounded() {
        let names = |count: usize| (0..count).map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(KnownNames(&names(0)).to_string(), "(none)");
        assert_eq!(KnownNames(&names(3)).to_string(), "0, 1, 2");
        assert!(KnownNames(&names(40)).to_string().ends_with(", 38, 39"));
        assert!(KnownNames(&names(42)).to_string().ends_with(", 38, 39 and 2 more"));
    }
}
