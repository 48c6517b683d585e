//! When code that a program wrote at run time took the place of other code.

use std::ops::Range;

/// The changes of the code of a process, by its jitdump: returned by
/// [`Symbolizer::code_changes`](crate::Symbolizer::code_changes).
///
/// A name belongs to an address and a time. Who keeps names by the address asks again after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeChanges {
    /// In the order of time.
    pub changes: Vec<CodeChange>,
    /// Whether their times are of `CLOCK_MONOTONIC`, so that [`Query::with_monotonic_time`](crate::Query::with_monotonic_time)
    /// finds the code of that time. Otherwise the last code counts.
    pub has_monotonic_time: bool,
}

/// A change of the code at some addresses: a function was written there, or moved away.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeChange {
    /// In ns, or in units of the file's clock.
    pub time: u64,
    /// Of the process.
    pub addresses: Range<u64>,
    /// Whether a function of another name was at some of them before.
    pub is_reuse: bool,
}
