//! The branch stack of a sample.

use std::io::Write as _;

use perf_abi::branch::{BranchEntry, BranchInfo, BranchNewType, BranchSpeculation, BranchType};
use perf_decode::Branches;

/// Appends all branches, in the form of perf 6.2 and newer: `0xFROM/0xTO/P/-/-/CYCLES/TYPE/SPEC`.
/// Readers such as llvm-profgen and perf2bolt use the first three, which all versions have.
pub(super) fn push(out: &mut Vec<u8>, branches: Branches<'_>) {
    for BranchEntry { from, to, info, .. } in branches.entries() {
        let has = |flag| info.contains(flag);
        let predicted = match (has(BranchInfo::MISPREDICTED), has(BranchInfo::PREDICTED)) {
            (false, false) => '-',
            (true, _) => 'M',
            (false, true) => 'P',
        };
        let in_tx = if has(BranchInfo::IN_TX) { 'X' } else { '-' };
        let abort = if has(BranchInfo::ABORT) { 'A' } else { '-' };
        let cycles = info.cycles();
        let (kind, speculation) = (kind(info), speculation(info.speculation()));
        // Writing to memory does not fail.
        let _ = write!(out, " {from:#x}/{to:#x}/{predicted}/{in_tx}/{abort}/{cycles}/{kind}/{speculation} ");
    }
}

/// Returns the name of a type of branches as the perf tool prints it; nothing if it was not
/// recorded.
fn kind(info: BranchInfo) -> &'static str {
    match info.kind() {
        BranchType::CONDITIONAL => "COND",
        BranchType::UNCONDITIONAL => "UNCOND",
        BranchType::INDIRECT => "IND",
        BranchType::CALL => "CALL",
        BranchType::INDIRECT_CALL => "IND_CALL",
        BranchType::RETURN => "RET",
        BranchType::SYSCALL => "SYSCALL",
        BranchType::SYSCALL_RETURN => "SYSRET",
        BranchType::CONDITIONAL_CALL => "COND_CALL",
        BranchType::CONDITIONAL_RETURN => "COND_RET",
        BranchType::EXCEPTION_RETURN => "ERET",
        BranchType::INTERRUPT => "IRQ",
        BranchType::SYSTEM_ERROR => "SERROR",
        BranchType::NO_TRANSACTION => "NO_TX",
        BranchType::EXTENDED => match info.new_type() {
            Some(BranchNewType::ALIGNMENT_FAULT) => "FAULT_ALGN",
            Some(BranchNewType::DATA_FAULT) => "FAULT_DATA",
            Some(BranchNewType::INSTRUCTION_FAULT) => "FAULT_INST",
            _ => "N/A",
        },
        _ => "",
    }
}

fn speculation(outcome: BranchSpeculation) -> &'static str {
    match outcome {
        BranchSpeculation::WRONG_PATH => "SPEC_WRONG_PATH",
        BranchSpeculation::NOT_SPECULATIVE => "NON_SPEC_CORRECT_PATH",
        BranchSpeculation::CORRECT_PATH => "SPEC_CORRECT_PATH",
        _ => "-",
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Misc, RecordType, SampleType, Software};
    use perf_decode::testing::builder::RecordBuilder;
    use perf_decode::{RawRecord, Record, SampleLayout};

    use super::*;

    #[test]
    fn branches_have_the_form_of_the_perf_tool() {
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::BRANCH_STACK);
        let word = |kind: u64, cycles: u64, flags: u64| kind << 20 | cycles << 4 | flags;
        let entries = [
            [0x40_05c8, 0x40_05dc, word(4, 12, 0b10)],
            [0x40, 0x80, word(0, 0, 0b1101) | 2 << 24],
            [0, 0, 0],
        ];
        let sample = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&[3]);
        let sample = sample.words(entries.as_flattened()).finish();
        let layout = SampleLayout::new(&attr);
        let record = RawRecord::from_words(&sample).unwrap().decode(&layout).unwrap();
        let Record::Sample(sample) = record else { panic!("{record:?}") };
        let mut text = Vec::new();
        push(&mut text, sample.branches().unwrap());
        let expected = " 0x4005c8/0x4005dc/P/-/-/12/CALL/-  0x40/0x80/M/X/A/0//NON_SPEC_CORRECT_PATH  0x0/0x0/-/-/-/0//- ";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
