//! The branches before each sample.

use clap::Args;
use perf_session::ring::BranchSampleType;

/// The names of the perf tool, with their bits.
const NAMES: [(&str, BranchSampleType); 19] = [
    ("any", BranchSampleType::ANY),
    ("any_call", BranchSampleType::ANY_CALL),
    ("any_ret", BranchSampleType::ANY_RETURN),
    ("ind_call", BranchSampleType::IND_CALL),
    ("ind_jmp", BranchSampleType::IND_JUMP),
    ("call", BranchSampleType::CALL),
    ("cond", BranchSampleType::COND),
    ("stack", BranchSampleType::CALL_STACK),
    ("u", BranchSampleType::USER),
    ("k", BranchSampleType::KERNEL),
    ("hv", BranchSampleType::HV),
    ("in_tx", BranchSampleType::IN_TX),
    ("no_tx", BranchSampleType::NO_TX),
    ("abort_tx", BranchSampleType::ABORT_TX),
    ("no_flags", BranchSampleType::NO_FLAGS),
    ("no_cycles", BranchSampleType::NO_CYCLES),
    ("save_type", BranchSampleType::TYPE_SAVE),
    ("hw_index", BranchSampleType::HW_INDEX),
    ("priv", BranchSampleType::PRIV_SAVE),
];

/// Bits that choose no kind of branch.
const NO_KIND: BranchSampleType = BranchSampleType::USER
    .union(BranchSampleType::KERNEL)
    .union(BranchSampleType::HV)
    .union(BranchSampleType::NO_FLAGS)
    .union(BranchSampleType::NO_CYCLES)
    .union(BranchSampleType::TYPE_SAVE)
    .union(BranchSampleType::HW_INDEX)
    .union(BranchSampleType::PRIV_SAVE);

/// The options that record branches.
#[derive(Args, Clone, Debug)]
pub(super) struct BranchOptions {
    /// Record the branches before each sample, on a machine that has branch stacks
    #[arg(short = 'b', long)]
    branch_any: bool,
    /// The branches, by [`NAMES`].
    #[arg(
        short = 'j',
        long,
        value_name = "FILTER,...",
        value_parser = branches,
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

/// Parses the value of `--branch-filter`. Without a kind of branch, all are recorded, as by the
/// perf tool.
fn branches(text: &str) -> Result<BranchSampleType, String> {
    let mut branches = BranchSampleType::empty();
    for name in text.split(',') {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        let Some((_, bit)) = found else {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            return Err(format!("expected {}", names.join(", ")));
        };
        branches |= *bit;
    }
    if NO_KIND.contains(branches) {
        branches |= BranchSampleType::ANY;
    }
    Ok(branches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_has_kinds_and_targets() {
        assert_eq!(branches("any,u"), Ok(BranchSampleType::ANY | BranchSampleType::USER));
        assert_eq!(branches("u"), branches("any,u"));
        assert_eq!(branches("save_type"), branches("save_type,any"));
        assert_eq!(branches("cond,k"), Ok(BranchSampleType::COND | BranchSampleType::KERNEL));
        for text in ["", "any,", "all", "any u"] {
            assert!(branches(text).unwrap_err().contains("any_call"), "{text}");
        }
    }
}
