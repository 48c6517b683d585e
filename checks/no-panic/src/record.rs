//! The calls that read one record.

#[macro_use]
#[path = "../../accessors.rs"]
mod lists;

use core::hint::black_box;

use perf_abi::branch::BranchEntry;
use perf_abi::mem::DataSource;
use perf_abi::{Attr, AttrFlags, BranchSampleType, SampleType, Software};
use perf_decode::{
    ConstantLayout, Field, Layout, RawRecord, ReadValues, Record, Regs, Sample, SampleHead, SampleId,
    SampleLayout, Value, words_from_bytes,
};

use crate::print;

macro_rules! constant {
    ($(#[$doc:meta])* $Name:ident = $attr:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $Name;

        impl ConstantLayout for $Name {
            const LAYOUT: SampleLayout = SampleLayout::new(&$attr);
        }
    };
}

constant! {
    /// The constant layout of an event with fixed fields only.
    Clock = Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::IP.union(SampleType::TIME))
        .with_flags(AttrFlags::SAMPLE_ID_ALL)
}

constant! {
    /// The constant layout of an event that samples everything.
    Everything = Attr::software(Software::DUMMY)
        .with_sample_type(SampleType::KNOWN.difference(SampleType::WEIGHT_STRUCT))
        .with_branch_sample_type(BranchSampleType::HW_INDEX)
        .with_flags(AttrFlags::SAMPLE_ID_ALL.union(AttrFlags::BUILD_ID))
        .with_regs_user(0b11)
        .with_regs_intr(0b1)
}

/// Everything that a framed record of any kind can be asked.
pub fn raw<L: Layout>(raw: RawRecord<'_>, layout: L) {
    black_box((raw.kind().name(), raw.misc().cpu_mode().name()));
    print::debug(raw);
    black_box((raw.header(), raw.kind(), raw.misc(), raw.size(), raw.words(), raw.bytes()));
    black_box((raw.time(layout), raw.id(layout)));
    let _ = black_box((RawRecord::from_bytes(raw.bytes()), words_from_bytes(raw.bytes())));
    if let Ok(id) = raw.sample_id(layout) {
        trailer(&id);
    }
    if let Ok(view) = raw.sample_head(layout) {
        head(&view);
    }
    if let Ok(view) = Sample::parse(raw, layout) {
        sample(&view);
    }
    match raw.decode(layout) {
        Ok(decoded) => record(&decoded),
        Err(error) => _ = black_box(error),
    }
    print::line(raw, layout.sample_layout());
}

/// Everything that a decoded record of any kind can be asked.
fn record<L: Layout>(record: &Record<'_, L>) {
    black_box((record.header(), record.kind(), record.misc(), record.size()));
    black_box((record.time(), record.trailing_len(), record.truncated_field()));
    record.sample_id().iter().for_each(trailer);
    record.fields().for_each(field);
    // `Debug`, which this calls, calls all accessors of a side-band record.
    print::record(record);
    if let Record::Sample(view) = record {
        sample(view);
    }
}

fn trailer<L: Layout>(id: &SampleId<'_, L>) {
    black_box((id.pid(), id.tid(), id.time(), id.id(), id.stream_id(), id.cpu(), id.identifier()));
    black_box(id.is_empty());
    print::debug(id);
    id.fields().for_each(field);
}

/// The fields of fixed place.
fn head<L: Layout>(head: &SampleHead<'_, L>) {
    black_box((head.words(), head.layout().sample_layout(), head.sample_type()));
    black_box((head.misc(), head.exact_ip()));
    macro_rules! read {
        (head: $($field:ident $($bit:ident)+),*; $($parts:tt)*) => {
            $(black_box(head.$field());)*
        };
    }
    sample_accessors!(read);
    print::debug(head);
}

/// Every accessor of a sample.
fn sample<L: Layout>(sample: &Sample<'_, L>) {
    black_box((sample.words(), sample.sample_type(), sample.misc(), sample.exact_ip()));
    black_box((sample.trailing(), sample.truncated_field(), sample.has_ambiguous_branches()));
    macro_rules! read {
        ($($part:ident: $($field:ident $($bit:ident)+),*;)*) => {
            $($(black_box(sample.$field());)*)*
        };
    }
    sample_accessors!(read);
    black_box(sample.stack_user().map(|stack| (stack.size(), stack.bytes())));
    black_box(sample.weight().map(|weight| (weight.full(), weight.var1(), weight.var2(), weight.var3())));
    print::debug(sample);
    sample.fields().for_each(field);
}

fn field(field: Field<'_>) {
    black_box((field.name, field.value.as_u64()));
    match field.value {
        Value::Read(values) => counts(&values),
        Value::Callchain(chain) => {
            black_box((chain.words(), chain.deferred_cookie()));
            chain.frames().for_each(|frame| _ = black_box(frame));
        }
        Value::Branches(stack) => {
            black_box((stack.hw_index(), stack.counters()));
            stack.entries().iter().for_each(branch);
        }
        Value::Regs(regs) => registers(regs),
        Value::DataSource(source) => access(source),
        Value::Transaction(transaction) => _ = black_box(transaction.abort_code()),
        other => _ = black_box(other),
    }
}

fn access(source: DataSource) {
    black_box((source.op(), source.level(), source.level_number(), source.snoop(), source.snoop_ext()));
    black_box((source.lock(), source.tlb(), source.is_remote(), source.blocked(), source.hops()));
    black_box((source.region(), source.reserved()));
}

fn branch(entry: BranchEntry) {
    let info = entry.info;
    black_box((entry.from, entry.to, info.cycles(), info.kind(), info.speculation()));
    black_box((info.new_type(), info.privilege()));
}

fn counts(counts: &ReadValues<'_>) {
    black_box((counts.format(), counts.time_enabled(), counts.time_running()));
    counts.iter().for_each(|count| _ = black_box((count, counts.scaled(count.value).value())));
}

fn registers(regs: Regs<'_>) {
    black_box((regs.abi(), regs.mask(), regs.values(), regs.get(black_box(200))));
    regs.iter().for_each(|register| _ = black_box(register));
}
