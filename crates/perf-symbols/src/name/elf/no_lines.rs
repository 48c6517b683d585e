//! Why an address has no line.

use std::fmt;

/// Why the line of an address and its inlined functions are unknown, although the file has debug information: returned by
/// [`Symbols::no_lines`](crate::Symbols::no_lines).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoLines {
    /// A part of the debug information is in a supplementary file (`dwz -m`), which was not found. The name of an inlined
    /// function may be there: its time is the caller's.
    Supplementary,
    /// The inlined functions are in a `.dwo` or `.dwp` file (`-gsplit-dwarf`), which was not found.
    Split,
    /// The file was linked only in part: its debug information has no addresses.
    Relocatable,
    /// It is larger than [the limit](crate::Symbolizer::with_max_file_bytes).
    TooLarge,
    /// It is damaged, or compressed by an unknown method.
    Damaged,
    /// It nests functions deeper, or uses parts of itself more often, than compilers do, which would take any amount of
    /// memory.
    Excessive,
    /// To read it took longer than its size allows.
    Slow,
    /// The library that reads it panicked.
    Panicked,
}

impl NoLines {
    /// Returns whether the file is not asked for other lines.
    pub(super) fn is_of_all_addresses(self) -> bool {
        matches!(self, Self::Slow | Self::Panicked)
    }
}

impl fmt::Display for NoLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Supplementary => "the supplementary debug file (dwz) is missing; install its debug package",
            Self::Split => "the file with the split debug information (.dwo, .dwp) is missing",
            Self::Relocatable => "the file was not linked",
            Self::TooLarge => "the debug information is larger than the limit",
            Self::Damaged => "the debug information is damaged",
            Self::Excessive => "the debug information is nested deeper than compilers write it",
            Self::Slow => "reading the debug information took too long",
            Self::Panicked => "reading the debug information panicked",
        })
    }
}

impl std::error::Error for NoLines {}
