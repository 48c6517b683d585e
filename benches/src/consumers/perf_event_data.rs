//! perf-event-data 0.1.8, by its visitor: that spares the box in which its `Record` keeps a sample.

use std::marker::PhantomData;

use perf_abi::{Attr, RecordType, SampleType};
use perf_event_data::endian::Native;
use perf_event_data::parse::{ParseConfig, Parser};
use perf_event_data::{Comm, Exit, Fork, Lost, Mmap2, RecordMetadata, Sample, Visitor};
use perf_event_open_sys::bindings::perf_event_attr;

use crate::workload::Workload;
use crate::{Input, Sum, Touch};

/// What the decoder is told of the event.
pub(crate) fn config(attr: &Attr) -> ParseConfig<Native> {
    let mut theirs = perf_event_attr::default();
    theirs.sample_type = attr.sample_type.bits();
    theirs.read_format = attr.read_format.bits();
    theirs.sample_regs_user = attr.sample_regs_user;
    theirs.set_sample_id_all(attr.flags.contains(perf_abi::AttrFlags::SAMPLE_ID_ALL).into());
    ParseConfig::from(theirs)
}

/// The records one by one.
#[inline(never)]
pub fn records<W: Workload, T: Touch>(input: &mut Input) -> u64 {
    let mut sum = Sum::default();
    let mut bytes = input.bytes();
    let mut parser = Parser::new(bytes, input.data().clone());
    while let Some((header, _)) = bytes.split_first_chunk() {
        let header = u64::from_ne_bytes(*header);
        bytes = bytes.get((header >> 48) as usize..).unwrap_or(&[]);
        let mut reader = Reader::<W, T> { sum: &mut sum, kinds: PhantomData };
        // It takes the empty body of a SWITCH for the end of the data; what precedes the body it can read.
        let read = if W::SIDE_BAND && header as u32 == RecordType::SWITCH.0 {
            parser.parse_metadata().map(|(_, metadata)| reader.switch(&metadata))
        } else {
            parser.parse_record(reader)
        };
        if read.is_err() {
            sum.refused();
        }
    }
    sum.0
}

struct Reader<'s, W, T> {
    sum: &'s mut Sum,
    kinds: PhantomData<(W, T)>,
}

impl<W: Workload, T: Touch> Reader<'_, W, T> {
    /// The trailer's fields; returns whether the body's are wanted too.
    #[inline(always)]
    fn trailer(&mut self, metadata: &RecordMetadata) -> bool {
        let id = metadata.sample_id();
        self.sum.add_some(id.time());
        if !T::ALL {
            return false;
        }
        self.sum.add_some(id.pid());
        self.sum.add_some(id.tid());
        self.sum.add_some(id.cpu());
        true
    }

    #[inline(always)]
    fn switch(&mut self, metadata: &RecordMetadata) {
        if self.trailer(metadata) {
            self.sum.add(metadata.misc() >> 13 & 1);
            self.sum.add(metadata.misc() >> 14 & 1);
        }
    }

    #[inline(always)]
    fn task(mut self, task: &Exit, metadata: &RecordMetadata) {
        if self.trailer(metadata) {
            [task.pid, task.ppid, task.tid, task.ptid].into_iter().for_each(|task| self.sum.add(task));
            self.sum.add(task.time);
        }
    }
}

impl<'p, W: Workload, T: Touch> Visitor<'p> for Reader<'_, W, T> {
    type Output = ();

    fn visit_unimplemented(self, _: RecordMetadata) {
        self.sum.refused();
    }

    fn visit_sample(self, sample: Sample<'p>, _: RecordMetadata) {
        let sum = self.sum;
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

    fn visit_mmap2(mut self, mmap: Mmap2<'p>, metadata: RecordMetadata) {
        if self.trailer(&metadata) {
            let sum = self.sum;
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
    }

    fn visit_comm(mut self, comm: Comm<'p>, metadata: RecordMetadata) {
        if self.trailer(&metadata) {
            self.sum.add(comm.pid);
            self.sum.add(comm.tid);
            self.sum.add(metadata.misc() >> 13 & 1);
            self.sum.text(&comm.comm);
        }
    }

    fn visit_fork(self, fork: Fork, metadata: RecordMetadata) {
        self.task(&fork, &metadata);
    }

    fn visit_exit(self, exit: Exit, metadata: RecordMetadata) {
        self.task(&exit, &metadata);
    }

    fn visit_lost(mut self, lost: Lost, metadata: RecordMetadata) {
        if self.trailer(&metadata) {
            self.sum.add(lost.id);
            self.sum.add(lost.lost);
        }
    }
}
