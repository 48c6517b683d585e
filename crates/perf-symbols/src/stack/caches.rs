//! framehop's caches of rules.

use super::machine::Machine;

/// framehop's caches of recent rules. One has 509 slots, too few for a compiler or a browser.
pub(super) struct Caches<M: Machine> {
    caches: [M::Cache; 15],
    last: M::Cache,
}

impl<M: Machine> Default for Caches<M> {
    fn default() -> Self {
        Self { caches: std::array::from_fn(|_| M::Cache::default()), last: M::Cache::default() }
    }
}

impl<M: Machine> Caches<M> {
    pub(super) fn of(&mut self, address: u64) -> &mut M::Cache {
        // Addresses 509 apart share a slot of a cache. The higher bits choose the cache.
        let index = (address >> 9) as usize % (self.caches.len() + 1);
        self.caches.get_mut(index).unwrap_or(&mut self.last)
    }
}
