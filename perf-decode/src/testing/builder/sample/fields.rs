//! The fields of a SAMPLE in the order in which the kernel writes them.

use perf_abi::SampleType;
use std::{vec, vec::Vec};

use super::super::words_of;
use super::SampleBuilder;

impl SampleBuilder {
    /// Returns all fields, each with its bit of `sample_type`.
    pub(super) fn fields(&self) -> Vec<(SampleType, Vec<u64>)> {
        vec![
            (SampleType::IDENTIFIER, vec![self.identifier]),
            (SampleType::IP, vec![self.ip]),
            (SampleType::TID, vec![self.tid]),
            (SampleType::TIME, vec![self.time]),
            (SampleType::ADDR, vec![self.addr]),
            (SampleType::ID, vec![self.id]),
            (SampleType::STREAM_ID, vec![self.stream_id]),
            (SampleType::CPU, vec![self.cpu]),
            (SampleType::PERIOD, vec![self.period]),
            (SampleType::READ, self.read.words(self.attr.read_format)),
            (SampleType::CALLCHAIN, counted(&self.callchain)),
            (SampleType::RAW, raw(&self.raw)),
            (SampleType::BRANCH_STACK, self.branches.clone()),
            (SampleType::REGS_USER, self.regs_user.clone()),
            (SampleType::STACK_USER, stack(&self.stack_user, self.dyn_size)),
            (SampleType::WEIGHT.union(SampleType::WEIGHT_STRUCT), vec![self.weight]),
            (SampleType::DATA_SRC, vec![self.data_src]),
            (SampleType::TRANSACTION, vec![self.transaction]),
            (SampleType::REGS_INTR, self.regs_intr.clone()),
            (SampleType::PHYS_ADDR, vec![self.phys_addr]),
            (SampleType::CGROUP, vec![self.cgroup]),
            (SampleType::DATA_PAGE_SIZE, vec![self.data_page_size]),
            (SampleType::CODE_PAGE_SIZE, vec![self.code_page_size]),
            (SampleType::AUX, sized(&self.aux)),
        ]
    }
}

fn counted(words: &[u64]) -> Vec<u64> {
    let mut out = vec![words.len() as u64];
    out.extend(words);
    out
}

/// Returns the size in bytes, padding included, and the bytes.
fn sized(bytes: &[u8]) -> Vec<u64> {
    let mut out = vec![bytes.len().next_multiple_of(8) as u64];
    out.extend(words_of(bytes));
    out
}

/// Returns the same as [`sized`] with the size in the first half of a word and the bytes from the
/// second on.
fn raw(raw: &[u8]) -> Vec<u64> {
    let size = (4 + raw.len()).next_multiple_of(8) - 4;
    let mut bytes = (size as u32).to_ne_bytes().to_vec();
    bytes.extend_from_slice(raw);
    words_of(&bytes)
}

fn stack(bytes: &[u8], dyn_size: u64) -> Vec<u64> {
    let mut out = sized(bytes);
    if !bytes.is_empty() {
        out.push(dyn_size);
    }
    out
}
