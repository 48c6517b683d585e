//! A map of bounded size that evicts the oldest generation of entries.

use std::collections::HashMap;
use std::hash::Hash;

/// Two maps: inserts go to the newer one. When it is full, it replaces the older one, whose entries
/// are evicted.
#[derive(Debug)]
pub(crate) struct Generations<K, V> {
    newer: HashMap<K, V>,
    older: HashMap<K, V>,
    /// Sum of the costs in `newer`.
    cost: usize,
    max_cost: usize,
}

impl<K: Eq + Hash, V> Generations<K, V> {
    /// Creates a map whose entries cost at most twice `max_cost`.
    pub(crate) fn new(max_cost: usize) -> Self {
        Self { newer: HashMap::new(), older: HashMap::new(), cost: 0, max_cost }
    }

    /// Changes the limit for the following inserts.
    #[cfg(feature = "names")]
    pub(crate) fn set_max_cost(&mut self, max_cost: usize) {
        self.max_cost = max_cost;
    }

    /// Adds an entry. Returns the entries that this evicted.
    pub(crate) fn insert(&mut self, key: K, value: V, cost: usize) -> HashMap<K, V> {
        let mut forgotten = HashMap::new();
        if self.cost + cost > self.max_cost {
            forgotten = std::mem::replace(&mut self.older, std::mem::take(&mut self.newer));
            self.cost = 0;
        }
        self.cost += cost;
        self.newer.insert(key, value);
        forgotten
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.newer.get(key).or_else(|| self.older.get(key))
    }

    #[cfg(feature = "names")]
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.newer.get_mut(key).or_else(|| self.older.get_mut(key))
    }
}
