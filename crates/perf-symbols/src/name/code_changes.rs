//! When a program replaced code that it had written at run time.

use std::ops::Range;

/// The code changes of a process, from its jitdump: returned by
/// [`Symbolizer::code_changes`](crate::Symbolizer::code_changes).
///
/// A name belongs to an address and a time. Discard names that you cached by address after a change
/// of that address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeChanges {
    /// In time order.
    pub changes: Vec<CodeChange>,
    /// True if the times are `CLOCK_MONOTONIC`, so that
    /// [`Query::with_monotonic_time`](crate::Query::with_monotonic_time) finds the code of that
    /// time. Otherwise the last code is used.
    pub has_monotonic_time: bool,
}

/// A change of the code at some addresses: a function was written there, or moved away.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeChange {
    /// In ns if [`CodeChanges::has_monotonic_time`], otherwise in units of the file's clock.
    pub time: u64,
    /// Addresses in the process.
    pub addresses: Range<u64>,
    /// True if a function of another name was at some of these addresses before.
    pub is_reuse: bool,
}
