//! A map that forgets what was added long ago, so that its size is bounded.

use std::collections::HashMap;
use std::hash::Hash;

/// Two maps: when the newer one is full, it takes the place of the older one.
#[derive(Debug)]
pub(crate) struct Generations<K, V> {
    newer: HashMap<K, V>,
    older: HashMap<K, V>,
    /// Of the newer one.
    cost: usize,
    max_cost: usize,
}

impl<K: Eq + Hash, V> Generations<K, V> {
    /// Makes a map that holds entries of at most twice `max_cost`.
    pub(crate) fn new(max_cost: usize) -> Self {
        Self { newer: HashMap::new(), older: HashMap::new(), cost: 0, max_cost }
    }

    /// Changes the limit for the entries that follow.
    #[cfg(feature = "names")]
    pub(crate) fn set_max_cost(&mut self, max_cost: usize) {
        self.max_cost = max_cost;
    }

    /// Adds an entry. Returns those that are forgotten now.
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
