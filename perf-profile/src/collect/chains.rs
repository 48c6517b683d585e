//! Callchains that were met before.

use std::hash::Hasher as _;

use perf_abi::CallchainContext;
use perf_symbols::StackEnd;
use rustc_hash::{FxHashMap, FxHasher};

use crate::profile::{EventId, SampleIndex, StackId, ThreadId};

/// The stacks of callchains by their words, so that a callchain which is sampled again costs one look-up, not one for each
/// frame.
///
/// Most different callchains differ in the innermost address only: their callers are kept once, and stay in the caches.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// The words of all callers, each after those of its [`Context`].
    words: Vec<u64>,
    callers: Vec<Callers>,
    /// The last callers by the hash of their words.
    by_hash: FxHashMap<u64, u32>,
    /// By the callers, the thread and the innermost address.
    found: FxHashMap<ChainId, Found>,
}

/// The meaning of a callchain's addresses, and the sums that its samples belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) event: EventId,
    pub(super) thread: ThreadId,
    pub(super) pid: u32,
    /// Mode of the CPU, for callchains without markers.
    pub(super) mode: u8,
    /// Version of the process' mappings.
    pub(super) mappings: u64,
    /// Version of the kernel's addresses.
    pub(super) kernel: u64,
}

/// A callchain without its innermost address.
#[derive(Clone, Copy, Debug)]
struct Callers {
    start: u32,
    len: u32,
    /// The callers before with the same hash.
    earlier: Option<u32>,
}

/// The stack of a callchain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) stack: Option<StackId>,
    pub(super) end: StackEnd,
    /// The sum of the samples with this stack.
    pub(super) sample: SampleIndex,
    /// Values and number of samples that the sum does not have yet: they are in the memory that is looked at in any case.
    pub(super) value: u64,
    pub(super) count: u64,
}

/// A callchain of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ChainId {
    callers: u32,
    thread: ThreadId,
    innermost: u64,
}

/// Words and callchains that are kept, at most: about 64 MiB each. Tests come to both ends.
const MAX_WORDS: usize = if cfg!(test) { 200 } else { 8 << 20 };
const MAX_CHAINS: usize = if cfg!(test) { 30 } else { 1 << 20 };

/// Words before the callers: the context, and the marker before the innermost address.
const HEAD: usize = 5;

impl Context {
    fn words(self, marker: u64) -> [u64; HEAD] {
        let pid_and_mode = u64::from(self.pid) | u64::from(self.mode) << 32;
        [u64::from(self.event.number()), pid_and_mode, self.mappings, self.kernel, marker]
    }
}

/// Returns the marker of a callchain, or 0, its innermost address and the callers; `None` without an address.
fn split(chain: &[u64]) -> Option<(u64, u64, &[u64])> {
    match *chain {
        [marker, innermost, ref callers @ ..] if is_marker(marker) => Some((marker, innermost, callers)),
        [innermost, ref callers @ ..] if !is_marker(innermost) => Some((0, innermost, callers)),
        _ => None,
    }
}

/// Returns whether a word of a callchain says in which mode the CPU was at the addresses after it.
pub(super) fn is_marker(word: u64) -> bool {
    word >= CallchainContext::MAX.0
}

impl Chains {
    /// Returns the stack of a callchain, if it was added.
    #[inline]
    pub(super) fn find(&mut self, context: Context, chain: &[u64]) -> Option<&mut Found> {
        let (marker, innermost, callers) = split(chain)?;
        let callers = self.find_callers(&context.words(marker), callers)?;
        self.found.get_mut(&ChainId { callers, thread: context.thread, innermost })
    }

    #[inline]
    fn find_callers(&self, head: &[u64; HEAD], callers: &[u64]) -> Option<u32> {
        let mut next = self.by_hash.get(&hash(head, callers)).copied();
        while let Some(id) = next {
            let entry = self.callers.get(id as usize)?;
            let words = self.words.get(entry.start as usize..)?.get(..entry.len as usize)?;
            if words.strip_prefix(head) == Some(callers) {
                return Some(id);
            }
            next = entry.earlier;
        }
        None
    }

    /// Adds a callchain that is not there. Returns all others if there are too many, which are forgotten.
    #[must_use]
    pub(super) fn add(&mut self, context: Context, chain: &[u64], found: Found) -> Self {
        let mut forgotten = Self::default();
        let Some((marker, innermost, callers)) = split(chain) else { return forgotten };
        let head = context.words(marker);
        let words = self.words.len() + head.len() + callers.len();
        if words > MAX_WORDS || self.found.len() >= MAX_CHAINS {
            forgotten = std::mem::take(self);
        }
        let known = self.find_callers(&head, callers);
        if let Some(callers) = known.or_else(|| self.add_callers(&head, callers)) {
            self.found.insert(ChainId { callers, thread: context.thread, innermost }, found);
        }
        forgotten
    }

    /// Forgets all callchains, and returns their stacks. The memory is kept for others.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Found> {
        self.words.clear();
        self.callers.clear();
        self.by_hash.clear();
        self.found.drain().map(|(_, found)| found)
    }

    fn add_callers(&mut self, head: &[u64; HEAD], callers: &[u64]) -> Option<u32> {
        let start = u32::try_from(self.words.len()).ok()?;
        let id = u32::try_from(self.callers.len()).ok()?;
        let earlier = self.by_hash.insert(hash(head, callers), id);
        self.words.extend_from_slice(head);
        self.words.extend_from_slice(callers);
        let len = (head.len() + callers.len()) as u32;
        self.callers.push(Callers { start, len, earlier });
        Some(id)
    }
}

/// Returns a hash by two chains of multiplications, which take half as long as one.
fn hash(head: &[u64; HEAD], callers: &[u64]) -> u64 {
    let (mut even, mut odd) = (FxHasher::default(), FxHasher::default());
    let (pairs, rest) = callers.as_chunks::<2>();
    let (head, last) = head.as_chunks::<2>();
    for &[a, b] in head.iter().chain(pairs) {
        even.write_u64(a);
        odd.write_u64(b);
    }
    for &word in last.iter().chain(rest) {
        even.write_u64(word);
    }
    even.write_u64(odd.finish());
    even.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::profile::ProfileBuilder;

    fn words() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..3, Just(CallchainContext::USER.0), Just(CallchainContext::KERNEL.0)]
    }

    proptest! {
        #[test]
        fn callchain_has_the_stack_that_was_added_with_its_context(
            chains in prop::collection::vec(
                (0usize..2, 0usize..2, 0u32..3, prop::collection::vec(words(), 0..4)),
                0..100,
            )
        ) {
            let mut builder = ProfileBuilder::new();
            let mut locations = crate::Locations::new();
            let mut table = Chains::default();
            let mut model = HashMap::new();
            for (event, thread, pid, chain) in chains {
                let (event, thread) = (EventId::next(event), ThreadId::next(thread));
                let context = Context { event, thread, pid, mode: 2, mappings: 1, kernel: 1 };
                let found = table.find(context, &chain).map(|found| found.stack);
                let key = (event, thread, pid, chain.clone());
                prop_assert_eq!(found, model.get(&key).copied());
                if found.is_none() && split(&chain).is_some() {
                    let stack = builder.stack(&[locations.add(None, 0)]);
                    let sample = SampleIndex::default();
                    let found = Found { stack, end: StackEnd::Unknown, sample, value: 0, count: 0 };
                    let forgotten = table.add(context, &chain, found).drain().count();
                    prop_assert!(forgotten == 0 || forgotten == model.len());
                    if forgotten > 0 {
                        model.clear();
                    }
                    prop_assert!(table.words.len() <= MAX_WORDS && table.found.len() <= MAX_CHAINS);
                    model.insert(key, stack);
                }
            }
        }
    }
}
