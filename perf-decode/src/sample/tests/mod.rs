//! Views of samples.

use std::string::ToString;
use std::vec::Vec;

use perf_abi::regs::RegsAbi;
use perf_abi::{Attr, BranchSampleType, Header, Misc, ReadFormat, RecordType, Software};

use super::*;
use crate::testing::builder::{ReadValue, ReadValues as BuiltRead, RecordBuilder, SampleBuilder};

mod branches;
mod heads;
mod parts;
mod trailing;

/// The lowest bit of `sample_type` that has no meaning yet.
const FIRST_UNKNOWN: u32 = u64::BITS - SampleType::KNOWN.bits().leading_zeros();

fn event(wanted: SampleType) -> Attr {
    Attr::software(Software::CPU_CLOCK).with_sample_type(wanted)
}

/// Decodes `words` by `attr` and passes the sample to `check`.
fn with_sample<T>(words: &[u64], attr: &Attr, check: impl FnOnce(Sample<'_>) -> T) -> Result<T> {
    let layout = SampleLayout::new(attr);
    Sample::parse(RawRecord::from_words(words)?, &layout).map(check)
}

/// Returns the fields of a sample as text.
fn fields(words: &[u64], attr: &Attr) -> Result<Vec<std::string::String>> {
    with_sample(words, attr, |sample| sample.fields().map(|field| field.to_string()).collect())
}

/// Removes the last `count` words of a record.
fn truncate(mut words: Vec<u64>, count: usize) -> Vec<u64> {
    words.truncate(words.len() - count);
    let size = words.len() as u16 * 8;
    words[0] = Header { size, ..Header::from_word(words[0]) }.to_word();
    words
}

/// Adds one word to a record.
fn grow(mut words: Vec<u64>, word: u64) -> Vec<u64> {
    words.push(word);
    truncate(words, 0)
}

fn invalid_field(field: &'static str, value: u64) -> Error {
    Error::Invalid { kind: RecordType::SAMPLE, field, value }
}
