//! The body of a record that is not a sample: what lies between its header and its trailer.

use core::ffi::CStr;

use perf_abi::{Misc, RecordType};
use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::{Error, RawRecord, Result, SampleLayout, word};

/// What every kind of record is parsed from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a> {
    pub(crate) kind: RecordType,
    pub(crate) misc: Misc,
    pub(crate) words: &'a [u64],
    pub(crate) layout: &'a SampleLayout,
}

/// Records that are not samples, each in its own file.
pub(crate) trait Parse<'a>: Sized {
    fn parse(body: Body<'a>) -> Result<Self>;
}

/// Parts a record behind its header into its body and its trailer.
#[inline]
pub(crate) fn split<'a>(raw: RawRecord<'a>, layout: &SampleLayout) -> Result<(&'a [u64], &'a [u64])> {
    let kind = raw.kind();
    let words = raw.words().get(1..).unwrap_or(&[]);
    let trailer = if has_trailer(kind) { usize::from(layout.trailer_words) } else { 0 };
    let Some(mut end) = words.len().checked_sub(trailer) else {
        return Err(truncated(kind, "sample_id", trailer as u64 * 8, words.len() as u64 * 8));
    };
    if trailer_follows_body(kind) {
        end = own_end(kind, words).map_or(end, |own| own.min(end));
    }
    let (body, rest) = words.split_at_checked(end).unwrap_or((words, &[]));
    Ok((body, rest.get(..trailer).unwrap_or(rest)))
}

/// Samples carry the trailer's fields in their head, and of unknown kinds nothing is known.
#[inline]
pub(crate) fn has_trailer(kind: RecordType) -> bool {
    (RecordType::MMAP.0..=RecordType::CALLCHAIN_DEFERRED.0).contains(&kind.0) && kind != RecordType::SAMPLE
}

/// Whether the trailer of this kind is found from the front.
///
/// When several events of a CPU get the same record, kernels before 7.3 make each copy of these three
/// kinds longer than the one before by a trailer that is never written. The true trailer stands right
/// behind the body.
#[inline]
pub(crate) fn trailer_follows_body(kind: RecordType) -> bool {
    matches!(kind, RecordType::BPF_EVENT | RecordType::KSYMBOL | RecordType::TEXT_POKE)
}

/// Length in words of the body of a kind whose trailer follows it.
#[cold]
fn own_end(kind: RecordType, words: &[u64]) -> Option<usize> {
    match kind {
        RecordType::BPF_EVENT => Some(2),
        RecordType::KSYMBOL => {
            let name = word::c_str(word::bytes(words.get(2..)?))?;
            Some(2 + word::words_for(name.to_bytes_with_nul().len()))
        }
        RecordType::TEXT_POKE => {
            let [old_len, new_len, _, _] = word::quarters(*words.get(1)?);
            // The code bytes start behind the two lengths, in the middle of a word.
            Some(1 + word::words_for(4 + usize::from(old_len) + usize::from(new_len)))
        }
        _ => None,
    }
}

impl<'a> Body<'a> {
    /// The fixed head of the body and the bytes behind it.
    pub(crate) fn head<Head>(self) -> Result<(&'a Head, &'a [u8])>
    where
        Head: FromBytes + KnownLayout + Immutable,
    {
        let bytes = word::bytes(self.words);
        Head::ref_from_prefix(bytes)
            .map_err(|_| self.truncated("body", size_of::<Head>() as u64, bytes.len()))
    }

    /// The whole of a body that has no other parts.
    pub(crate) fn fixed<Head>(self) -> Result<Head>
    where
        Head: FromBytes + KnownLayout + Immutable + Copy,
    {
        self.head::<Head>().map(|(head, _)| *head)
    }

    /// The string that `bytes` starts with.
    pub(crate) fn string(self, bytes: &'a [u8], field: &'static str) -> Result<&'a CStr> {
        word::c_str(bytes).ok_or(Error::Unterminated { kind: self.kind, field })
    }

    /// `count` elements at the front of `bytes`.
    pub(crate) fn elements<T>(self, bytes: &'a [u8], count: u64, field: &'static str) -> Result<&'a [T]>
    where
        T: FromBytes + KnownLayout + Immutable,
    {
        usize::try_from(count)
            .ok()
            .and_then(|count| <[T]>::ref_from_prefix_with_elems(bytes, count).ok())
            .map(|(elements, _)| elements)
            .ok_or_else(|| self.truncated(field, count.saturating_mul(size_of::<T>() as u64), bytes.len()))
    }

    pub(crate) fn truncated(self, field: &'static str, needed: u64, found: usize) -> Error {
        truncated(self.kind, field, needed, found as u64)
    }
}

#[cold]
fn truncated(kind: RecordType, field: &'static str, needed: u64, found: u64) -> Error {
    Error::Truncated { kind, field, needed, found }
}
