//! Migration tables: the items of another crate and their counterparts here.
//!
//! | from | page |
//! |---|---|
//! | `blazesym` | `blazesym` (feature `names`) |
//! | `framehop` | `framehop` (feature `unwind`) |
//! | `wholesym`, `samply-symbols` | `wholesym` (feature `names`) |
//!
//! Each page names the versions that it describes. The examples are compiled as tests, and the
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
