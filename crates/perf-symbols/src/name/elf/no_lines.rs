//! Why an address has no line.

use std::fmt;

/// Why the line and the inlined functions of an address are unknown although the file has debug
/// information: returned by [`Symbols::no_lines`](crate::Symbols::no_lines).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoLines {
    /// A part of the debug information is in a supplementary file (`dwz -m`) that was not found. If
    /// the name of an inlined function is in that file, its samples count for its caller.
    Supplementary,
    /// The inlined functions are in a `.dwo` or `.dwp` file (`-gsplit-dwarf`) that was not found.
    Split,
    /// The file is relocatable (`ld -r`), so that its debug information has no addresses.
    Relocatable,
    /// The debug information is larger than [the limit](crate::Symbolizer::with_max_file_bytes).
    TooLarge,
    /// The debug information is damaged or compressed by an unknown method.
    Damaged,
    /// The debug information nests functions deeper, or refers to itself more often, than compilers
    /// do. Reading it could take unbounded memory.
    Excessive,
    /// Reading took longer than the size of the file allows.
    Slow,
    /// The library that reads the debug information panicked.
    Panicked,
}

impl NoLines {
    /// Returns true if the reason holds for all later addresses of the file.
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
