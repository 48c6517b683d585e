//! Who ran: the names of threads, and the samples of each.

use std::collections::{BTreeMap, HashMap};

/// Clones to follow back for a name; a longer line than this is a damaged one.
const MAX_GENERATIONS: usize = 32;

/// All threads that a record spoke of.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// Samples by process and thread; `None` where samples do not say whose they are.
    samples: BTreeMap<Option<(u32, u32)>, u64>,
    names: HashMap<u32, String>,
    creators: HashMap<u32, u32>,
}

/// The samples of one thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Process and thread; `None` is all samples without them.
    pub(crate) id: Option<(u32, u32)>,
    /// The thread's last name, or that of the thread that made it.
    pub(crate) name: String,
    pub(crate) samples: u64,
}

impl Threads {
    /// A sample of thread `id`, process and thread.
    pub(crate) fn sample(&mut self, id: Option<(u32, u32)>) {
        *self.samples.entry(id).or_default() += 1;
    }

    /// Thread `tid` took a name.
    pub(crate) fn rename(&mut self, tid: u32, name: &str) {
        self.names.insert(tid, name.to_owned());
    }

    /// Thread `creator` made thread `tid`.
    pub(crate) fn fork(&mut self, tid: u32, creator: u32) {
        self.creators.insert(tid, creator);
    }

    /// All threads with samples, most first.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let row = |(&id, &samples): (&Option<(u32, u32)>, &u64)| Row { id, name: self.label(id), samples };
        let mut rows: Vec<Row> = self.samples.iter().map(row).collect();
        // Stable, so that equal counts stay in the order of their ids.
        rows.sort_by_key(|row| std::cmp::Reverse(row.samples));
        rows
    }

    fn label(&self, id: Option<(u32, u32)>) -> String {
        match id {
            Some((_, tid)) => self.name(tid).unwrap_or("(no name seen)").to_owned(),
            None => "(no TID in the sample)".to_owned(),
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
    fn rows_come_with_most_samples_first() {
        let mut threads = Threads::default();
        threads.rename(2, "busy");
        for id in [Some((1, 2)), Some((1, 1)), Some((1, 2)), None] {
            threads.sample(id);
        }
        let names: Vec<_> = threads.rows().into_iter().map(|row| (row.name, row.samples)).collect();
        let expected = [("busy", 2), ("(no TID in the sample)", 1), ("(no name seen)", 1)];
        assert_eq!(names, expected.map(|(name, samples)| (name.to_owned(), samples)));
    }

    #[test]
    fn a_thread_without_a_name_has_its_creators() {
        let mut threads = Threads::default();
        threads.rename(1, "first");
        threads.fork(2, 1);
        threads.fork(3, 2);
        threads.sample(Some((1, 3)));
        assert_eq!(threads.rows()[0].name, "first");
    }

    #[test]
    fn the_last_name_counts() {
        let mut threads = Threads::default();
        threads.rename(1, "old");
        threads.rename(1, "new");
        threads.sample(Some((1, 1)));
        assert_eq!(threads.rows()[0].name, "new");
    }

    #[test]
    fn threads_that_claim_to_have_made_each_other_end() {
        let mut threads = Threads::default();
        threads.fork(1, 2);
        threads.fork(2, 1);
        threads.sample(Some((1, 1)));
        assert_eq!(threads.rows()[0].name, "(no name seen)");
    }
}
