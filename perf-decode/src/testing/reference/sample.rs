//! SAMPLE, in the order of the comment in `linux/perf_event.h`.

use alloc::format;
use perf_abi::{Attr, BranchSampleType, ReadFormat, SampleType};

use super::cursor::{Cursor, refuse};
use super::parts::{BranchParts, aligned_bytes, read_branches, read_values, registers, stack};
use super::{Refusal, Value};

/// Decodes the fields of the sample. Returns them, with the trailing bytes that remain.
pub(super) fn decode<'a>(body: &'a [u8], attr: &Attr) -> Result<Cursor<'a>, Refusal> {
    known("sample_type", attr.sample_type.difference(SampleType::KNOWN).bits())?;
    if attr.sample_type.contains(SampleType::READ) {
        known("read_format", attr.read_format.difference(ReadFormat::KNOWN).bits())?;
    }
    if attr.sample_type.contains(SampleType::BRANCH_STACK) {
        known("branch_sample_type", attr.branch_sample_type.difference(BranchSampleType::KNOWN).bits())?;
    }
    let asked = BranchParts {
        hw_idx_without_branches: true,
        counters: attr.branch_sample_type.contains(BranchSampleType::COUNTERS),
    };
    // Only `hw_idx` is ambiguous without branches, and only the counters are with branches.
    let opposite = BranchParts { hw_idx_without_branches: false, counters: !asked.counters };
    let [first, second] = [attempt(body, attr, asked), attempt(body, attr, opposite)];
    match (first, second) {
        (Ok(found), _) | (_, Ok(found)) if found.remaining().is_empty() => Ok(found),
        (Ok(found), _) => Ok(found),
        (Err(refusal), second) => second.map_err(|_| refusal),
    }
}

/// Refuses bits of the attr that are newer than this decoder.
pub(super) fn known(field: &'static str, unknown: u64) -> Result<(), Refusal> {
    if unknown == 0 { Ok(()) } else { refuse(field, format!("unknown bits {unknown:#x}")) }
}

fn attempt<'a>(body: &'a [u8], attr: &Attr, parts: BranchParts) -> Result<Cursor<'a>, Refusal> {
    let mut c = Cursor::new(body);
    let has = |bit: SampleType| attr.sample_type.contains(bit);
    let mut user_abi = 0;
    if has(SampleType::IDENTIFIER) {
        c.u64("identifier")?;
    }
    if has(SampleType::IP) {
        c.u64("ip")?;
    }
    if has(SampleType::TID) {
        c.u32("pid")?;
        c.u32("tid")?;
    }
    if has(SampleType::TIME) {
        c.u64("time")?;
    }
    if has(SampleType::ADDR) {
        c.u64("addr")?;
    }
    if has(SampleType::ID) {
        c.u64("id")?;
    }
    if has(SampleType::STREAM_ID) {
        c.u64("stream_id")?;
    }
    if has(SampleType::CPU) {
        c.u32("cpu")?;
        c.read_u32("cpu")?;
    }
    if has(SampleType::PERIOD) {
        c.u64("period")?;
    }
    if has(SampleType::READ) {
        let values = read_values(&mut c, attr.read_format)?;
        c.keep("read", values);
    }
    if has(SampleType::CALLCHAIN) {
        let nr = c.read_u64("callchain")?;
        let ips = c.read_words("callchain", nr)?;
        c.keep("callchain", Value::numbers(ips));
    }
    if has(SampleType::RAW) {
        let size = c.read_u32("raw")?;
        if (u64::from(size) + 4) % 8 != 0 {
            return refuse("raw", format!("size {size} does not end at a multiple of 8"));
        }
        let raw = c.take("raw", size.into(), 1)?;
        c.keep("raw", raw);
    }
    if has(SampleType::BRANCH_STACK) {
        let hw_index = attr.branch_sample_type.contains(BranchSampleType::HW_INDEX);
        let branches = read_branches(&mut c, hw_index, parts)?;
        c.keep("branches", branches);
    }
    if has(SampleType::REGS_USER) {
        user_abi = registers(&mut c, "user_abi", "user_regs", attr.sample_regs_user)?;
    }
    if has(SampleType::STACK_USER) {
        stack(&mut c, user_abi != 0)?;
    }
    // The kernel refuses an attr with both; they are one word.
    if has(SampleType::WEIGHT) || has(SampleType::WEIGHT_STRUCT) {
        c.whole(|c| c.u64("weight").map(drop))?;
    }
    if has(SampleType::DATA_SRC) {
        c.whole(|c| c.u64("data_src").map(drop))?;
    }
    if has(SampleType::TRANSACTION) {
        c.whole(|c| c.u64("transaction").map(drop))?;
    }
    if has(SampleType::REGS_INTR) {
        c.whole(|c| registers(c, "intr_abi", "intr_regs", attr.sample_regs_intr).map(drop))?;
    }
    if has(SampleType::PHYS_ADDR) {
        c.whole(|c| c.u64("phys_addr").map(drop))?;
    }
    if has(SampleType::CGROUP) {
        c.whole(|c| c.u64("cgroup").map(drop))?;
    }
    if has(SampleType::DATA_PAGE_SIZE) {
        c.whole(|c| c.u64("data_page_size").map(drop))?;
    }
    if has(SampleType::CODE_PAGE_SIZE) {
        c.whole(|c| c.u64("code_page_size").map(drop))?;
    }
    if has(SampleType::AUX) {
        c.whole(|c| {
            let size = c.read_u64("aux")?;
            let aux = aligned_bytes(c, "aux", size)?;
            c.keep("aux", aux);
            Ok(())
        })?;
    }
    Ok(c)
}
