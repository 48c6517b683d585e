//! The fields of records by name.

use core::fmt;
use core::iter::FusedIterator;

use super::Record;
use super::view::View;
use crate::field::{Field, Value};
use crate::layout::{Layout, SampleLayout};
use crate::raw::RawRecord;
use crate::sample::SampleFields;
use crate::schema::{Body, FieldType, Fields};

/// The fields of a [`Record`] without its trailer, in the order of their words.
#[derive(Clone)]
pub struct RecordFields<'a, L = &'a SampleLayout>(Source<'a, L>);

#[derive(Clone)]
enum Source<'a, L> {
    Sample(SampleFields<'a, L>),
    /// A view, the rest of its row, and the offset of the next field.
    SideBand(View<'a, L, 1>, Fields, usize),
    Unknown(Option<RawRecord<'a>>),
}

impl<'a, L: Layout> Record<'a, L> {
    /// Returns the fields of the body by name, without allocation. Absent fields are left out.
    ///
    /// Names follow the kernel's header, shortened where the perf tool shortens them. For the
    /// header and the trailer see [`Record::misc`] and
    /// [`SampleId::fields`](crate::SampleId::fields).
    pub fn fields(&self) -> RecordFields<'a, L> {
        RecordFields(match self {
            Self::Sample(sample) => Source::Sample(sample.fields()),
            Self::Unknown(raw) => Source::Unknown(Some(*raw)),
            other => match other.side_band().zip(Body::of(other.kind())) {
                Some((view, body)) => Source::SideBand(view, view.fields(body), 8),
                None => Source::Unknown(None),
            },
        })
    }
}

impl<'a, L: Layout> Iterator for RecordFields<'a, L> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        match &mut self.0 {
            Source::Sample(fields) => fields.next(),
            Source::SideBand(view, fields, at) => {
                let (&(name, field), rest) = fields.split_first()?;
                let value = value(*view, field, *at);
                *fields = rest;
                *at += field.size();
                Some(Field { name, value })
            }
            Source::Unknown(raw) => {
                let bytes = raw.take()?.bytes();
                Some(Field { name: "raw", value: Value::Bytes(bytes.get(8..).unwrap_or(&[])) })
            }
        }
    }
}

impl<L: Layout> FusedIterator for RecordFields<'_, L> {}

impl<L: Layout> fmt::Debug for RecordFields<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// Returns the field at an offset.
fn value<L: Layout>(view: View<'_, L, 1>, field: FieldType, at: usize) -> Value<'_> {
    match field {
        FieldType::Name => Value::Text(view.get_at(field, at)),
        FieldType::Words => Value::Words(view.get_at(field, at)),
        FieldType::Namespaces => Value::Namespaces(view.get_at(field, at)),
        FieldType::Counts => Value::Read(view.get_at(field, at)),
        number => match Value::number(number, view.words(), at) {
            Some(value) => value,
            // The rest are bytes.
            None => Value::Bytes(view.get_at(field, at)),
        },
    }
}
