use perf_abi::NamespaceLink;

use super::check::Body;
use crate::{Entries, Layout, Result, word};

view! {
    /// The namespaces of a task, after fork(2), unshare(2) or setns(2). Written for events with
    /// `namespaces`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u32 pid, u32 tid` |
    /// | 2 | `u64 nr_namespaces` |
    /// | 3.. | `{ u64 dev, u64 inode }` for each |
    ///
    /// Since Linux 4.12.
    #[doc(alias = "PERF_RECORD_NAMESPACES")]
    Namespaces: 3 words;
}

impl<'a, L: Layout> Namespaces<'a, L> {
    /// Returns the process.
    #[inline]
    #[must_use]
    pub fn pid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[0]
    }

    /// Returns the thread.
    #[inline]
    #[must_use]
    pub fn tid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[1]
    }

    /// Returns the namespaces, one per kind, in the order of
    /// [`NamespaceIndex`](perf_abi::NamespaceIndex).
    #[inline]
    #[must_use]
    pub fn namespaces(&self) -> Entries<'a, NamespaceLink, 2> {
        Entries::prefix(self.0.tail(), self.0.fixed()[2] as usize)
    }

    pub(super) fn unclaimed_words(&self) -> usize {
        self.0.tail().len().saturating_sub(2 * self.namespaces().len())
    }
}

pub(super) fn end(body: Body<'_>) -> Result<&[u64]> {
    body.needs("namespaces", Namespaces::WORDS, body.word(2).saturating_mul(2))
}
