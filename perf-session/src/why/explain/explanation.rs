use std::fmt;

use crate::system::FileError;
use crate::why::explain::Cause;

/// A value that was read from the system, and its file or other source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    source: String,
    value: String,
}

impl Evidence {
    pub(crate) fn new(source: impl Into<String>, value: impl fmt::Display) -> Self {
        Self { source: source.into(), value: value.to_string() }
    }

    /// Returns the value of a file, or its error.
    pub(crate) fn of_file<T: fmt::Display>(path: &str, value: Result<T, &FileError>) -> Self {
        match value {
            Ok(value) => Self::new(path, value),
            Err(error) => {
                let found = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                Self::new(path, format_args!("not readable ({found})"))
            }
        }
    }

    /// Returns the path of the file, or the name of the attempt.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the value that was found.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.value)
    }
}

/// The reason why an event did not open or a ring was not mapped, the values that show it, and the remedy.
///
/// `Display` prints three lines: `cause`, `evidence`, `remedy`. `{:#}` prints one, for a log: the cause, a semicolon
/// and the remedy.
///
/// The texts are for the users of a program. They name event modifiers such as `:u`, sysctls and capabilities, and
/// not the flags of an attr; for these see the [`Cause`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    cause: Cause,
    text: String,
    evidence: Vec<Evidence>,
    remedy: String,
}

impl Explanation {
    pub(crate) fn new(cause: Cause, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { cause, text: text.into(), evidence: Vec::new(), remedy: remedy.into() }
    }

    #[must_use]
    pub(crate) fn with(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }

    /// Returns the kind of the cause.
    pub fn cause(&self) -> Cause {
        self.cause
    }

    /// Returns `true` unless the cause is unknown.
    pub fn is_known(&self) -> bool {
        self.cause != Cause::Unknown
    }

    /// Returns the cause as text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the values that show the cause.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// Returns the cause and the remedy in one line, as `{:#}` prints it.
    pub fn line(&self) -> String {
        format!("{self:#}")
    }

    /// Returns the remedy.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return write!(f, "{}; {}", self.text, self.remedy);
        }
        write!(f, "cause     {}\nevidence  ", self.text)?;
        let mut separator = "";
        for evidence in &self.evidence {
            write!(f, "{separator}{evidence}")?;
            separator = "; ";
        }
        if self.evidence.is_empty() {
            f.write_str("no value")?;
        }
        write!(f, "\nremedy    {}", self.remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanation_prints_three_lines_or_one() {
        let explanation = Explanation::new(Cause::Paranoid, "the level", "lower it")
            .with(Evidence::new("/proc/a", 2))
            .with(Evidence::new("/proc/b", "x"));
        let expected = "cause     the level\nevidence  /proc/a: 2; /proc/b: x\nremedy    lower it";
        assert_eq!(explanation.to_string(), expected);
        assert_eq!(explanation.line(), "the level; lower it");
        let unknown = Explanation::new(Cause::Unknown, "unknown", "none").to_string();
        assert_eq!(unknown.lines().nth(1), Some("evidence  no value"));
    }
}
