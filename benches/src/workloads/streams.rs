//! Kinds of record streams that fill the rings.

use perf_abi::{Attr, AttrFlags, Misc, ReadFormat, SampleType, Software};
use perf_decode::testing::builder::{ReadValue, ReadValues, SampleBuilder};

use super::random::Random;
use super::side_band;
use crate::consumers::by_hand::Read;

/// A kind of record stream.
pub trait Workload: Read + Sized + 'static {
    /// Name in titles of benches.
    const NAME: &'static str;
    /// Attr of the only event of the stream.
    const ATTR: Attr;
    /// Sample fields of the attr.
    const FIELDS: SampleType = Self::ATTR.sample_type;
    /// Whether the stream has side-band records.
    const SIDE_BAND: bool = false;
    /// Returns the next record.
    fn record(random: &mut Random) -> Vec<u64>;
}

/// User registers of [`Stack`]: 16 registers of x86-64, without the segments.
pub const REGISTERS: u64 = 0xff_0fff & !(3 << 10) | 3 << 22;

const HEAD: SampleType = SampleType::IP.union(SampleType::TID).union(SampleType::TIME);
const FIXED: SampleType = HEAD.union(SampleType::CPU).union(SampleType::PERIOD);

const fn attr(fields: SampleType) -> Attr {
    Attr::software(Software::CPU_CLOCK).with_sample_type(fields)
}

fn head(attr: &Attr, random: &mut Random) -> SampleBuilder {
    SampleBuilder::new(attr)
        .misc(Misc::from_bits_retain(random.between(1, 3) as u16))
        .ip(random.address())
        .tid(random.task(), random.task())
        .time(random.word() >> 8)
        .cpu(random.between(0, 64) as u32)
        .period(random.between(1, 1 << 30))
}

/// Samples of fixed length: ip, tid, time, cpu, period.
pub struct Fixed;

impl Workload for Fixed {
    const NAME: &'static str = "fixed";
    const ATTR: Attr = attr(FIXED);
    fn record(random: &mut Random) -> Vec<u64> {
        head(&Self::ATTR, random).finish()
    }
}

/// `Fixed` with callchains of 5 to 64 entries, of which two are markers.
pub struct Callchain;

impl Workload for Callchain {
    const NAME: &'static str = "callchain";
    const ATTR: Attr = attr(FIXED.union(SampleType::CALLCHAIN));
    fn record(random: &mut Random) -> Vec<u64> {
        let nr = random.between(5, 65) as usize;
        let mut chain: Vec<u64> = (0..nr).map(|_| random.address()).collect();
        chain[0] = perf_abi::CallchainContext::KERNEL.0;
        chain[random.between(2, nr as u64) as usize] = perf_abi::CallchainContext::USER.0;
        head(&Self::ATTR, random).callchain(&chain).finish()
    }
}

/// User registers and 8 KiB of user stack.
pub struct Stack;

impl Workload for Stack {
    const NAME: &'static str = "stack";
    const ATTR: Attr = attr(HEAD.union(SampleType::REGS_USER).union(SampleType::STACK_USER))
        .with_regs_user(REGISTERS)
        .with_stack_user(perf_abi::StackSize::DEFAULT);
    fn record(random: &mut Random) -> Vec<u64> {
        let registers: Vec<u64> = (0..REGISTERS.count_ones()).map(|_| random.word()).collect();
        let stack = random.bytes(8192);
        let valid = if random.between(0, 4) == 0 { random.between(64, 1024) * 8 } else { 8192 };
        head(&Self::ATTR, random).regs_user(2, &registers).stack_user(&stack, valid).finish()
    }
}

/// Tracepoints: 20 to 204 bytes of raw data.
pub struct Raw;

impl Workload for Raw {
    const NAME: &'static str = "raw";
    const ATTR: Attr = attr(FIXED.union(SampleType::RAW));
    fn record(random: &mut Random) -> Vec<u64> {
        let len = random.between(2, 26) * 8 + 4;
        let raw = random.bytes(len);
        head(&Self::ATTR, random).raw(&raw).finish()
    }
}

/// Counts of groups of two to six events, with ids and times.
pub struct Group;

impl Workload for Group {
    const NAME: &'static str = "group";
    const ATTR: Attr = attr(HEAD.union(SampleType::READ)).with_read_format(
        ReadFormat::GROUP
            .union(ReadFormat::ID)
            .union(ReadFormat::TOTAL_TIME_ENABLED)
            .union(ReadFormat::TOTAL_TIME_RUNNING),
    );
    fn record(random: &mut Random) -> Vec<u64> {
        let values = (0..random.between(2, 7))
            .map(|_| ReadValue { value: random.word() >> 16, id: random.between(1, 1 << 20), lost: 0 })
            .collect();
        let read = ReadValues { time_enabled: random.word() >> 8, time_running: random.word() >> 9, values };
        head(&Self::ATTR, random).read(read).finish()
    }
}

const WITH_TRAILERS: Attr = attr(FIXED).with_flags(AttrFlags::SAMPLE_ID_ALL);

/// Side-band records, each with a trailer: SWITCH, MMAP2, COMM, FORK, EXIT, LOST.
pub struct SideBand;

impl Workload for SideBand {
    const NAME: &'static str = "side-band";
    const ATTR: Attr = WITH_TRAILERS;
    const SIDE_BAND: bool = true;
    fn record(random: &mut Random) -> Vec<u64> {
        side_band::record(&Self::ATTR, random)
    }
}

/// Nine samples of fixed length for each side-band record.
pub struct Mix;

impl Workload for Mix {
    const NAME: &'static str = "mix";
    const ATTR: Attr = WITH_TRAILERS;
    const SIDE_BAND: bool = true;
    fn record(random: &mut Random) -> Vec<u64> {
        match random.between(0, 10) {
            0 => side_band::record(&Self::ATTR, random),
            _ => head(&Self::ATTR, random).finish(),
        }
    }
}
