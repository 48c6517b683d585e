//! Rings that no kernel writes, for tests of programs that read rings.

mod event;
mod kernel;

pub use event::{event_on_pipe, quiet_event};
pub use kernel::SimulatedKernel;
