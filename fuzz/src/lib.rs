//! Input of the fuzz targets, made from the bytes of the fuzzer.
//!
//! An input is a row of little-endian 8-byte words, read from the front, so that a seed can be written
//! by hand and a captured record appended as it is. Words that are missing are 0.

pub mod accessors;
pub mod constant;
pub mod elf;
pub mod file;
pub mod stacks;

use perf_abi::{Attr, AttrFlags, BranchSampleType, ReadFormat, SampleType, Software};

/// Takes words off the front of the fuzzer's bytes.
#[derive(Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next word; 0 if fewer than eight bytes are left.
    pub fn word(&mut self) -> u64 {
        let Some((word, rest)) = self.bytes.split_first_chunk() else {
            return 0;
        };
        self.bytes = rest;
        u64::from_le_bytes(*word)
    }

    /// A word whose bits are those of `mask`, or any if its highest is set: so that most inputs are
    /// sensible and none is impossible.
    pub fn mostly(&mut self, mask: u64) -> u64 {
        let word = self.word();
        if word >> 63 == 1 { word } else { word & mask }
    }

    /// Six words as the part of an attr that decides how records look: sample type, read format, flags,
    /// branch sample type, and the masks of user and interrupt registers.
    pub fn attr(&mut self) -> Attr {
        Attr::software(Software::DUMMY)
            .with_sample_type(SampleType::from_bits_retain(self.mostly(SampleType::KNOWN.bits())))
            .with_read_format(ReadFormat::from_bits_retain(self.mostly(ReadFormat::KNOWN.bits())))
            .with_flags(AttrFlags::from_bits_retain(self.mostly(AttrFlags::KNOWN.bits())))
            .replace_branch_sample_type(BranchSampleType::from_bits_retain(
                self.mostly(BranchSampleType::KNOWN.bits()),
            ))
            .replace_regs_user(self.word())
            .replace_regs_intr(self.word())
    }

    /// All words that are left.
    pub fn words(mut self) -> Vec<u64> {
        let count = self.bytes.len() / 8;
        (0..count).map(|_| self.word()).collect()
    }

    /// All words that are left, as one record: the size in its header is set to be right.
    pub fn record(self) -> Vec<u64> {
        let mut words = self.words();
        words.truncate(usize::from(u16::MAX) / 8);
        let size = words.len() as u16 * 8;
        if let Some(header) = words.first_mut() {
            let [kind_and_misc @ .., _, _] = header.to_ne_bytes();
            let [a, b, c, d, e, f] = kind_and_misc;
            let [g, h] = size.to_ne_bytes();
            *header = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
        }
        words
    }
}
