use std::fmt;

/// A text that is no list of CPUs: the offset of the first wrong character, and the text expected there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CpuListError {
    /// The offset in bytes.
    pub offset: usize,
    /// The text that was expected there.
    pub expected: &'static str,
}

impl fmt::Display for CpuListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPU list: expected {} at offset {}; write it as `0-3,8`", self.expected, self.offset)
    }
}

impl std::error::Error for CpuListError {}

crate::std_error::into_std!(no_errno CpuListError, InvalidInput);
