//! Names and samples of threads.

use std::collections::{BTreeMap, HashMap};

/// Limit of creators that are followed for a name: damaged records could form a cycle.
const MAX_GENERATIONS: usize = 32;

/// All threads that appear in a record.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// Samples by process and thread id; `None` counts samples without these fields.
    samples: BTreeMap<Option<(u32, u32)>, u64>,
    /// Last name by thread id.
    names: HashMap<u32, String>,
    /// Creator by thread id.
    creators: HashMap<u32, u32>,
}

/// The samples of one thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Process and thread id; `None` for all samples without them.
    pub(crate) id: Option<(u32, u32)>,
    /// Last name of the thread, by default that of its creator.
    pub(crate) name: String,
    pub(crate) samples: u64,
}

impl Threads {
    /// Counts a sample of a thread, by its process and thread id.
    pub(crate) fn sample(&mut self, id: Option<(u32, u32)>) {
        *self.samples.entry(id).or_default() += 1;
    }

    /// Sets the name of thread `tid`.
    pub(crate) fn rename(&mut self, tid: u32, name: &str) {
        self.names.insert(tid, name.to_owned());
    }

    /// Sets the creator of the new thread `tid`.
    pub(crate) fn fork(&mut self, tid: u32, creator: u32) {
        // The id may be that of a thread that exited.
        self.names.remove(&tid);
        self.creators.insert(tid, creator);
    }

    /// Returns all threads with samples, most samples first.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let row = |(&id, &samples): (&Option<(u32, u32)>, &u64)| Row { id, name: self.label(id), samples };
        let mut rows: Vec<Row> = self.samples.iter().map(row).collect();
        // Stable: equal counts stay in the order of the ids.
        rows.sort_by_key(|row| std::cmp::Reverse(row.samples));
        rows
    }

    fn label(&self, id: Option<(u32, u32)>) -> String {
        match id {
            Some((_, tid)) => self.name(tid).unwrap_or("(name unknown)").to_owned(),
            None => "(samples without TID)".to_owned(),
        }
    }

    fn name(&self, mut tid: u32) -> Option<&str> {
        for _ in 0..MAX_GENERATIONS {
            if let Some(name) = self.names.get(&tid) {
                return Some(name);
            }
            tid = *self.creators.get(&tid)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_samples() {
        let mut threads = Threads::default();
        threads.rename(2, "busy");
        for id in [Some((1, 2)), Some((1, 1)), Some((1, 2)), None] {
            threads.sample(id);
        }
        let names: Vec<_> = threads.rows().into_iter().map(|row| (row.name, row.samples)).collect();
        let expected = [("busy", 2), ("(samples without TID)", 1), ("(name unknown)", 1)];
        assert_eq!(names, expected.map(|(name, samples)| (name.to_owned(), samples)));
    }

    #[test]
    fn thread_without_a_name_has_that_of_its_creator() {
        let mut threads = Threads::default();
        threads.rename(1, "first");
        threads.fork(2, 1);
        threads.fork(3, 2);
        threads.sample(Some((1, 3)));
        assert_eq!(threads.rows()[0].name, "first");
    }

    #[test]
    fn last_name_of_a_thread_is_shown() {
        let mut threads = Threads::default();
        threads.rename(1, "old");
        threads.rename(1, "new");
        threads.sample(Some((1, 1)));
        assert_eq!(threads.rows()[0].name, "new");
    }

    #[test]
    fn cycle_of_creators_ends() {
        let mut threads = Threads::default();
        threads.fork(1, 2);
        threads.fork(2, 1);
        threads.sample(Some((1, 1)));
        assert_eq!(threads.rows()[0].name, "(name unknown)");
    }
}
