//! Errors of walks over malformed samples.

use perf_abi::{RecordType, SampleType};

use crate::error::Error;
use crate::schema::{Word, recorded};

/// The error of a walk over a malformed sample.
///
/// The walk of every sample reports only [`Malformed`]: building errors in the hot loop would raise
/// its register pressure. A sample that fails is walked once more for the [`Error`].
pub(crate) trait WalkError: Sized {
    /// `field` needs `needed` words and `found` are left.
    fn truncated(field: &'static str, needed: u64, found: u64) -> Self;

    /// `field` holds a value that makes the rest unreadable.
    fn invalid(field: &'static str, value: u64) -> Self;

    /// The words of `order` end after `present` of them.
    fn missing<const N: usize>(order: &[Word; N], wanted: SampleType, present: u64) -> Self {
        let mut fields = recorded(order, wanted);
        let field = fields.nth(present as usize).map_or("head", Word::name);
        <Self as WalkError>::truncated(field, 1, 0)
    }
}

/// A sample whose fields do not fit into it, without the reason.
pub(crate) struct Malformed;

impl WalkError for Malformed {
    #[inline(always)]
    fn truncated(_: &'static str, _: u64, _: u64) -> Self {
        Self
    }

    #[inline(always)]
    fn invalid(_: &'static str, _: u64) -> Self {
        Self
    }

    #[inline(always)]
    fn missing<const N: usize>(_: &[Word; N], _: SampleType, _: u64) -> Self {
        Self
    }
}

impl WalkError for Error {
    fn truncated(field: &'static str, needed: u64, found: u64) -> Self {
        Error::truncated(RecordType::SAMPLE, field, needed, found)
    }

    fn invalid(field: &'static str, value: u64) -> Self {
        Self::Invalid { kind: RecordType::SAMPLE, field, value }
    }
}
