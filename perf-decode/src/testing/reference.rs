//! The naive decoder: one cursor, one field after the other, owned values.
//!
//! It is slow on purpose. What it accepts and refuses is the specification the fast decoder is compared with:
//!
//! | case | decision |
//! |---|---|
//! | header | `size` is the length of the slice |
//! | counts and sizes | checked against what remains before use |
//! | SAMPLE | ends exactly at the record's end; an attr with bits 25 and up of `sample_type` is refused |
//! | BRANCH_STACK | read as the attr asks; if that does not end at the record's end, with the other presence of `hw_idx` (no branches) or of the counters (some branches) |
//! | STACK_USER of size 0 behind user registers | the `dyn_size` word the kernel writes too much is skipped |
//! | other kinds | a body longer than its fields is a newer kernel's, shorter is refused |
//! | KSYMBOL, BPF_EVENT, TEXT_POKE | the trailer stands right behind the body, surplus may follow |
//! | kinds 0, 23 and up | accepted, bytes kept as `raw`, no trailer |

mod cursor;
mod other;
mod parts;
mod sample;
mod value;

use perf_abi::{Attr, RecordType};
use std::{string::String, vec::Vec};

use cursor::Cursor;
pub use value::{Fields, Value, find};

/// Why a record was not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the field at which decoding stopped.
    pub field: &'static str,
    /// What was found there and what was expected.
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
    /// Fields of the `sample_id` trailer: `pid tid time id stream_id cpu identifier`, as far as present.
    pub trailer: Fields,
    /// Bytes that neither a field nor the trailer claims.
    pub trailing: usize,
}

impl Reference {
    /// The body's field of this name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        find(&self.fields, name)
    }

    /// The trailer's field of this name.
    pub fn sample_id(&self, name: &str) -> Option<&Value> {
        find(&self.trailer, name)
    }
}

/// Decodes the one record `words`, written for an event opened with `attr`.
///
/// # Errors
/// A [`Refusal`] as the table of this module says. No input makes it panic.
pub fn decode(words: &[u64], attr: &Attr) -> Result<Reference, Refusal> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let mut header = Cursor::new(&bytes);
    let kind = header.read_u32("type")?;
    let misc = header.read_u16("misc")?;
    let size = header.read_u16("size")?;
    let body = header.remaining();
    if usize::from(size) != bytes.len() {
        return Err(Refusal {
            field: "size",
            why: std::format!("header says {size} bytes, the record has {}", bytes.len()),
        });
    }
    let (fields, trailer, trailing) = match RecordType(kind) {
        RecordType::SAMPLE => {
            let (fields, trailing) = sample::decode(body, attr)?;
            (fields, Fields::new(), trailing)
        }
        kind if (1..=RecordType::LAST.0).contains(&kind.0) => other::decode(kind, misc, body, attr)?,
        _ => (std::vec![("raw", Value::Bytes(body.to_vec()))], Fields::new(), 0),
    };
    Ok(Reference { kind, misc, size, fields, trailer, trailing })
}

#[cfg(test)]
mod tests;
