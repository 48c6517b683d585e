//! Tables for the port of a program from another crate. They list its items and those of this crate.
//!
//! | from | page |
//! |---|---|
//! | `blazesym` | `blazesym` (feature `names`) |
//! | `framehop` | `framehop` (feature `unwind`) |
//! | `wholesym`, `samply-symbols` | `wholesym` (feature `names`) |
//!
//! The pages name the versions that they were written for. Their examples are compiled as tests of this crate, and their
//! links are checked.

// Only the links of the pages use these names.
#[cfg(all(doc, any(feature = "names", feature = "unwind")))]
use crate::*;

#[cfg(feature = "names")]
#[doc = include_str!("../docs/coming-from/blazesym.md")]
pub mod blazesym {}

#[cfg(feature = "unwind")]
#[doc = include_str!("../docs/coming-from/framehop.md")]
pub mod framehop {}

#[cfg(feature = "names")]
#[doc = include_str!("../docs/coming-from/wholesym.md")]
pub mod wholesym {}
