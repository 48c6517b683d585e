//! The naive decoder: one cursor, one field after the other, owned values.
//!
//! It is slow on purpose and shares no code and no table with the decoder of this crate. Its
//! decisions are the specification that the other decoder is compared with:
//!
//! | case | decision |
//! |---|---|
//! | header | `size` is the length of the slice |
//! | counts and sizes | checked against what remains before use |
//! | unknown bits of `sample_type` | refused in samples, and in side-band records with a trailer |
//! | unknown bits of `read_format` | refused in READ, and in samples with READ |
//! | unknown bits of `branch_sample_type` | refused in samples with BRANCH_STACK |
//! | SAMPLE | bytes after the last field are trailing |
//! | BRANCH_STACK | the attr's reading and the one with the opposite presence of `hw_idx` (no branches) or of the counters (some branches); the one without trailing bytes, else the attr's, else the other |
//! | STACK_USER of size 0 after user registers | the `dyn_size` word of 0 that the kernel writes in excess is skipped; a last field that lacks 8 bytes then is absent |
//! | names | end at the first NUL; words after the word of the NUL are trailing |
//! | other kinds | a body longer than its fields has trailing bytes, a shorter one is refused |
//! | KSYMBOL, BPF_EVENT, TEXT_POKE | the trailer follows the body, trailing bytes follow the trailer |
//! | kind 0 and those after `RecordType::LAST` | accepted, bytes kept as `raw`, no trailer |

mod cursor;
mod other;
mod parts;
mod sample;
mod value;

use alloc::{string::String, vec::Vec};
use perf_abi::{Attr, RecordType};

use cursor::{Cursor, Number};
pub use value::{Fields, Value, find};

/// The reason why a record was not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the field at which decoding stopped.
    pub field: &'static str,
    /// The expected and the found value.
    pub why: String,
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.field, self.why)
    }
}

impl core::error::Error for Refusal {}

/// One record as a plain tree, fields in the order of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// `type` of the header.
    pub kind: u32,
    /// `misc` of the header, all bits.
    pub misc: u16,
    /// `size` of the header in bytes.
    pub size: u16,
    /// Fields of the body. A field that the record does not have is absent.
    pub fields: Fields,
    /// Fields of the `sample_id` trailer: `pid tid time id stream_id cpu identifier`, as far as
    /// present.
    pub trailer: Fields,
    /// Number of bytes that no field and no trailer claims.
    pub trailing: usize,
    /// Whether the last field of a sample is absent because the kernel has truncated it.
    pub is_truncated: bool,
}

impl Reference {
    /// Returns the body's field of this name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        find(&self.fields, name)
    }

    /// Returns the trailer's field of this name.
    pub fn sample_id(&self, name: &str) -> Option<&Value> {
        find(&self.trailer, name)
    }
}

/// Decodes the one record `words`, written for an event opened with `attr`.
///
/// # Errors
///
/// A [`Refusal`] according to the table of this module. No input makes it panic.
pub fn decode(words: &[u64], attr: &Attr) -> Result<Reference, Refusal> {
    decode_bytes(&bytes_of(words), attr).map(|(reference, _)| reference)
}

/// Returns a record as a machine of the other byte order would have written it: with the bytes of
/// each number that [`decode`] reads reversed. Trailing bytes stay as they are.
///
/// # Errors
///
/// A [`Refusal`] if the record cannot be decoded.
pub fn foreign(words: &[u64], attr: &Attr) -> Result<Vec<u64>, Refusal> {
    let mut bytes = bytes_of(words);
    let (_, numbers) = decode_bytes(&bytes, attr)?;
    let start = bytes.as_ptr().addr();
    for Number { address, len, is_branch } in numbers {
        let at = address.wrapping_sub(start);
        let number = bytes.get_mut(at..at.wrapping_add(len)).unwrap_or_default();
        number.reverse();
        if let (true, Ok(word)) = (is_branch, <&mut [u8; 8]>::try_from(number)) {
            *word = foreign_branch(*word);
        }
    }
    Ok(super::builder::words_of(&bytes))
}

/// Moves the bit fields of a branch to the other end: C lays them out from the lowest bit on
/// little-endian machines and from the highest one on others.
fn foreign_branch(reversed: [u8; 8]) -> [u8; 8] {
    let little = cfg!(target_endian = "little");
    let info = if little { u64::from_be_bytes(reversed) } else { u64::from_le_bytes(reversed) };
    let (mut low, mut moved) = (0, 0);
    // mispred, predicted, in_tx, abort, cycles, type, spec, new_type, priv, reserved
    for width in [1_u32, 1, 1, 1, 16, 4, 2, 4, 3, 31] {
        let high = 64 - low - width;
        let (from, to) = if little { (low, high) } else { (high, low) };
        moved |= (info >> from & ((1 << width) - 1)) << to;
        low += width;
    }
    if little { moved.to_be_bytes() } else { moved.to_le_bytes() }
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Decodes a record, and returns the numbers in it.
fn decode_bytes(bytes: &[u8], attr: &Attr) -> Result<(Reference, Vec<Number>), Refusal> {
    let mut header = Cursor::new(bytes);
    let kind = header.read_u32("type")?;
    let misc = header.read_u16("misc")?;
    let size = header.read_u16("size")?;
    if usize::from(size) != bytes.len() {
        return Err(Refusal {
            field: "size",
            why: alloc::format!("header says {size} bytes, the record has {}", bytes.len()),
        });
    }
    let body = header.with(header.remaining());
    let (mut numbers, mut is_truncated) = (Vec::new(), false);
    let (fields, trailer, trailing) = match RecordType(kind) {
        RecordType::SAMPLE => {
            let sample = sample::decode(body.remaining(), attr)?;
            (numbers, is_truncated) = (sample.numbers(), sample.is_truncated());
            let trailing = sample.remaining().len();
            (sample.into_fields(), Fields::new(), trailing)
        }
        kind if (1..=RecordType::LAST.0).contains(&kind.0) => other::decode(kind, misc, body, attr)?,
        _ => (alloc::vec![("raw", Value::Bytes(body.remaining().to_vec()))], Fields::new(), 0),
    };
    numbers.extend(header.numbers());
    Ok((Reference { kind, misc, size, fields, trailer, trailing, is_truncated }, numbers))
}

#[cfg(test)]
mod tests;
