//! The body of a record that is not a sample: what lies between its header and its trailer.

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
#[inline(always)]
pub(crate) fn split<'a>(raw: RawRecord<'a>, layout: &SampleLayout) -> Result<(&'a [u64], &'a [u64])> {
    let trailer = usize::from(layout.trailer_words);
    match split_end(raw, trailer) {
        Some(parts) => Ok(parts),
        None => split_elsewhere(raw, trailer),
    }
}

#[inline(always)]
fn split_end(raw: RawRecord<'_>, trailer: usize) -> Option<(&[u64], &[u64])> {
    let (_, words) = raw.words().split_first()?;
    if !ends_in_trailer(raw.kind()) {
        return None;
    }
    words.split_at_checked(words.len().checked_sub(trailer)?)
}

/// The other kinds: three whose trailer is found from the front, and those without one. Samples carry its
/// fields in their head, and of unknown kinds nothing is known. And records that are too short.
#[cold]
#[inline(never)]
fn split_elsewhere(raw: RawRecord<'_>, trailer: usize) -> Result<(&[u64], &[u64])> {
    let (kind, words) = (raw.kind(), raw.words().get(1..).unwrap_or(&[]));
    if !ends_in_trailer(kind) && !trailer_follows_body(kind) {
        return Ok((words, &[]));
    }
    let Some(end) = words.len().checked_sub(trailer) else {
        return Err(truncated(kind, "sample_id", trailer as u64 * 8, words.len() as u64 * 8));
    };
    let end = own_end(kind, words).map_or(end, |own| own.min(end));
    let (body, rest) = words.split_at_checked(end).unwrap_or((words, &[]));
    Ok((body, rest.get(..trailer).unwrap_or(rest)))
}

/// Whether the last words of this kind are its trailer.
#[inline(always)]
pub(crate) fn ends_in_trailer(kind: RecordType) -> bool {
    /// A bit for each of the kernel's kinds with a trailer but for the three below.
    const KINDS: u32 = {
        let known = (2 << RecordType::CALLCHAIN_DEFERRED.0) - (1 << RecordType::MMAP.0);
        let behind_body =
            1 << RecordType::BPF_EVENT.0 | 1 << RecordType::KSYMBOL.0 | 1 << RecordType::TEXT_POKE.0;
        known & !(1 << RecordType::SAMPLE.0) & !behind_body
    };
    kind.0 < u32::BITS && KINDS >> kind.0 & 1 == 1
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
fn own_end(kind: RecordType, words: &[u64]) -> Option<usize> {
    match kind {
        RecordType::BPF_EVENT => Some(2),
        RecordType::KSYMBOL => {
            let name = word::text(words.get(2..)?)?;
            Some(2 + word::words_for(name.len() + 1))
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
    /// The fixed head of the body, which is whole words, and the words behind it.
    #[inline(always)]
    pub(crate) fn head<Head>(self) -> Result<(Head, &'a [u64])>
    where
        Head: FromBytes,
    {
        let len = const {
            assert!(size_of::<Head>() % 8 == 0);
            size_of::<Head>() / 8
        };
        let split = self.words.split_at_checked(len);
        match split.and_then(|(head, rest)| Some((Head::read_from_bytes(word::bytes(head)).ok()?, rest))) {
            Some(parts) => Ok(parts),
            None => Err(self.truncated("body", size_of::<Head>() as u64, self.words.len() * 8)),
        }
    }

    /// The whole of a body that has no other parts.
    #[inline(always)]
    pub(crate) fn fixed<Head>(self) -> Result<Head>
    where
        Head: FromBytes,
    {
        self.head::<Head>().map(|(head, _)| head)
    }

    /// The string that `words` start with, without its NUL.
    #[inline(always)]
    pub(crate) fn string(self, words: &'a [u64], field: &'static str) -> Result<&'a [u8]> {
        match word::text(words) {
            Some(text) => Ok(text),
            None => Err(Error::Unterminated { kind: self.kind, field }),
        }
    }

    /// `count` elements at the front of `bytes`.
    #[inline(always)]
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

    #[inline(always)]
    pub(crate) fn truncated(self, field: &'static str, needed: u64, found: usize) -> Error {
        truncated(self.kind, field, needed, found as u64)
    }
}

#[cold]
fn truncated(kind: RecordType, field: &'static str, needed: u64, found: u64) -> Error {
    Error::Truncated { kind, field, needed, found }
}
