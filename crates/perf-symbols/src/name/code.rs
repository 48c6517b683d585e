//! A function that a compiler wrote into memory at run time.

use crate::space::map::Ranged;

/// A range of addresses with the name of its function. Later functions can overwrite parts of it.
#[derive(Clone, Debug)]
pub(super) struct Code<N> {
    pub(super) start: u64,
    /// Exclusive.
    pub(super) end: u64,
    pub(super) name: N,
    /// First address of the whole function, even if later functions overwrote its start.
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
