//! How long threads wait for locks: futexes of user space, and locks of the kernel.

mod event;
mod flags;
mod summary;

pub use event::LockEvent;
pub use flags::ContentionFlags;
pub use summary::{LockId, LockWaits, Locks};

#[cfg(test)]
mod tests;
