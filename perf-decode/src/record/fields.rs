use core::fmt;
use core::iter::FusedIterator;

use super::Record;
use crate::sample::SampleFields;
use crate::{Field, Layout, RawRecord, SampleLayout, Value};

/// The fields of a [`Record`] without those of its trailer, in the order of their words.
#[derive(Clone)]
pub struct RecordFields<'a, L = &'a SampleLayout>(Source<'a, L>);

#[derive(Clone)]
enum Source<'a, L> {
    Sample(SampleFields<'a, L>),
    SideBand(Record<'a, L>, usize),
}

impl<'a, L: Layout> Record<'a, L> {
    /// Returns the fields of the body by name, without allocation. Absent fields are left out.
    ///
    /// Names are those of the kernel's header, shortened where the perf tool shortens them. For the
    /// header and the trailer see [`Record::misc`] and
    /// [`SampleId::fields`](crate::SampleId::fields).
    #[must_use]
    pub fn fields(&self) -> RecordFields<'a, L> {
        RecordFields(match self {
            Self::Sample(sample) => Source::Sample(sample.fields()),
            other => Source::SideBand(*other, 0),
        })
    }
}

impl<'a, L: Layout> Iterator for RecordFields<'a, L> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        match &mut self.0 {
            Source::Sample(fields) => fields.next(),
            Source::SideBand(record, next) => record.next_field(next),
        }
    }
}

impl<L: Layout> FusedIterator for RecordFields<'_, L> {}

impl<L: Layout> RecordFields<'_, L> {
    /// Writes the fields as those of a struct.
    pub(super) fn debug(self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        let mut fields = f.debug_struct(name);
        self.for_each(|field| {
            fields.field(field.name, &field.value);
        });
        fields.finish()
    }
}

impl<L: Layout> fmt::Debug for RecordFields<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// Returns the only field of a record of unknown kind: all bytes after the header.
pub(super) fn unknown<'a>(raw: RawRecord<'a>, next: &mut usize) -> Option<Field<'a>> {
    let bytes = raw.bytes().get(8..).unwrap_or(&[]);
    (core::mem::replace(next, 1) == 0).then_some(Field { name: "raw", value: Value::Bytes(bytes) })
}
