//! Converts a little-endian file to the file of a big-endian machine.
//!
//! Written from the layouts of the format and not from the reader: it walks over the bytes of the
//! file and reverses each number in place.

use perf_abi::{Attr, AttrFlags, BranchSampleType, EventType, ReadFormat, SampleType};

/// A position in a file that is turned.
pub(crate) struct Turn<'f> {
    pub(crate) file: &'f mut [u8],
    pub(crate) at: usize,
}

impl Turn<'_> {
    /// Reverses the number of `len` bytes at the position and returns it.
    pub(crate) fn number(&mut self, len: usize) -> u64 {
        let bytes = &mut self.file[self.at..self.at + len];
        let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        bytes.reverse();
        self.at += len;
        number
    }

    pub(crate) fn u16(&mut self) -> u64 {
        self.number(2)
    }

    pub(crate) fn u32(&mut self) -> u64 {
        self.number(4)
    }

    pub(crate) fn u64(&mut self) -> u64 {
        self.number(8)
    }

    pub(crate) fn skip(&mut self, len: u64) {
        self.at += usize::try_from(len).unwrap();
    }

    pub(crate) fn u64s(&mut self, count: u64) {
        for _ in 0..count {
            self.u64();
        }
    }

    pub(crate) fn u16s(&mut self, count: u64) {
        for _ in 0..count {
            self.u16();
        }
    }

    fn u64s_until(&mut self, end: usize) {
        while self.at + 8 <= end {
            self.u64();
        }
    }

    /// Reverses the bits of each byte: C bit fields start at the other end.
    fn flags(&mut self, len: usize) {
        for byte in &mut self.file[self.at..self.at + len] {
            *byte = byte.reverse_bits();
        }
        self.at += len;
    }
}

/// The fields of an attr that the layout of records depends on, and the ids of its event.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) attr: Attr,
    pub(crate) ids: Vec<u64>,
}

/// Turns an attr of `len` bytes.
pub(crate) fn attr(turn: &mut Turn<'_>, len: u64) -> Shape {
    let end = turn.at + usize::try_from(len).unwrap();
    turn.u32();
    turn.u32();
    turn.u64();
    turn.u64();
    let (sample_type, read_format) = (turn.u64(), turn.u64());
    let flags = u64::from_le_bytes(turn.file[turn.at..turn.at + 8].try_into().unwrap());
    turn.flags(8);
    turn.u32();
    turn.u32();
    turn.u64();
    let mut rest = [0; 5];
    // config2, branch_sample_type, sample_regs_user, (sample_stack_user, clockid), sample_regs_intr
    for (index, value) in rest.iter_mut().enumerate().filter(|_| len > 64) {
        if turn.at < end {
            *value = if index == 3 { turn.u32() + turn.u32() } else { turn.u64() };
        }
    }
    if turn.at < end {
        // aux_watermark, sample_max_stack, reserved
        turn.u32();
        turn.u16();
        turn.u16();
    }
    if turn.at < end {
        turn.u32();
        turn.flags(4);
    }
    turn.u64s_until(end);
    let [_, branches, sample_regs_user, _, sample_regs_intr] = rest;
    let mut attr = Attr::new(EventType::SOFTWARE, 0);
    attr.sample_type = SampleType::from_bits_retain(sample_type);
    attr.read_format = ReadFormat::from_bits_retain(read_format);
    attr.flags = AttrFlags::from_bits_retain(flags);
    attr.branch_sample_type = BranchSampleType::from_bits_retain(branches);
    attr.sample_regs_user = sample_regs_user;
    attr.sample_regs_intr = sample_regs_intr;
    Shape { attr, ids: Vec::new() }
}

/// Turns a file in the file form.
pub(crate) fn file(bytes: &[u8]) -> Vec<u8> {
    let mut turned = bytes.to_vec();
    let mut turn = Turn { file: &mut turned, at: 0 };
    turn.u64();
    let (header_size, attr_size) = (turn.u64(), turn.u64());
    assert_eq!(header_size, 104);
    let sections: Vec<(u64, u64)> = (0..3).map(|_| (turn.u64(), turn.u64())).collect();
    let features: Vec<u64> = (0..4).map(|_| turn.u64()).collect();
    let mut events = Vec::new();
    for entry in 0..sections[0].1 / attr_size {
        turn.at = usize::try_from(sections[0].0 + entry * attr_size).unwrap();
        let mut event = attr(&mut turn, attr_size - 16);
        let (offset, size) = (turn.u64(), turn.u64());
        turn.at = usize::try_from(offset).unwrap();
        event.ids = (0..size / 8).map(|_| turn.u64()).collect();
        events.push(event);
    }
    turn.at = usize::try_from(sections[1].0).unwrap();
    let end = turn.at + usize::try_from(sections[1].1).unwrap();
    while turn.at < end {
        super::byteswap_record::record(&mut turn, &events);
    }
    let mut table = end;
    for feature in (0..256).filter(|bit| features[bit / 64] >> (bit % 64) & 1 == 1) {
        turn.at = table;
        let (offset, size) = (turn.u64(), turn.u64());
        table = turn.at;
        turn.at = usize::try_from(offset).unwrap();
        super::byteswap_feature::section(&mut turn, feature, usize::try_from(size).unwrap());
    }
    turned
}
