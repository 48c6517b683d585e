//! The limit of the stacks of a recording.

use std::num::NonZeroU16;

use clap::Args;

/// The option that limits stacks.
#[derive(Args, Clone, Debug)]
pub(crate) struct StackOptions {
    /// Follow at most this many user frames of a stack that was copied (--call-graph dwarf)
    #[arg(long, value_name = "N", default_value = "1024")]
    max_stack: NonZeroU16,
}

impl StackOptions {
    /// Returns the maximum number of user frames of a stack copy.
    pub(crate) fn max_frames(&self) -> usize {
        self.max_stack.get().into()
    }
}
