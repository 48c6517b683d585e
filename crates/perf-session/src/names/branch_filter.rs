//! The branches that the perf tool's names choose, as in its options `-j` and the term
//! `branch_type`.

use std::error::Error;
use std::fmt;

use perf_ring::BranchSampleType;

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

/// Returns the branches that these names choose, separated by commas, as `any_call,u`. Without a
/// kind of branch, all are chosen, as by the perf tool.
///
/// # Errors
///
/// The first name that is unknown. Its text lists the known ones.
///
/// # References
///
/// `--branch-filter` in `perf-record(1)`.
pub fn branch_filter(names: &str) -> Result<BranchSampleType, BranchFilterError> {
    let mut branches = BranchSampleType::empty();
    for name in names.split(',') {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        let (_, bit) = known.ok_or_else(|| BranchFilterError { name: name.to_owned() })?;
        branches |= *bit;
    }
    if NO_KIND.contains(branches) {
        branches |= BranchSampleType::ANY;
    }
    Ok(branches)
}

/// A name that chooses no branches, from [`branch_filter`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BranchFilterError {
    /// The unknown name.
    pub name: String,
}

impl fmt::Display for BranchFilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected ")?;
        for (name, _) in NAMES {
            write!(f, "{name}, ")?;
        }
        write!(f, "found `{}`", self.name)
    }
}

impl Error for BranchFilterError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_has_kinds_and_targets() {
        assert_eq!(branch_filter("any,u"), Ok(BranchSampleType::ANY | BranchSampleType::USER));
        assert_eq!(branch_filter("u"), branch_filter("any,u"));
        assert_eq!(branch_filter("save_type"), branch_filter("save_type,any"));
        assert_eq!(branch_filter("cond,k"), Ok(BranchSampleType::COND | BranchSampleType::KERNEL));
    }

    #[test]
    fn unknown_name_is_reported_with_the_known_ones() {
        for (names, unknown) in [("", ""), ("any,", ""), ("all", "all"), ("u,any u", "any u")] {
            let error = branch_filter(names).unwrap_err();
            assert_eq!(error.name, unknown);
            let text = error.to_string();
            assert!(text.starts_with("expected any, any_call, "), "{text}");
            assert!(text.ends_with(&format!("priv, found `{unknown}`")), "{text}");
        }
    }
}
