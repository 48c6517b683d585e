//! The formats of viewers: one writer each.

mod folded;
mod names;

pub use folded::Folded;

#[cfg(test)]
mod testing;
