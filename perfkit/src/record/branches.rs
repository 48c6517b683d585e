//! The branches before each sample.

use clap::Args;
use perf_session::branch_filter;
use perf_session::ring::BranchSampleType;

/// The options that record branches.
#[derive(Args, Clone, Debug)]
pub(super) struct BranchOptions {
    /// Record the branches before each sample, on a machine that has branch stacks
    #[arg(short = 'b', long)]
    branch_any: bool,
    #[arg(
        short = 'j',
        long,
        value_name = "FILTER,...",
        value_parser = branch_filter,
        help = "Record the branches of these kinds: any, any_call, any_ret, ind_call, ind_jmp, call, cond, stack, in_tx, \
            no_tx, abort_tx; with a target in u (user space), k (the kernel) or hv; save_type, priv, hw_index, \
            no_flags, no_cycles"
    )]
    branch_filter: Option<BranchSampleType>,
}

impl BranchOptions {
    /// Returns the branches, with the option that asks for them; `None` without one.
    pub(super) fn branches(&self) -> Option<(&'static str, BranchSampleType)> {
        match self.branch_filter {
            Some(branches) => Some(("--branch-filter", branches)),
            None => self.branch_any.then_some(("--branch-any", BranchSampleType::ANY)),
        }
    }
}
