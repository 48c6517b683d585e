use std::borrow::Cow;
use std::fmt;

use perf_sys::{Attr, Errno};

use super::field;

/// A rule that an attr or target breaks: the field, the value found, the rule, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    field: &'static str,
    found: String,
    expected: Cow<'static, str>,
    remedy: Cow<'static, str>,
    errno: Errno,
}

impl Violation {
    pub(super) fn new(
        field: &'static str,
        found: impl fmt::Display,
        expected: impl Into<Cow<'static, str>>,
        remedy: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (expected, remedy) = (expected.into(), remedy.into());
        Self { field, found: found.to_string(), expected, remedy, errno: Errno::EINVAL }
    }

    /// Returns the violation of a rule of `perf-sys`, whose text has the remedy after a colon, or is one.
    pub(super) fn of_rule(attr: &Attr, name: &'static str, rule: &'static str) -> Self {
        let (expected, remedy) = rule.split_once(": ").unwrap_or((rule, rule));
        Self::new(name, field::value(attr, name), expected, remedy)
    }

    #[must_use]
    pub(super) fn with_errno(self, errno: Errno) -> Self {
        Self { errno, ..self }
    }

    /// Returns the field of the attr, or `cpu` of the target.
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// Returns the value that was found.
    pub fn found(&self) -> &str {
        &self.found
    }

    /// Returns the rule.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns the remedy.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }

    /// Returns the errno of the system call.
    pub fn errno(&self) -> Errno {
        self.errno
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected: {}, found {}", self.field, self.expected, self.found)?;
        if self.remedy == self.expected { Ok(()) } else { write!(f, "; {}", self.remedy) }
    }
}
