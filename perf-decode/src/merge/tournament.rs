//! A tournament tree ("loser tree") over the sources of a merge.
//!
//! Source `i` of `n` is the leaf at `n + i`, the parent of node `p` is `p / 2`, and each inner node
//! 1..n keeps the loser of the match below it. A new entry of a source meets only the losers on its
//! path to the root. Unlike in a heap, this path is known before any comparison, so its loads do
//! not wait for one another.

use super::Source;

/// A source and the key of its next item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    key: u64,
    /// Index of the source, above every index if the source has no item.
    rank: u64,
}

impl Entry {
    /// A node where no match was played yet.
    pub(super) const EMPTY: Self = Self { key: u64::MAX, rank: u64::MAX };

    /// Set in the rank of a source without an item, so that it loses even to the latest possible
    /// key.
    const DRY: u64 = 1 << 63;

    pub(super) const fn new(index: usize, key: Option<u64>) -> Self {
        match key {
            Some(key) => Self { key, rank: index as u64 },
            None => Self { key: u64::MAX, rank: index as u64 | Self::DRY },
        }
    }

    /// Returns the index of the source.
    #[inline]
    pub(super) const fn index(self) -> usize {
        (self.rank & !Self::DRY) as usize
    }

    /// Returns the key, if the source has an item.
    #[inline]
    pub(super) fn key(self) -> Option<u64> {
        (self.rank & Self::DRY == 0).then_some(self.key)
    }

    /// Returns the winner and the loser. The earlier key wins, and of equal keys the source with
    /// the lower index.
    #[inline]
    fn sorted(self, other: Self) -> (Self, Self) {
        // One wide comparison instead of two, which LLVM makes a branch. Sources that alternate or
        // come in runs make it predictable and twice as fast as a mask; in random order a mask is
        // faster (benches `merge`).
        let wide = |entry: Self| u128::from(entry.key) << 64 | u128::from(entry.rank);
        if wide(self) < wide(other) { (self, other) } else { (other, self) }
    }

    /// Returns the latest key with which this source, which wins now, still wins against `other`.
    pub(super) fn bound(self, other: Self) -> u64 {
        match other.key() {
            Some(key) if self.index() < other.index() => key,
            // The key is not 0, or this source would not win, because it has the higher index.
            Some(key) => key.saturating_sub(1),
            None => u64::MAX,
        }
    }
}

/// Plays the matches of all sources anew. Returns the winner.
pub(super) fn rebuild<I: Iterator>(
    sources: &mut [Source<I>],
    mut key: impl FnMut(&mut Source<I>) -> Option<u64>,
) -> Entry {
    for source in &mut *sources {
        source.node = Entry::EMPTY;
    }
    let mut winner = Entry::EMPTY;
    for index in 0..sources.len() {
        let Some(source) = sources.get_mut(index) else { break };
        let entry = Entry::new(index, key(source));
        if let Some(first) = climb(sources, entry) {
            winner = first;
        }
    }
    winner
}

/// Plays an entry up to the first empty node. Returns the winner if it reaches the root.
fn climb<I: Iterator>(sources: &mut [Source<I>], mut entry: Entry) -> Option<Entry> {
    let mut at = parent_of_leaf(sources, entry);
    while at > 0 {
        let node = &mut sources.get_mut(at)?.node;
        if *node == Entry::EMPTY {
            *node = entry;
            return None;
        }
        (entry, *node) = entry.sorted(*node);
        at /= 2;
    }
    Some(entry)
}

/// Plays the next entry of the source that won last. Returns the new winner.
#[inline]
pub(super) fn replay<I: Iterator>(sources: &mut [Source<I>], mut entry: Entry) -> Entry {
    let mut at = parent_of_leaf(sources, entry);
    while at > 0 {
        let Some(source) = sources.get_mut(at) else { break };
        (entry, source.node) = entry.sorted(source.node);
        at /= 2;
    }
    entry
}

/// Returns the node in which a source plays its first match.
#[inline]
fn parent_of_leaf<I: Iterator>(sources: &[Source<I>], entry: Entry) -> usize {
    (sources.len() + entry.index()) >> 1
}

/// Returns the entry that wins among all but the winner. It lost a match to the winner.
#[inline]
pub(super) fn runner_up<I: Iterator>(sources: &[Source<I>], winner: Entry) -> Entry {
    let mut at = parent_of_leaf(sources, winner);
    let mut second = Entry::EMPTY;
    while at > 0 {
        let Some(source) = sources.get(at) else { break };
        (second, _) = source.node.sorted(second);
        at /= 2;
    }
    second
}
