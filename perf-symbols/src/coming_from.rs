//! Tables for the port of a program from another crate. They list its items and those of this crate.
//!
//! | from | page |
//! |---|---|
//! | `framehop` | `framehop` (feature `unwind`) |
//!
//! The pages name the versions that they were written for. Their examples are compiled as tests of this crate, and their
//! links are checked.

// Only the links of the pages use these names.
#[cfg(all(doc, feature = "unwind"))]
use crate::*;

#[cfg(feature = "unwind")]
#[doc = include_str!("../docs/coming-from/framehop.md")]
pub mod framehop {}
