//! The values that the decoder of this crate returns as the tree of the naive decoder, for a
//! comparison with `==`.

use alloc::{string::ToString, vec::Vec};
use perf_abi::ReadFormat;

use super::reference::{Fields, Reference, Value};
use crate::error::Result;
use crate::field::Field;
use crate::layout::SampleLayout;
use crate::raw::RawRecord;
use crate::read::{ReadEntry, ReadValues};
use crate::sample::Branches;

/// Decodes `raw` and copies the fields of the record and of its trailer into the tree that
/// [`reference::decode`](super::reference::decode) makes: same names, same order.
///
/// ```
/// use perf_abi::{Attr, SampleType, Software};
/// use perf_decode::testing::{builder::SampleBuilder, reference, to_reference};
/// use perf_decode::{RawRecord, SampleLayout};
///
/// let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP | SampleType::CALLCHAIN);
/// let words = SampleBuilder::new(&attr).ip(7).callchain(&[7, 8]).finish();
/// let fast = to_reference(RawRecord::from_words(&words)?, &SampleLayout::new(&attr))?;
/// assert_eq!(Ok(fast), reference::decode(&words, &attr));
/// # Ok::<(), perf_decode::Error>(())
/// ```
///
/// # Errors
///
/// The error of [`RawRecord::decode`] if the record is malformed.
pub fn to_reference(raw: RawRecord<'_>, layout: &SampleLayout) -> Result<Reference> {
    let record = raw.decode(layout)?;
    let header = raw.header();
    Ok(Reference {
        kind: header.kind.0,
        misc: header.misc.bits(),
        size: header.size,
        fields: record.fields().map(field).collect(),
        trailer: record.sample_id().iter().flat_map(|trailer| trailer.fields().map(field)).collect(),
        trailing: record.trailing_len(),
        is_truncated: record.truncated_field().is_some(),
    })
}

fn field(field: Field<'_>) -> (&'static str, Value) {
    // The naive decoder keeps a weight as it is.
    let name = if field.name == "weight_struct" { "weight" } else { field.name };
    (name, value(field.value))
}

fn value(value: crate::field::Value<'_>) -> Value {
    match value {
        crate::field::Value::Text(bytes) | crate::field::Value::Bytes(bytes) => bytes.into(),
        crate::field::Value::Words(words) => Value::numbers(words.iter().copied()),
        crate::field::Value::Callchain(chain) => Value::numbers(chain.words().iter().copied()),
        crate::field::Value::Read(values) => counts_to_reference(&values),
        crate::field::Value::Branches(stack) => branches(&stack),
        crate::field::Value::Regs(regs) => {
            Value::Map(regs.iter().map(|(bit, value)| (bit.to_string(), Value::U64(value))).collect())
        }
        crate::field::Value::Namespaces(links) => Value::List(
            links.iter().map(|link| map([("dev", Some(link.dev)), ("ino", Some(link.inode))])).collect(),
        ),
        // The rest are numbers.
        number => Value::U64(number.as_u64().unwrap_or_default()),
    }
}

/// Returns counts in the form of the field `read`. For the result of read(2), which is not a
/// record.
#[must_use]
pub fn counts_to_reference(values: &ReadValues<'_>) -> Value {
    let times = [("time_enabled", values.time_enabled()), ("time_running", values.time_running())];
    let entry = |entry: ReadEntry| [("id", entry.id), ("lost", entry.lost)];
    if values.format().contains(ReadFormat::GROUP) {
        let entries =
            values.iter().map(|one| map([("value", Some(one.value))].into_iter().chain(entry(one))));
        let entries = Value::List(entries.collect());
        let Value::Map(mut fields) = map(times) else { return entries };
        fields.push(("values".into(), entries));
        return Value::Map(fields);
    }
    // The times of one event are between its value and its id.
    let one =
        values.iter().map(|one| map([("value", Some(one.value))].into_iter().chain(times).chain(entry(one))));
    one.last().unwrap_or(Value::Map(Vec::new()))
}

fn map(entries: impl IntoIterator<Item = (&'static str, Option<u64>)>) -> Value {
    let present = entries.into_iter().filter_map(|(name, number)| Some((name, Value::U64(number?))));
    Value::map(present.collect::<Fields>())
}

fn branches(stack: &Branches<'_>) -> Value {
    let entries = stack.entries().iter().map(|branch| {
        map([("from", Some(branch.from)), ("to", Some(branch.to)), ("info", Some(branch.info.bits()))])
    });
    let entries: Vec<Value> = entries.collect();
    let mut fields: Fields = alloc::vec![("nr", Value::U64(entries.len() as u64))];
    fields.extend(stack.hw_index().map(|index| ("hw_idx", Value::U64(index))));
    fields.push(("entries", Value::List(entries)));
    if !stack.counters().is_empty() {
        fields.push(("counters", Value::numbers(stack.counters().iter().copied())));
    }
    Value::map(fields)
}
