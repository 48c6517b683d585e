//! How samples record their callers.

use perf_session::ring::abi::StackSize;
use perf_session::ring::abi::regs::Architecture;
use perf_session::ring::{Attr, AttrFlags, BranchSampleType, SampleType};

/// How the callers of a sample are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallGraph {
    /// The kernel follows the frame pointers.
    FramePointers,
    /// A part of the user stack, for a tool that unwinds it by debug information. `asked` has the
    /// bytes that the user asked for, of which `size` is the next multiple of 8.
    Stack { size: StackSize, asked: u32 },
    /// The call stack that the hardware keeps.
    BranchStack,
}

/// The branches of [`CallGraph::BranchStack`]: calls in user space that have not returned, without
/// what profiles do not show.
pub(super) const CALL_STACK: BranchSampleType = BranchSampleType::USER
    .union(BranchSampleType::CALL_STACK)
    .union(BranchSampleType::NO_FLAGS)
    .union(BranchSampleType::NO_CYCLES);

impl CallGraph {
    /// Returns an attr with the fields of each sample that have the callers, apart from the branch
    /// stack, which the kernel refuses for events without samples.
    pub(crate) fn apply(self, attr: Attr) -> Attr {
        let attr = attr.with_sample_type(SampleType::CALLCHAIN);
        match self {
            // The stack has the callers in user space, so the callchain has only the callers in the
            // kernel.
            Self::Stack { size, .. } => attr
                .with_flags(AttrFlags::EXCLUDE_CALLCHAIN_USER)
                .with_regs_user(Architecture::NATIVE.registers())
                .with_stack_user(size),
            Self::FramePointers | Self::BranchStack => attr,
        }
    }
}

/// Parses the value of `--call-graph`.
pub(crate) fn call_graph(text: &str) -> Result<CallGraph, String> {
    let default = StackSize::DEFAULT;
    match text.split_once(',').unwrap_or((text, "")) {
        ("fp", "") => Ok(CallGraph::FramePointers),
        ("lbr", "") => Ok(CallGraph::BranchStack),
        ("dwarf", "") => Ok(CallGraph::Stack { size: default, asked: default.bytes() }),
        ("dwarf", bytes) => {
            let asked = number(bytes);
            let size = asked.and_then(|bytes| StackSize::new(bytes.checked_next_multiple_of(8)?));
            let most = StackSize::MAX.bytes();
            size.zip(asked)
                .map(|(size, asked)| CallGraph::Stack { size, asked })
                .ok_or(format!("expected 8 to {most} bytes of the stack after `dwarf,`"))
        }
        _ => Err("expected `fp`, `dwarf`, `dwarf,BYTES` or `lbr`".to_owned()),
    }
}

/// Parses a decimal number, or a hexadecimal one after `0x`.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callchains_are_those_of_frame_pointers_stacks_or_hardware() {
        let stack = |asked, bytes| Ok(CallGraph::Stack { size: StackSize::new(bytes).unwrap(), asked });
        assert_eq!(call_graph("fp"), Ok(CallGraph::FramePointers));
        assert_eq!(call_graph("lbr"), Ok(CallGraph::BranchStack));
        assert_eq!(call_graph("dwarf"), stack(8192, 8192));
        assert_eq!(call_graph("dwarf,64000"), stack(64000, 64000));
        assert_eq!(call_graph("dwarf,4090"), stack(4090, 4096));
        assert_eq!(call_graph("dwarf,0x1000"), stack(4096, 4096));
        assert_eq!(call_graph("dwarf,65528"), stack(65528, 65528));
        for text in ["dwarf,x", "dwarf,0", "dwarf,65529", "dwarf,4294967295", "fp,8", "lbr,8", "no", ""] {
            assert!(call_graph(text).is_err(), "{text}");
        }
    }
}
