//! A function in memory that a compiler wrote at run time.

use crate::space::map::Ranged;

/// A range of addresses with the name of its function.
#[derive(Clone, Debug)]
pub(super) struct Code<N> {
    pub(super) start: u64,
    /// Exclusive.
    pub(super) end: u64,
    pub(super) name: N,
    /// The first address of the function, which later functions may have taken.
    pub(super) first: u64,
}

impl<N: Clone> Ranged for Code<N> {
    fn start(&self) -> u64 {
        self.start
    }

    fn end(&self) -> u64 {
        self.end
    }

    fn cut_before(&mut self, start: u64) {
        self.start = start;
    }

    fn cut_after(&mut self, end: u64) {
        self.end = end;
    }
}
