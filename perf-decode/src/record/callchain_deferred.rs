use super::check::Body;
use crate::{Layout, Result};

view! {
    /// The user part of callchains that were sampled in the kernel. Written for events with
    /// `defer_output`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u64 cookie` |
    /// | 2 | `u64 nr` |
    /// | 3.. | `u64 ips[nr]` |
    ///
    /// It belongs to every earlier sample of the task whose callchain ends in a deferred marker and
    /// this cookie. The kernel never writes the record if the task was killed or the ring was full.
    /// Since Linux 6.19.
    #[doc(alias = "PERF_RECORD_CALLCHAIN_DEFERRED")]
    CallchainDeferred: 3 words;
}

impl<'a, L: Layout> CallchainDeferred<'a, L> {
    /// Returns the cookie that this record and its samples share; it has no other meaning.
    #[inline]
    #[must_use]
    pub fn cookie(&self) -> u64 {
        self.0.fixed()[1]
    }

    /// Returns the user addresses, innermost first, without a context marker.
    #[inline]
    #[must_use]
    pub fn ips(&self) -> &'a [u64] {
        self.0.tail().get(..self.0.fixed()[2] as usize).unwrap_or(&[])
    }

    pub(super) fn unclaimed_words(&self) -> usize {
        self.0.tail().len().saturating_sub(self.ips().len())
    }
}

pub(super) fn end(body: Body<'_>) -> Result<&[u64]> {
    body.needs("ips", CallchainDeferred::WORDS, body.word(2))
}
