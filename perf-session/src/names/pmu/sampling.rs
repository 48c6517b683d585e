//! The general terms for callchains and branches.

use perf_sys::abi::regs::Architecture;
use perf_sys::{Attr, AttrFlags, BranchSampleType, SampleType, StackSize};

/// The branches that `branch_type` selects.
const BRANCHES: [(&str, BranchSampleType); 17] = [
    ("u", BranchSampleType::USER),
    ("k", BranchSampleType::KERNEL),
    ("hv", BranchSampleType::HV),
    ("any", BranchSampleType::ANY),
    ("any_call", BranchSampleType::ANY_CALL),
    ("any_ret", BranchSampleType::ANY_RETURN),
    ("ind_call", BranchSampleType::IND_CALL),
    ("ind_jmp", BranchSampleType::IND_JUMP),
    ("call", BranchSampleType::CALL),
    ("cond", BranchSampleType::COND),
    ("abort_tx", BranchSampleType::ABORT_TX),
    ("in_tx", BranchSampleType::IN_TX),
    ("no_tx", BranchSampleType::NO_TX),
    ("stack", BranchSampleType::CALL_STACK),
    ("save_type", BranchSampleType::TYPE_SAVE),
    ("hw_index", BranchSampleType::HW_INDEX),
    ("priv", BranchSampleType::PRIV_SAVE),
];

/// Returns the attr with callchains of this kind: of frame pointers (`fp`), with registers and the user
/// stack (`dwarf`), of the last branch records (`lbr`), or none (`no`). `None` for another kind.
pub(super) fn with_callchain(attr: Attr, kind: &str) -> Option<Attr> {
    let sampled = attr.with_sample_type(SampleType::CALLCHAIN);
    let attr = match kind {
        "fp" => sampled,
        "dwarf" => {
            let stack = StackSize::new(attr.sample_stack_user).unwrap_or(StackSize::DEFAULT);
            sampled
                .replace_regs_user(Architecture::NATIVE.registers())
                .with_stack_user(stack)
                .with_flags(AttrFlags::EXCLUDE_CALLCHAIN_USER)
        }
        "lbr" => {
            let details =
                BranchSampleType::NO_FLAGS | BranchSampleType::NO_CYCLES | BranchSampleType::HW_INDEX;
            sampled
                .replace_branch_sample_type(BranchSampleType::USER | BranchSampleType::CALL_STACK | details)
        }
        "no" => attr.without_sample_type(SampleType::CALLCHAIN),
        _ => return None,
    };
    Some(attr)
}

/// Returns the attr with this size of the sampled user stack, which `call-graph=dwarf` selects.
pub(super) fn with_stack_size(attr: Attr, bytes: u64) -> Option<Attr> {
    let stack = StackSize::new(u32::try_from(bytes).ok()?)?;
    Some(Attr { sample_stack_user: stack.bytes(), ..attr })
}

/// Returns the attr with the branches of these names, which are separated by commas. `None` for an unknown
/// name.
pub(super) fn with_branches(attr: Attr, names: &str) -> Option<Attr> {
    let find = |name: &str| BRANCHES.iter().find(|(known, _)| *known == name).map(|(_, bit)| *bit);
    let branches =
        names.split(',').try_fold(BranchSampleType::empty(), |all, name| Some(all | find(name)?))?;
    Some(attr.replace_branch_sample_type(branches))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callchains_have_the_fields_of_their_kind() {
        let fields = |kind| with_callchain(Attr::default(), kind).map(|attr| attr.sample_type.to_string());
        assert_eq!(fields("fp").as_deref(), Some("CALLCHAIN"));
        assert_eq!(fields("no").as_deref(), Some("0x0"));
        assert_eq!(fields("lbr").as_deref(), Some("CALLCHAIN|BRANCH_STACK"));
        assert_eq!(fields("x"), None);
        let dwarf = with_callchain(Attr::default(), "dwarf").unwrap();
        assert!(dwarf.sample_type.contains(SampleType::CALLCHAIN | SampleType::STACK_USER));
        assert_eq!(dwarf.sample_stack_user, 8192);
        assert!(dwarf.flags.contains(AttrFlags::EXCLUDE_CALLCHAIN_USER));
    }

    #[test]
    fn stack_size_is_that_of_a_later_callchain() {
        let attr = with_stack_size(Attr::default(), 1024).unwrap();
        assert!(attr.sample_type.is_empty());
        assert_eq!(with_callchain(attr, "dwarf").unwrap().sample_stack_user, 1024);
        assert!(
            [0, 7, 65536, 1 << 32].iter().all(|bytes| with_stack_size(Attr::default(), *bytes).is_none())
        );
    }

    #[test]
    fn branches_are_listed_by_name() {
        let branches =
            |names| with_branches(Attr::default(), names).map(|attr| attr.branch_sample_type.to_string());
        assert_eq!(branches("any,u").as_deref(), Some("USER|ANY"));
        assert_eq!(branches("any,x"), None);
        assert_eq!(branches(""), None);
    }
}
