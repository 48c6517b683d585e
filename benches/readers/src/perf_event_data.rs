//! perf-event-data 0.1.8, by a visitor of ours: its own `Record` boxes samples and drops trailers.

use perf_abi::{Attr, RecordType, SampleType};
use perf_event_data::endian::Native;
use perf_event_data::parse::{ParseConfig, Parser};
use perf_event_data::{Comm, Exit, Fork, Lost, Mmap2, RecordMetadata, Sample, Visitor};
use perf_event_open_sys::bindings::perf_event_attr;

use crate::workload::Workload;
use crate::{Peer, Sum, Touch};

/// The crate.
#[derive(Clone, Copy, Debug)]
pub struct PerfEventData;

/// A decoded body.
#[expect(
    clippy::large_enum_variant,
    reason = "a box per sample would cost an allocation that the crate does not ask for"
)]
pub enum Body<'p> {
    /// A sample, which has no trailer.
    Sample(Sample<'p>),
    /// A mapping.
    Mmap2(Mmap2<'p>),
    /// A name.
    Comm(Comm<'p>),
    /// FORK or EXIT.
    Task(Exit),
    /// A loss.
    Lost(Lost),
    /// A context switch.
    Switch,
    /// A record that the workloads do not have.
    Unexpected,
}

impl Peer for PerfEventData {
    const NAME: &'static str = "perf-event-data";
    type Config = ParseConfig<Native>;
    type Record<'a> = (Body<'a>, RecordMetadata);

    fn config(attr: &Attr) -> ParseConfig<Native> {
        let mut theirs = perf_event_attr::default();
        theirs.sample_type = attr.sample_type.bits();
        theirs.read_format = attr.read_format.bits();
        theirs.sample_regs_user = attr.sample_regs_user;
        theirs.set_sample_id_all(attr.flags.contains(perf_abi::AttrFlags::SAMPLE_ID_ALL).into());
        ParseConfig::from(theirs)
    }

    #[inline(always)]
    fn decode<'a>(frame: &'a [u8], config: &ParseConfig<Native>) -> Option<Self::Record<'a>> {
        let kind = u32::from_ne_bytes(*frame.first_chunk()?);
        let mut parser = Parser::new(frame, config.clone());
        // It takes the empty body of a SWITCH for the end of the data, but reads the header and the trailer.
        if kind == RecordType::SWITCH.0 {
            return parser.parse_metadata().ok().map(|(_, metadata)| (Body::Switch, metadata));
        }
        parser.parse_record(Keep).ok()
    }

    #[inline(always)]
    fn read<W: Workload, T: Touch>(sum: &mut Sum, (body, metadata): &Self::Record<'_>) {
        match body {
            Body::Sample(sample) => read_sample::<W, T>(sum, sample),
            _ if !W::SIDE_BAND => sum.refused(),
            other => read_other::<T>(sum, other, metadata),
        }
    }
}

/// Visitor that keeps the bodies that the workloads have.
struct Keep;

impl<'p> Visitor<'p> for Keep {
    type Output = (Body<'p>, RecordMetadata);

    fn visit_unimplemented(self, metadata: RecordMetadata) -> Self::Output {
        (Body::Unexpected, metadata)
    }

    #[inline(always)]
    fn visit_sample(self, sample: Sample<'p>, metadata: RecordMetadata) -> Self::Output {
        (Body::Sample(sample), metadata)
    }

    fn visit_mmap2(self, mmap: Mmap2<'p>, metadata: RecordMetadata) -> Self::Output {
        (Body::Mmap2(mmap), metadata)
    }

    fn visit_comm(self, comm: Comm<'p>, metadata: RecordMetadata) -> Self::Output {
        (Body::Comm(comm), metadata)
    }

    fn visit_fork(self, fork: Fork, metadata: RecordMetadata) -> Self::Output {
        (Body::Task(fork), metadata)
    }

    fn visit_exit(self, exit: Exit, metadata: RecordMetadata) -> Self::Output {
        (Body::Task(exit), metadata)
    }

    fn visit_lost(self, lost: Lost, metadata: RecordMetadata) -> Self::Output {
        (Body::Lost(lost), metadata)
    }
}

#[inline(always)]
fn read_sample<W: Workload, T: Touch>(sum: &mut Sum, sample: &Sample<'_>) {
    sum.add_some(sample.ip());
    sum.add_some(sample.time());
    if !T::ALL {
        return;
    }
    sum.add_some(sample.pid());
    sum.add_some(sample.tid());
    if W::FIELDS.contains(SampleType::CPU) {
        sum.add_some(sample.cpu());
    }
    if W::FIELDS.contains(SampleType::PERIOD) {
        sum.add_some(sample.period());
    }
    if let Some(read) = sample.values() {
        sum.add_some(read.time_enabled());
        sum.add_some(read.time_running());
        for count in read.entries() {
            sum.add(count.value());
            sum.add_some(count.id());
        }
    }
    if let Some(chain) = sample.callchain() {
        sum.words(chain);
    }
    if let Some(raw) = sample.raw() {
        T::content(sum, raw);
    }
    if let Some(regs) = sample.regs_user() {
        sum.words(&regs.regs);
    }
    if let Some(stack) = sample.stack_user() {
        T::content(sum, stack);
    }
}

#[inline(always)]
fn read_other<T: Touch>(sum: &mut Sum, other: &Body<'_>, metadata: &RecordMetadata) {
    let id = metadata.sample_id();
    sum.add_some(id.time());
    if !T::ALL {
        return;
    }
    sum.add_some(id.pid());
    sum.add_some(id.tid());
    sum.add_some(id.cpu());
    match other {
        Body::Mmap2(mmap) => {
            sum.add(mmap.pid);
            sum.add(mmap.tid);
            sum.add(mmap.addr);
            sum.add(mmap.len);
            sum.add(mmap.pgoff);
            sum.add_some(mmap.maj());
            sum.add_some(mmap.min());
            sum.add_some(mmap.ino());
            sum.add_some(mmap.ino_generation());
            sum.add(mmap.prot);
            sum.add(mmap.flags);
            sum.text(&mmap.filename);
        }
        Body::Comm(comm) => {
            sum.add(comm.pid);
            sum.add(comm.tid);
            sum.add(metadata.misc() >> 13 & 1);
            sum.text(&comm.comm);
        }
        Body::Task(task) => {
            [task.pid, task.ppid, task.tid, task.ptid].into_iter().for_each(|task| sum.add(task));
            sum.add(task.time);
        }
        Body::Lost(lost) => {
            sum.add(lost.id);
            sum.add(lost.lost);
        }
        Body::Switch => {
            sum.add(metadata.misc() >> 13 & 1);
            sum.add(metadata.misc() >> 14 & 1);
        }
        Body::Sample(_) | Body::Unexpected => sum.refused(),
    }
}
