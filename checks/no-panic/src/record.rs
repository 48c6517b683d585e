//! What can be asked of one record.

use core::hint::black_box;

use perf_abi::branch::BranchEntry;
use perf_abi::mem::DataSource;
use perf_decode::{RawRecord, ReadValues, Record, Regs, Sample, SampleHead, SampleLayout, words_from_bytes};

/// Everything that a framed record of any kind can be asked.
pub fn raw(raw: RawRecord<'_>, layout: &SampleLayout) {
    black_box((raw.kind().name(), raw.misc().cpu_mode().name()));
    black_box((raw.header(), raw.kind(), raw.misc(), raw.size(), raw.words(), raw.bytes()));
    black_box((raw.time(layout), raw.id(layout)));
    let _ = black_box((RawRecord::from_bytes(raw.bytes()), words_from_bytes(raw.bytes())));
    if let Ok(id) = raw.sample_id(layout) {
        black_box((id.pid(), id.tid(), id.time(), id.id(), id.stream_id(), id.cpu(), id.identifier()));
        black_box(id.is_empty());
    }
    if let Ok(parsed) = SampleHead::parse(raw, layout) {
        head(&parsed);
    }
    if let Ok(parsed) = Sample::parse(raw, layout) {
        sample(&parsed);
    }
    let _ = black_box(raw.decode_with_id(layout));
    match raw.decode(layout) {
        Ok(Record::Sample(decoded)) => sample(&decoded),
        Ok(Record::Read(read)) => counts(&read.values),
        other => _ = black_box(other),
    }
}

/// The fields of fixed place.
fn head(head: &SampleHead<'_>) {
    black_box((head.record(), head.layout(), head.sample_type(), head.identifier(), head.ip()));
    black_box((head.pid(), head.tid(), head.time(), head.addr(), head.id(), head.stream_id()));
    black_box((head.cpu(), head.period()));
}

/// Every accessor of a sample.
fn sample(sample: &Sample<'_>) {
    head(sample);
    black_box((sample.raw(), sample.transaction().map(|transaction| transaction.abort_code())));
    black_box(sample.weight().map(|weight| (weight.full(), weight.var1(), weight.var2(), weight.var3())));
    sample.data_src().into_iter().for_each(access);
    black_box((sample.phys_addr(), sample.cgroup(), sample.data_page_size(), sample.code_page_size()));
    black_box((sample.aux(), sample.stack_user().map(|stack| (stack.size(), stack.bytes()))));
    if let Some(read) = sample.read() {
        counts(&read);
    }
    if let Some(chain) = sample.callchain() {
        black_box((chain.words(), chain.deferred_cookie()));
        chain.frames().for_each(|frame| _ = black_box(frame));
    }
    if let Some(branches) = sample.branches() {
        black_box((branches.hw_index(), branches.counters()));
        branches.entries().iter().for_each(branch);
    }
    sample.regs_user().into_iter().chain(sample.regs_intr()).for_each(registers);
    sample.fields().for_each(|field| _ = black_box(field));
}

fn access(source: DataSource) {
    black_box((source.op(), source.level(), source.level_number(), source.snoop(), source.snoop_ext()));
    black_box((source.lock(), source.tlb(), source.is_remote(), source.blocked(), source.hops()));
    black_box((source.region(), source.reserved()));
}

fn branch(entry: &BranchEntry) {
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
