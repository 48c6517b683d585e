//! Hand-written code for one layout only: pointers, constant offsets, and the header's size as the
//! only check. It is a yardstick for the other decoders, not a model, because malformed bytes make
//! it read foreign memory.

use std::ffi::CStr;

use perf_abi::RecordType;

use super::decoder::{Decoder, Never};
use super::{Input, Sum, Touch};
use crate::workloads::{Callchain, Fixed, Group, Mix, REGISTERS, Raw, SideBand, Stack, Workload};

/// The hand-written code as a [`Decoder`].
#[derive(Clone)]
pub struct ByHand;

impl Decoder for ByHand {
    const NAME: &'static str = "by-hand";
    type Raw<'a> = Pointer;
    type Record<'a> = Pointer;
    type Error = Never;
    type Records<'a> = Pointers;

    #[inline(always)]
    fn open(input: &mut Input) -> (Pointers, &Self) {
        (Pointers::new(input.words()), &Self)
    }

    #[inline(always)]
    fn decode(&self, raw: Pointer) -> Result<Pointer, Never> {
        Ok(raw)
    }

    #[inline(always)]
    fn read<W: Workload, T: Touch>(sum: &mut Sum, record: &Pointer) {
        // SAFETY: the words of an input are whole records of its workload.
        unsafe { W::read::<T>(sum, *record) }
    }
}

/// The hand-written decoder of a workload.
pub trait Read {
    /// Reads the body of one record, whose header is the word at `record`.
    ///
    /// # Safety
    ///
    /// A whole record of the workload must start at `record`.
    unsafe fn read<T: Touch>(sum: &mut Sum, record: Pointer);
}

/// Iterator over the records of a slice of words.
#[derive(Clone, Copy, Debug)]
pub struct Pointers {
    at: Pointer,
    left: usize,
}

impl Pointers {
    /// Returns pointers to the records in `words`, up to the first size that is below 8 or past the
    /// end.
    #[inline(always)]
    pub fn new(words: &[u64]) -> Self {
        Self { at: Pointer(words.as_ptr()), left: words.len() * 8 }
    }
}

impl Iterator for Pointers {
    type Item = Result<Pointer, Never>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let (record, size) = (self.at, self.at.size());
        if size < 8 || size > self.left {
            return None;
        }
        self.at = Pointer(record.0.wrapping_byte_add(size));
        self.left -= size;
        Some(Ok(record))
    }
}

/// The first word of a record, followed by the rest of the record.
#[derive(Clone, Copy, Debug)]
pub struct Pointer(*const u64);

impl Pointer {
    #[inline(always)]
    fn word(self, index: usize) -> u64 {
        // SAFETY: the creator of the pointer vouched for the record, and the layout has this word.
        unsafe { *self.0.wrapping_add(index) }
    }

    #[inline(always)]
    fn words<'a>(self, index: usize, count: usize) -> &'a [u64] {
        // SAFETY: as for one word.
        unsafe { std::slice::from_raw_parts(self.0.wrapping_add(index), count) }
    }

    #[inline(always)]
    fn bytes<'a>(self, offset: usize, len: usize) -> &'a [u8] {
        // SAFETY: as for one word.
        unsafe { std::slice::from_raw_parts(self.0.cast::<u8>().wrapping_add(offset), len) }
    }

    #[inline(always)]
    fn text<'a>(self, index: usize) -> &'a [u8] {
        // SAFETY: the kernel ends every name with a NUL.
        unsafe { CStr::from_ptr(self.0.wrapping_add(index).cast()) }.to_bytes()
    }

    /// Returns the header's kind.
    #[inline(always)]
    pub fn kind(self) -> u32 {
        self.word(0) as u32
    }

    #[inline(always)]
    fn misc(self) -> u64 {
        self.word(0) >> 32 & 0xffff
    }

    /// Returns the header's size in bytes.
    #[inline(always)]
    pub fn size(self) -> usize {
        (self.word(0) >> 48) as usize
    }

    #[inline(always)]
    fn pair(self, index: usize, sum: &mut Sum) {
        let word = self.word(index);
        sum.add(word as u32);
        sum.add(word >> 32);
    }

    /// Reads ip, tid and time in words 1 to 3.
    #[inline(always)]
    fn head<T: Touch>(self, sum: &mut Sum) {
        sum.add(self.word(1));
        sum.add(self.word(3));
        if T::ALL {
            self.pair(2, sum);
        }
    }

    /// Reads the head, cpu, and period in word 5.
    #[inline(always)]
    fn fixed<T: Touch>(self, sum: &mut Sum) {
        self.head::<T>(sum);
        if T::ALL {
            sum.add(self.word(4) as u32);
            sum.add(self.word(5));
        }
    }
}

const SAMPLE: u32 = RecordType::SAMPLE.0;

impl Read for Fixed {
    #[inline(always)]
    unsafe fn read<T: Touch>(sum: &mut Sum, record: Pointer) {
        if record.kind() == SAMPLE {
            record.fixed::<T>(sum);
        }
    }
}

impl Read for Callchain {
    #[inline(always)]
    unsafe fn read<T: Touch>(sum: &mut Sum, record: Pointer) {
        if record.kind() == SAMPLE {
            record.fixed::<T>(sum);
            if T::ALL {
                sum.words(record.words(7, record.word(6) as usize));
            }
        }
    }
}

impl Read for Stack {
    #[inline(always)]
    unsafe fn read<T: Touch>(sum: &mut Sum, record: Pointer) {
        const REGS: usize = REGISTERS.count_ones() as usize;
        if record.kind() == SAMPLE {
            record.head::<T>(sum);
            if T::ALL {
                let regs = if record.word(4) == 0 { 0 } else { REGS };
                sum.words(record.words(5, regs));
                let size = record.word(5 + regs) as usize;
                if size > 0 {
                    T::content(sum, record.bytes((6 + regs) * 8, record.word(6 + regs + size / 8) as usize));
                }
            }
        }
    }
}

impl Read for Raw {
    #[inline(always)]
    unsafe fn read<T: Touch>(sum: &mut Sum, record: Pointer) {
        if record.kind() == SAMPLE {
            record.fixed::<T>(sum);
            if T::ALL {
                T::content(sum, record.bytes(6 * 8 + 4, record.word(6) as u32 as usize));
            }
        }
    }
}

impl Read for Group {
    #[inline(always)]
    unsafe fn read<T: Touch>(sum: &mut Sum, record: Pointer) {
        if record.kind() == SAMPLE {
            record.head::<T>(sum);
            if T::ALL {
                sum.add(record.word(5));
                sum.add(record.word(6));
                for entry in record.words(7, record.word(4) as usize * 2).chunks_exact(2) {
                    sum.add(entry[0]);
                    sum.add(entry[1]);
                }
            }
        }
    }
}

impl Read for Mix {
    #[inline(always)]
    unsafe fn read<T: Touch>(sum: &mut Sum, record: Pointer) {
        if record.kind() == SAMPLE {
            record.fixed::<T>(sum);
        } else {
            // SAFETY: the caller's obligations are the same as the callee's.
            unsafe { SideBand::read::<T>(sum, record) }
        }
    }
}

impl Read for SideBand {
    #[inline(always)]
    unsafe fn read<T: Touch>(sum: &mut Sum, record: Pointer) {
        let kind = RecordType(record.kind());
        let trailer = record.size() / 8 - 3;
        sum.add(record.word(trailer + 1));
        if !T::ALL {
            return;
        }
        record.pair(trailer, sum);
        sum.add(record.word(trailer + 2) as u32);
        match kind {
            RecordType::SWITCH => {
                sum.add(record.misc() >> 13 & 1);
                sum.add(record.misc() >> 14 & 1);
            }
            RecordType::MMAP2 => {
                record.pair(1, sum);
                (2..5).for_each(|index| sum.add(record.word(index)));
                record.pair(5, sum);
                (6..8).for_each(|index| sum.add(record.word(index)));
                record.pair(8, sum);
                sum.text(record.text(9));
            }
            RecordType::COMM => {
                record.pair(1, sum);
                sum.add(record.misc() >> 13 & 1);
                sum.text(record.text(2));
            }
            RecordType::FORK | RecordType::EXIT => {
                record.pair(1, sum);
                record.pair(2, sum);
                sum.add(record.word(3));
            }
            RecordType::LOST => {
                sum.add(record.word(1));
                sum.add(record.word(2));
            }
            _ => sum.refused(),
        }
    }
}
