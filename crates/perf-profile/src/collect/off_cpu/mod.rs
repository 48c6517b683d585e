//! Off-CPU time of threads, from records of context switches.

mod add;
mod gaps;
mod switch_event;
mod wait;
mod waits;

pub use add::OffCpuEvents;
pub use gaps::Gaps;
pub use switch_event::SwitchEvent;
pub use wait::{Wait, WaitReason, Waker, Wakeup};
pub use waits::Waits;

#[cfg(test)]
mod tests;
