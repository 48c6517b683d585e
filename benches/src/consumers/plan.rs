//! The simplest safe reader: word offsets computed once from the attr, and a check at each access.
//! It does not validate records and keeps no state about them.

use perf_abi::{Attr, AttrFlags, ReadFormat, RecordType, SampleType};
use zerocopy::IntoBytes;

use super::decoder::Decoder;
use super::{Input, Sum, Touch};
use crate::workloads::Workload;

/// Offset of a field that the event does not record, beyond all records.
const ABSENT: usize = usize::MAX;

/// Offsets in the records of one event, in words.
#[derive(Clone)]
pub struct Plan {
    fields: SampleType,
    ip: usize,
    task: usize,
    time: usize,
    cpu: usize,
    period: usize,
    /// Length of the header and the fixed fields in words. The parts of variable size follow.
    parts: usize,
    /// Length of a block of counts before its entries, and of an entry, in words.
    read: [usize; 2],
    /// Number of sampled registers.
    regs: usize,
    /// Length of the trailer of side-band records, and the offsets in it, in words.
    trailer: usize,
    trailer_task: usize,
    trailer_time: usize,
    trailer_cpu: usize,
}

/// Returns the offset of `field` among the fields of `order` that the event records.
fn offset(order: &[SampleType], fields: SampleType, field: SampleType, start: usize) -> usize {
    let before = order.iter().take_while(|&&other| other != field).filter(|&&other| fields.contains(other));
    if fields.contains(field) { start + before.count() } else { ABSENT }
}

impl Plan {
    pub fn new(attr: &Attr) -> Self {
        use SampleType as S;
        const HEAD: [SampleType; 9] =
            [S::IDENTIFIER, S::IP, S::TID, S::TIME, S::ADDR, S::ID, S::STREAM_ID, S::CPU, S::PERIOD];
        const TRAILER: [SampleType; 6] = [S::TID, S::TIME, S::ID, S::STREAM_ID, S::CPU, S::IDENTIFIER];
        let fields = attr.sample_type;
        let count = |order: &[S]| order.iter().filter(|&&field| fields.contains(field)).count();
        let head = |field| offset(&HEAD, fields, field, 1);
        let trailer = |field| offset(&TRAILER, fields, field, 0);
        let has = |field| usize::from(attr.read_format.contains(field));
        let times = has(ReadFormat::TOTAL_TIME_ENABLED) + has(ReadFormat::TOTAL_TIME_RUNNING);
        Self {
            fields,
            ip: head(S::IP),
            task: head(S::TID),
            time: head(S::TIME),
            cpu: head(S::CPU),
            period: head(S::PERIOD),
            parts: 1 + count(&HEAD),
            read: [1 + times, 1 + has(ReadFormat::ID) + has(ReadFormat::LOST)],
            regs: attr.sample_regs_user.count_ones() as usize,
            trailer: if attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) { count(&TRAILER) } else { 0 },
            trailer_task: trailer(S::TID),
            trailer_time: trailer(S::TIME),
            trailer_cpu: trailer(S::CPU),
        }
    }

    #[inline(always)]
    fn sample<W: Workload, T: Touch>(&self, sum: &mut Sum, words: &[u64]) -> Option<()> {
        let word = |index: usize| words.get(index).copied();
        sum.add_some(word(self.ip));
        sum.add_some(word(self.time));
        if !T::ALL {
            return Some(());
        }
        pair(sum, word(self.task));
        if W::FIELDS.contains(SampleType::CPU) {
            sum.add_some(word(self.cpu).map(|cpu| cpu as u32));
        }
        if W::FIELDS.contains(SampleType::PERIOD) {
            sum.add_some(word(self.period));
        }
        let mut rest = words.get(self.parts..)?;
        if self.fields.contains(SampleType::READ) {
            let [before, entry] = self.read;
            let (block, after) = rest.split_at_checked(before)?;
            let nr = usize::try_from(*block.first()?).ok()?;
            let (entries, after) = after.split_at_checked(nr.checked_mul(entry)?)?;
            rest = after;
            if W::FIELDS.contains(SampleType::READ) {
                sum.add_some(block.get(1).copied());
                sum.add_some(block.get(2).copied());
                for entry in entries.chunks_exact(entry) {
                    sum.add_some(entry.first().copied());
                    sum.add_some(entry.get(1).copied());
                }
            }
        }
        if self.fields.contains(SampleType::CALLCHAIN) {
            let (&nr, after) = rest.split_first()?;
            let (chain, after) = after.split_at_checked(usize::try_from(nr).ok()?)?;
            rest = after;
            if W::FIELDS.contains(SampleType::CALLCHAIN) {
                sum.words(chain);
            }
        }
        if self.fields.contains(SampleType::RAW) {
            let bytes = rest.as_bytes();
            let size = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
            rest = rest.get((size + 4) / 8..)?;
            if W::FIELDS.contains(SampleType::RAW) {
                T::content(sum, bytes.get(4..4 + size)?);
            }
        }
        if self.fields.contains(SampleType::REGS_USER) {
            let (&abi, after) = rest.split_first()?;
            let (regs, after) = after.split_at_checked(if abi == 0 { 0 } else { self.regs })?;
            rest = after;
            if W::FIELDS.contains(SampleType::REGS_USER) {
                sum.words(regs);
            }
        }
        if self.fields.contains(SampleType::STACK_USER) {
            let (&size, after) = rest.split_first()?;
            if size > 0 && W::FIELDS.contains(SampleType::STACK_USER) {
                let valid = *after.get(usize::try_from(size / 8).ok()?)?;
                T::content(sum, after.as_bytes().get(..usize::try_from(valid).ok()?)?);
            }
        }
        Some(())
    }

    #[inline(always)]
    fn other<T: Touch>(&self, sum: &mut Sum, header: u64, words: &[u64]) -> Option<()> {
        let (body, trailer) = words.split_at_checked(words.len().checked_sub(self.trailer)?)?;
        let word = |index: usize| body.get(index).copied();
        sum.add_some(trailer.get(self.trailer_time).copied());
        if !T::ALL {
            return Some(());
        }
        pair(sum, trailer.get(self.trailer_task).copied());
        sum.add_some(trailer.get(self.trailer_cpu).map(|cpu| *cpu as u32));
        match RecordType(header as u32) {
            RecordType::SWITCH => {
                sum.add(header >> 45 & 1);
                sum.add(header >> 46 & 1);
            }
            RecordType::MMAP2 => {
                [1, 5, 8].into_iter().for_each(|index| pair(sum, word(index)));
                [2, 3, 4, 6, 7].into_iter().for_each(|index| sum.add_some(word(index)));
                text(sum, body.get(9..)?)?;
            }
            RecordType::COMM => {
                pair(sum, word(1));
                sum.add(header >> 45 & 1);
                text(sum, body.get(2..)?)?;
            }
            RecordType::FORK | RecordType::EXIT => {
                [1, 2].into_iter().for_each(|index| pair(sum, word(index)));
                sum.add_some(word(3));
            }
            RecordType::LOST => [1, 2].into_iter().for_each(|index| sum.add_some(word(index))),
            _ => return None,
        }
        Some(())
    }
}

#[inline(always)]
fn pair(sum: &mut Sum, word: Option<u64>) {
    if let Some(word) = word {
        sum.add(word as u32);
        sum.add(word >> 32);
    }
}

#[inline(always)]
fn text(sum: &mut Sum, words: &[u64]) -> Option<()> {
    let name = std::ffi::CStr::from_bytes_until_nul(words.as_bytes()).ok()?;
    sum.text(name.to_bytes());
    Some(())
}

/// Iterator over whole records as slices of words.
pub struct Frames<'a>(pub &'a [u64]);

impl<'a> Iterator for Frames<'a> {
    type Item = Result<&'a [u64], ()>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let size = *self.0.first()? >> 48;
        if size < 8 || size % 8 != 0 {
            return None;
        }
        let (record, rest) = self.0.split_at_checked(size as usize / 8)?;
        self.0 = rest;
        Some(Ok(record))
    }
}

impl Decoder for Plan {
    const NAME: &'static str = "plan";
    type Raw<'a> = &'a [u64];
    type Record<'a> = (&'a Plan, &'a [u64]);
    type Error = ();
    type Records<'a> = Frames<'a>;

    #[inline(always)]
    fn open(input: &mut Input) -> (Frames<'_>, &Self) {
        (Frames(input.words()), &input.plan)
    }

    #[inline(always)]
    fn decode<'a>(&'a self, words: &'a [u64]) -> Result<Self::Record<'a>, ()> {
        Ok((self, words))
    }

    #[inline(always)]
    fn read<W: Workload, T: Touch>(sum: &mut Sum, (plan, words): &Self::Record<'_>) {
        let mut own = Sum::default();
        let header = words.first().copied().unwrap_or(0);
        let read = if header as u32 == RecordType::SAMPLE.0 {
            plan.sample::<W, T>(&mut own, words)
        } else {
            plan.other::<T>(&mut own, header, words)
        };
        if read.is_none() {
            own.refused();
        }
        sum.add(own.0);
    }
}
