use perf_abi::{RecordType, SampleType};

use crate::Error;

/// What a walk says of a sample that is not whole.
///
/// The walk that every sample takes says only that, or the making of errors would take the registers
/// that the decoding needs. A sample that fails is walked once more for the [`Error`].
pub(crate) trait Fault: Sized {
    /// `field` needs `needed` words and `found` are left.
    fn truncated(field: &'static str, needed: u64, found: u64) -> Self;

    /// `field` holds a value that makes the rest unreadable.
    fn invalid(field: &'static str, value: u64) -> Self;

    /// `words` words are left behind the last field.
    fn surplus(words: u64) -> Self;

    /// The fixed words in `order` end after `present` of them.
    fn missing<const N: usize>(
        order: &[(SampleType, &'static str); N],
        wanted: SampleType,
        present: u64,
    ) -> Self {
        let mut fields = order.iter().filter(|(bit, _)| bit.intersects(wanted));
        let field = fields.nth(present as usize).map_or("head", |(_, name)| name);
        Self::truncated(field, 1, 0)
    }
}

/// The sample is not whole, for whatever reason.
pub(crate) struct NotWhole;

impl Fault for NotWhole {
    #[inline(always)]
    fn truncated(_: &'static str, _: u64, _: u64) -> Self {
        Self
    }

    #[inline(always)]
    fn invalid(_: &'static str, _: u64) -> Self {
        Self
    }

    #[inline(always)]
    fn surplus(_: u64) -> Self {
        Self
    }

    #[inline(always)]
    fn missing<const N: usize>(_: &[(SampleType, &'static str); N], _: SampleType, _: u64) -> Self {
        Self
    }
}

impl Fault for Error {
    fn truncated(field: &'static str, needed: u64, found: u64) -> Self {
        let (needed, found) = (needed.saturating_mul(8), found * 8);
        Self::Truncated { kind: RecordType::SAMPLE, field, needed, found }
    }

    fn invalid(field: &'static str, value: u64) -> Self {
        Self::Invalid { kind: RecordType::SAMPLE, field, value }
    }

    fn surplus(words: u64) -> Self {
        Self::Surplus { kind: RecordType::SAMPLE, found: words * 8 }
    }
}
