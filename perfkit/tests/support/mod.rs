//! Helpers of the tests: running the program, and files for it.

#![allow(dead_code, reason = "each test crate uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test's helpers may fail it")]

pub(crate) mod captures;
pub(crate) mod made;
pub(crate) mod recording;
pub(crate) mod run;
pub(crate) mod running;
pub(crate) mod snapshot;
// In `src`, because the unit tests use it too, and the package does not include these tests.
#[path = "../../src/top/tui/pseudoterminal.rs"]
pub(crate) mod pseudoterminal;
