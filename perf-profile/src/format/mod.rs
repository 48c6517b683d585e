//! The formats of viewers: one writer each.

mod folded;
mod names;
#[cfg(feature = "pprof")]
mod notes;
#[cfg(feature = "pprof")]
mod pprof;
#[cfg(feature = "pprof")]
mod used;

pub use folded::Folded;
#[cfg(feature = "pprof")]
pub use pprof::Pprof;

#[cfg(test)]
mod testing;
