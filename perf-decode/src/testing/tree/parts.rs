//! The fields of a sample, and the counts that a READ record has too.

use perf_abi::regs::RegsAbi;
use std::{string::ToString, vec, vec::Vec};

use super::{task, u64s};
use crate::testing::reference::{Fields, Value};
use crate::{Branches, Count, Field, ReadValues, Regs, UserStack};

/// The entries of the tree that one field makes.
pub(super) fn field(field: Field<'_>) -> Fields {
    let number = |name, value: u64| vec![(name, Value::U64(value))];
    match field {
        Field::Identifier(id) => number("identifier", id),
        Field::Ip(ip) => number("ip", ip),
        Field::Tid { pid, tid } => task(pid, tid).collect(),
        Field::Time(time) => number("time", time),
        Field::Addr(addr) => number("addr", addr),
        Field::Id(id) => number("id", id),
        Field::StreamId(id) => number("stream_id", id),
        Field::Cpu(cpu) => number("cpu", cpu.into()),
        Field::Period(period) => number("period", period),
        Field::Read(values) => vec![("read", read_tree(&values))],
        Field::Callchain(chain) => vec![("callchain", Value::numbers(chain.iter().copied()))],
        Field::Raw(raw) => vec![("raw", raw.into())],
        Field::Branches(stack) => vec![("branches", branches(&stack))],
        Field::RegsUser(regs) => registers("user_abi", "user_regs", &regs),
        Field::StackUser(stack) => user_stack(&stack),
        Field::Weight(weight) => number("weight", weight.0),
        Field::DataSrc(source) => number("data_src", source.0),
        Field::Transaction(transaction) => number("transaction", transaction.bits()),
        Field::RegsIntr(regs) => registers("intr_abi", "intr_regs", &regs),
        Field::PhysAddr(addr) => number("phys_addr", addr),
        Field::Cgroup(id) => number("cgroup", id),
        Field::DataPageSize(size) => number("data_page_size", size),
        Field::CodePageSize(size) => number("code_page_size", size),
        Field::Aux(aux) => vec![("aux", aux.into())],
    }
}

/// The counts of one event or of a group as the tree of READ and of a sample has them in `read`; for what
/// read(2) gave, which is no record.
#[must_use]
pub fn read_tree(values: &ReadValues<'_>) -> Value {
    let group = values.format().contains(perf_abi::ReadFormat::GROUP);
    let mut counts: Vec<Fields> = values.iter().map(count).collect();
    let times = [("time_enabled", values.time_enabled()), ("time_running", values.time_running())];
    let times = times.into_iter().filter_map(|(name, time)| Some((name, Value::U64(time?))));
    if group {
        let counts = counts.into_iter().map(Value::map).collect();
        return Value::map(times.chain([("values", Value::List(counts))]).collect());
    }
    let mut only = counts.pop().unwrap_or_default();
    debug_assert!(counts.is_empty(), "an event alone has one count");
    let behind_times = only.split_off(only.len().min(1));
    Value::map(only.into_iter().chain(times).chain(behind_times).collect())
}

fn count(count: Count) -> Fields {
    let Count { value, id, lost } = count;
    [("value", Some(value)), ("id", id), ("lost", lost)]
        .into_iter()
        .filter_map(|(name, value)| Some((name, Value::U64(value?))))
        .collect()
}

fn branches(stack: &Branches<'_>) -> Value {
    let entries: Vec<Value> = stack
        .entries()
        .iter()
        .map(|branch| {
            let words = [("from", branch.from), ("to", branch.to), ("info", branch.info.bits())];
            Value::map(u64s(words).collect())
        })
        .collect();
    let mut fields: Fields = u64s([("nr", entries.len() as u64)]).collect();
    fields.extend(stack.hw_index().map(|index| ("hw_idx", Value::U64(index))));
    fields.push(("entries", Value::List(entries)));
    if !stack.counters().is_empty() {
        fields.push(("counters", Value::numbers(stack.counters().iter().copied())));
    }
    Value::map(fields)
}

fn registers(abi: &'static str, name: &'static str, regs: &Regs<'_>) -> Fields {
    let mut fields: Fields = u64s([(abi, regs.abi().0)]).collect();
    if regs.abi() != RegsAbi::NONE {
        let values = regs.iter().map(|(number, value)| (number.to_string(), Value::U64(value)));
        fields.push((name, Value::Map(values.collect())));
    }
    fields
}

fn user_stack(stack: &UserStack<'_>) -> Fields {
    let mut fields: Fields = u64s([("stack_size", stack.size())]).collect();
    if stack.size() > 0 {
        fields.extend(u64s([("stack_dyn_size", stack.bytes().len() as u64)]));
        fields.push(("stack", stack.bytes().into()));
    }
    fields
}
