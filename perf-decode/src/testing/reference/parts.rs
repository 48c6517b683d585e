//! Fields of more than one word, each preceded by its count or its ABI.

use alloc::{format, string::ToString, vec::Vec};
use perf_abi::ReadFormat;

use super::cursor::{Cursor, refuse};
use super::{Fields, Refusal, Value};

/// The optional parts of a branch stack, which the record itself does not name.
#[derive(Clone, Copy)]
pub(super) struct BranchParts {
    pub(super) hw_idx_without_branches: bool,
    pub(super) counters: bool,
}

/// Decodes the counts of an event or of its group, as `read(2)` returns them.
pub(super) fn read_values(c: &mut Cursor<'_>, format: ReadFormat) -> Result<Value, Refusal> {
    let mut out = Fields::new();
    let group = format.contains(ReadFormat::GROUP);
    let first = c.read_u64("read")?;
    if !group {
        out.push(("value", first.into()));
    }
    if format.contains(ReadFormat::TOTAL_TIME_ENABLED) {
        out.push(("time_enabled", c.read_u64("read")?.into()));
    }
    if format.contains(ReadFormat::TOTAL_TIME_RUNNING) {
        out.push(("time_running", c.read_u64("read")?.into()));
    }
    if !group {
        read_id_and_lost(c, format, &mut out)?;
        return Ok(Value::map(out));
    }
    let mut values = Vec::new();
    // The loop ends at the first value that does not remain, so the count need not be checked.
    for _ in 0..first {
        let mut entry = Fields::new();
        entry.push(("value", c.read_u64("read")?.into()));
        read_id_and_lost(c, format, &mut entry)?;
        values.push(Value::map(entry));
    }
    out.push(("values", Value::List(values)));
    Ok(Value::map(out))
}

fn read_id_and_lost(c: &mut Cursor<'_>, format: ReadFormat, out: &mut Fields) -> Result<(), Refusal> {
    if format.contains(ReadFormat::ID) {
        out.push(("id", c.read_u64("read")?.into()));
    }
    if format.contains(ReadFormat::LOST) {
        out.push(("lost", c.read_u64("read")?.into()));
    }
    Ok(())
}

pub(super) fn read_branches(
    c: &mut Cursor<'_>,
    hw_index: bool,
    parts: BranchParts,
) -> Result<Value, Refusal> {
    let mut out = Fields::new();
    let nr = c.read_u64("branches")?;
    out.push(("nr", nr.into()));
    if hw_index && (nr > 0 || parts.hw_idx_without_branches) {
        out.push(("hw_idx", c.read_u64("branches")?.into()));
    }
    let mut entries = Vec::new();
    for _ in 0..nr {
        let mut entry = Fields::new();
        for name in ["from", "to"] {
            entry.push((name, c.read_u64("branches")?.into()));
        }
        entry.push(("info", c.read_branch("branches")?.into()));
        entries.push(Value::map(entry));
    }
    out.push(("entries", Value::List(entries)));
    if parts.counters && nr > 0 {
        out.push(("counters", Value::numbers(c.read_words("branches", nr)?)));
    }
    Ok(Value::map(out))
}

/// Decodes registers, each named by the number of its bit in `mask`. Returns the ABI.
pub(super) fn registers(
    c: &mut Cursor<'_>,
    abi: &'static str,
    regs: &'static str,
    mask: u64,
) -> Result<u64, Refusal> {
    let found = c.u64(abi)?;
    match found {
        0 => {}
        1 | 2 => {
            let mut values = Vec::new();
            for bit in (0..64).filter(|bit| mask >> bit & 1 == 1) {
                values.push((bit.to_string(), c.read_u64(regs)?.into()));
            }
            c.keep(regs, Value::Map(values));
        }
        _ => return refuse(abi, format!("register ABI {found}, known are 0, 1 and 2")),
    }
    Ok(found)
}

pub(super) fn stack(c: &mut Cursor<'_>, has_registers: bool) -> Result<(), Refusal> {
    let size = c.u64("stack_size")?;
    if size == 0 {
        // Kernels write a `dyn_size` of 0 after a size of 0 if the task has user registers, and
        // reserve no space for it.
        if has_registers && c.remaining().starts_with(&[0; 8]) {
            c.read_u64("stack_dyn_size")?;
            c.lose_last_word();
        }
        return Ok(());
    }
    let bytes = aligned_bytes(c, "stack", size)?;
    let valid = c.read_u64("stack_dyn_size")?.min(size);
    c.keep("stack_dyn_size", valid);
    let stack: Vec<u8> = bytes.iter().copied().take(usize::try_from(valid).unwrap_or(usize::MAX)).collect();
    c.keep("stack", Value::Bytes(stack));
    Ok(())
}

pub(super) fn aligned_bytes<'a>(
    c: &mut Cursor<'a>,
    name: &'static str,
    size: u64,
) -> Result<&'a [u8], Refusal> {
    if size % 8 != 0 {
        return refuse(name, format!("size {size} is not a multiple of 8"));
    }
    c.take(name, size, 1)
}
