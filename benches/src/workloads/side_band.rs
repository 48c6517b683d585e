//! Side-band records.

use perf_abi::{Attr, Misc, RecordType};
use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};

use super::Random;

/// Returns a random side-band record, with the frequencies of a busy machine: mostly switches and
/// mappings.
pub fn record(attr: &Attr, random: &mut Random) -> Vec<u64> {
    let record = match random.between(0, 32) {
        0..16 => switch(random),
        16..24 => mmap2(random),
        24..28 => comm(random),
        28 => RecordBuilder::new(RecordType::LOST, Misc::empty()).u64(random.word() >> 40).u64(1),
        29 | 30 => task(RecordType::FORK, random),
        _ => task(RecordType::EXIT, random),
    };
    let trailer = SampleIdValues {
        pid: random.task(),
        tid: random.task(),
        time: random.word() >> 8,
        cpu: random.between(0, 64) as u32,
        ..SampleIdValues::default()
    };
    record.with_trailer(attr, &trailer).finish()
}

fn switch(random: &mut Random) -> RecordBuilder {
    let misc = match random.between(0, 4) {
        0 => Misc::SWITCH_OUT,
        1 => Misc::SWITCH_OUT | Misc::SWITCH_OUT_PREEMPT,
        _ => Misc::empty(),
    };
    RecordBuilder::new(RecordType::SWITCH, misc)
}

fn mmap2(random: &mut Random) -> RecordBuilder {
    let name = name(random, 6, 64);
    RecordBuilder::new(RecordType::MMAP2, Misc::from_bits_retain(2))
        .pair(random.task(), random.task())
        .words(&[random.address() & !0xfff, random.between(1, 512) << 12, random.between(0, 512) << 12])
        .pair(8, random.between(0, 16) as u32)
        .words(&[random.between(1, 1 << 24), random.between(1, 1 << 30)])
        .pair(5, 2)
        .string(&name)
}

fn comm(random: &mut Random) -> RecordBuilder {
    let misc = if random.between(0, 2) == 0 { Misc::COMM_EXEC } else { Misc::empty() };
    let name = name(random, 2, 16);
    RecordBuilder::new(RecordType::COMM, misc).pair(random.task(), random.task()).string(&name)
}

fn task(kind: RecordType, random: &mut Random) -> RecordBuilder {
    RecordBuilder::new(kind, Misc::empty())
        .pair(random.task(), random.task())
        .pair(random.task(), random.task())
        .u64(random.word() >> 8)
}

fn name(random: &mut Random, low: u64, high: u64) -> Vec<u8> {
    (0..random.between(low, high)).map(|_| b'a' + random.between(0, 26) as u8).collect()
}
