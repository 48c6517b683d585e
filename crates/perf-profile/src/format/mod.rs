//! Writers for the formats of viewers.

#[cfg(feature = "json")]
mod chrome;
#[cfg(feature = "json")]
mod firefox;
mod folded;
#[cfg(feature = "json")]
mod json_lines;
#[cfg(feature = "json")]
mod json_text;
pub(crate) mod names;
#[cfg(feature = "pprof")]
mod pprof;
#[cfg(any(feature = "json", feature = "pprof"))]
mod used;

#[cfg(feature = "json")]
pub use chrome::{Arguments, Chrome};
#[cfg(feature = "json")]
pub use firefox::Firefox;
pub use folded::Folded;
#[cfg(feature = "json")]
pub use json_lines::JsonLines;
#[cfg(feature = "pprof")]
pub use pprof::Pprof;

#[cfg(test)]
pub(crate) mod testing;
