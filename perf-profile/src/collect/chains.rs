//! Callchains that were met before.

use std::hash::Hasher as _;

use perf_symbols::StackEnd;
use rustc_hash::{FxHashMap, FxHasher};

use crate::profile::{SampleIndex, StackId};

/// The stacks of callchains by their words, so that a callchain which is sampled again costs one look-up, not one for each
/// frame.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// The words of all callchains, each after those of its [`Context`].
    words: Vec<u64>,
    entries: Vec<Entry>,
    /// The last entry by the hash of its words.
    by_hash: FxHashMap<u64, u32>,
}

/// The meaning of a callchain's addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) pid: u32,
    /// Mode of the CPU, for callchains without markers.
    pub(super) mode: u8,
    /// Version of the process' mappings.
    pub(super) mappings: u64,
    /// Version of the kernel's addresses.
    pub(super) kernel: u64,
}

/// A callchain.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    len: u32,
    /// The entry before with the same hash.
    earlier: Option<u32>,
    found: Found,
}

/// The stack of a callchain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) stack: Option<StackId>,
    pub(super) end: StackEnd,
    /// The sample with this stack that was added last.
    pub(super) sample: SampleIndex,
}

/// An entry of [`Chains`], until the next call of [`Chains::add`].
#[derive(Clone, Copy, Debug)]
pub(super) struct ChainId(u32);

/// Words that are kept, at most: 64 MiB.
const MAX_WORDS: usize = 8 << 20;

impl Context {
    fn words(self) -> [u64; 3] {
        [u64::from(self.pid) | u64::from(self.mode) << 32, self.mappings, self.kernel]
    }
}

impl Chains {
    /// Returns the stack of a callchain, if it was added.
    #[inline]
    pub(super) fn find(&self, context: Context, chain: &[u64]) -> Option<(ChainId, Found)> {
        let context = context.words();
        let mut next = self.by_hash.get(&hash(&context, chain)).copied();
        while let Some(id) = next {
            let entry = self.entries.get(id as usize)?;
            let words = self.words.get(entry.start as usize..)?.get(..entry.len as usize)?;
            if words.strip_prefix(&context) == Some(chain) {
                return Some((ChainId(id), entry.found));
            }
            next = entry.earlier;
        }
        None
    }

    /// Adds a callchain that is not there. All others are forgotten if there are too many.
    pub(super) fn add(&mut self, context: Context, chain: &[u64], found: Found) {
        let context = context.words();
        if self.words.len() + context.len() + chain.len() > MAX_WORDS {
            *self = Self::default();
        }
        let numbers = (u32::try_from(self.words.len()), u32::try_from(self.entries.len()));
        let (Ok(start), Ok(id)) = numbers else { return };
        let earlier = self.by_hash.insert(hash(&context, chain), id);
        self.words.extend_from_slice(&context);
        self.words.extend_from_slice(chain);
        let len = (context.len() + chain.len()) as u32;
        self.entries.push(Entry { start, len, earlier, found });
    }

    /// Sets the sample that was added last.
    #[inline]
    pub(super) fn set_sample(&mut self, id: ChainId, sample: SampleIndex) {
        if let Some(entry) = self.entries.get_mut(id.0 as usize) {
            entry.found.sample = sample;
        }
    }
}

fn hash(context: &[u64], chain: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    for &word in context.iter().chain(chain) {
        hasher.write_u64(word);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::profile::ProfileBuilder;

    proptest! {
        #[test]
        fn callchain_has_the_stack_that_was_added_with_its_context(
            chains in prop::collection::vec((0u32..3, prop::collection::vec(0u64..3, 0..4)), 0..60)
        ) {
            let mut builder = ProfileBuilder::new();
            let mut locations = crate::Locations::new();
            let mut table = Chains::default();
            let mut model = HashMap::new();
            for (pid, chain) in chains {
                let context = Context { pid, mode: 2, mappings: 1, kernel: 1 };
                let found = table.find(context, &chain).map(|(_, found)| found.stack);
                prop_assert_eq!(found, model.get(&(pid, chain.clone())).copied());
                if found.is_none() {
                    let stack = builder.stack(&[locations.add(None, 0)]);
                    let sample = SampleIndex::default();
                    table.add(context, &chain, Found { stack, end: StackEnd::Unknown, sample });
                    model.insert((pid, chain), stack);
                }
            }
        }
    }
}
