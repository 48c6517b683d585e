//! Helpers of the tests: running the program, and files for it.

#![allow(dead_code, reason = "each test crate uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test's helpers may fail it")]

pub(crate) mod captures;
pub(crate) mod made;
pub(crate) mod recording;
pub(crate) mod run;
pub(crate) mod running;
pub(crate) mod snapshot;
// In the package, which has not these tests, the tests beside the code use it.
#[path = "../../src/top/tui/pseudoterminal.rs"]
pub(crate) mod pseudoterminal;
