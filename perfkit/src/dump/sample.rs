//! The fields of a sample.

use perf_abi::regs::RegsAbi;
use perf_abi::{SampleType, Weight};
use perf_decode::{Branches, Field, Regs, Sample, UserStack};

use super::fields::counts;
use super::json::{Json, Object};

/// All fields of a sample, in the order in which they lie in the record.
pub(super) fn fields<'a>(sample: &Sample<'a>) -> Object<'a> {
    let parts = sample.sample_type().contains(SampleType::WEIGHT_STRUCT);
    let mut fields = Object::from([]);
    for field in sample.fields() {
        match field {
            Field::Tid { pid, tid } => fields.extend([("pid", Json::Task(pid)), ("tid", Json::Task(tid))]),
            Field::RegsUser(regs) => registers(&mut fields, ["user_abi", "user_regs"], &regs),
            Field::RegsIntr(regs) => registers(&mut fields, ["intr_abi", "intr_regs"], &regs),
            Field::StackUser(stack) => user_stack(&mut fields, &stack),
            Field::Weight(weight) if parts => fields.extend([("weight_struct", weight_struct(weight))]),
            other => fields.extend([single(&other)]),
        }
    }
    fields
}

/// A field that has one name and one value.
fn single<'a>(field: &Field<'a>) -> (&'static str, Json<'a>) {
    match *field {
        Field::Identifier(id) => ("identifier", id.into()),
        Field::Ip(ip) => ("ip", Json::Hex(ip)),
        Field::Time(time) => ("time", time.into()),
        Field::Addr(addr) => ("addr", Json::Hex(addr)),
        Field::Id(id) => ("id", id.into()),
        Field::StreamId(id) => ("stream_id", id.into()),
        Field::Cpu(cpu) => ("cpu", cpu.into()),
        Field::Period(period) => ("period", period.into()),
        Field::Read(values) => ("read", Json::Object(counts(&values))),
        Field::Callchain(chain) => ("callchain", Json::addresses(chain.words())),
        Field::Raw(raw) => ("raw", Json::bytes(raw)),
        Field::Branches(stack) => ("branches", Json::Object(branches(&stack))),
        Field::Weight(weight) => ("weight", weight.full().into()),
        Field::DataSrc(source) => ("data_src", Json::Hex(source.0)),
        Field::Transaction(transaction) => ("transaction", Json::Hex(transaction.bits())),
        Field::PhysAddr(addr) => ("phys_addr", Json::Hex(addr)),
        Field::Cgroup(id) => ("cgroup", id.into()),
        Field::DataPageSize(size) => ("data_page_size", size.into()),
        Field::CodePageSize(size) => ("code_page_size", size.into()),
        Field::Aux(aux) => ("aux", Json::bytes(aux)),
        // A field newer than this program is better printed than left out.
        ref other => ("text", Json::Text(other.to_string().into())),
    }
}

fn registers<'a>(fields: &mut Object<'a>, [abi, name]: [&'static str; 2], regs: &Regs<'a>) {
    fields.extend([(abi, regs.abi().0.into())]);
    if regs.abi() != RegsAbi::NONE {
        let values = regs.iter().map(|(bit, value)| (bit.to_string(), Json::Hex(value))).collect();
        fields.extend([(name, Json::Object(values))]);
    }
}

fn user_stack<'a>(fields: &mut Object<'a>, stack: &UserStack<'a>) {
    fields.extend([("stack_size", stack.size().into())]);
    if stack.size() > 0 {
        fields.extend([
            ("stack_dyn_size", (stack.bytes().len() as u64).into()),
            ("stack", Json::bytes(stack.bytes())),
        ]);
    }
}

fn weight_struct<'a>(weight: Weight) -> Json<'a> {
    let parts: [(&'static str, Json<'a>); 3] = [
        ("var1_dw", weight.var1().into()),
        ("var2_w", u32::from(weight.var2()).into()),
        ("var3_w", u32::from(weight.var3()).into()),
    ];
    Json::Object(parts.into())
}

fn branches<'a>(stack: &Branches<'a>) -> Object<'a> {
    let entry = |branch: &perf_abi::branch::BranchEntry| {
        let words = [("from", branch.from), ("to", branch.to), ("info", branch.info.bits())];
        Json::Object(words.map(|(name, word)| (name, Json::Hex(word))).into())
    };
    let mut fields = Object::from([("nr", (stack.entries().len() as u64).into())]);
    fields.extend(stack.hw_index().map(|index| ("hw_idx", Json::Number(index))));
    fields.extend([("entries", Json::List(stack.entries().iter().map(entry).collect()))]);
    if !stack.counters().is_empty() {
        fields.extend([("counters", Json::addresses(stack.counters()))]);
    }
    fields
}
