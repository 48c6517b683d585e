//! Records as one line of text.

use core::fmt::{self, Write};

use super::separated;
use crate::field::Field;
use crate::layout::{Layout, SampleLayout};
use crate::raw::RawRecord;
use crate::record::Record;
use crate::sample_id::SampleId;

/// A record that prints as one line. Made by [`RawRecord::display`].
#[derive(Clone, Copy)]
pub struct RecordDisplay<'a> {
    raw: RawRecord<'a>,
    layout: &'a SampleLayout,
}

impl<'a> RawRecord<'a> {
    /// Returns a value that prints this record as one line: the kind, the misc bits, the fields of
    /// the body and, after a bar, those of the trailer that do not repeat one of the body.
    ///
    /// The error takes the place of the fields if the record cannot be decoded. A record of unknown
    /// kind prints its bytes. The alternate form `{:#}` adds a hex dump of all bytes.
    ///
    /// ```
    /// use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};
    /// use perf_decode::{RawRecord, SampleLayout, testing::builder::{RecordBuilder, SampleIdValues}};
    ///
    /// let attr = Attr::software(Software::DUMMY)
    ///     .with_sample_type(SampleType::TIME)
    ///     .with_flags(AttrFlags::SAMPLE_ID_ALL);
    /// let words = RecordBuilder::new(RecordType::COMM, Misc::COMM_EXEC)
    ///     .pair(7, 8)
    ///     .string(b"sh")
    ///     .with_trailer(&attr, &SampleIdValues { time: 99, ..Default::default() })
    ///     .finish();
    /// let layout = SampleLayout::new(&attr);
    /// let line = RawRecord::from_words(&words)?.display(&layout).to_string();
    /// assert_eq!(line, "COMM (COMM_EXEC) pid=7 tid=8 comm=sh | time=99");
    /// # Ok::<(), perf_decode::Error>(())
    /// ```
    #[must_use]
    pub fn display(self, layout: &'a SampleLayout) -> RecordDisplay<'a> {
        RecordDisplay { raw: self, layout }
    }
}

impl fmt::Display for RecordDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.raw.decode(self.layout) {
            Ok(record) => write!(f, "{record}")?,
            Err(error) => write!(f, "{} of {} bytes: {error}", self.raw.kind(), self.raw.size())?,
        }
        if f.alternate() { dump(self.raw.bytes(), f) } else { Ok(()) }
    }
}

impl fmt::Debug for RecordDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A record that prints as one line, the fields of its body as `field` writes them.
struct LineDisplay<'r, 'a, L: Layout, F> {
    record: &'r Record<'a, L>,
    field: F,
}

impl<L: Layout> Record<'_, L> {
    /// Returns a value that prints this record as [`Display`](fmt::Display) does, but each field of
    /// the body as `field` writes it: for data of which the caller knows the meaning.
    ///
    /// ```
    /// use perf_abi::{Attr, SampleType, Software};
    /// use perf_decode::{Field, RawRecord, SampleLayout, Value, testing::builder::SampleBuilder};
    ///
    /// let attr = Attr::software(Software::BPF_OUTPUT).with_sample_type(SampleType::TIME | SampleType::RAW);
    /// let words = SampleBuilder::new(&attr).time(99).raw(b"hello, world").finish();
    /// let layout = SampleLayout::new(&attr);
    /// let record = RawRecord::from_words(&words)?.decode(&layout)?;
    /// let line = record.display_with(|field, f| match field {
    ///     Field { name: "raw", value: Value::Bytes(raw) } => write!(f, "message={}", raw.escape_ascii()),
    ///     field => write!(f, "{field}"),
    /// });
    /// assert_eq!(line.to_string(), "SAMPLE time=99 message=hello, world");
    /// # Ok::<(), perf_decode::Error>(())
    /// ```
    pub fn display_with<'r>(
        &'r self,
        field: impl Fn(Field<'_>, &mut fmt::Formatter<'_>) -> fmt::Result + 'r,
    ) -> impl fmt::Display + 'r {
        LineDisplay { record: self, field }
    }
}

impl<L: Layout, F: Fn(Field<'_>, &mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display
    for LineDisplay<'_, '_, L, F>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record.write_line(f, &self.field)
    }
}

impl<L: Layout> fmt::Display for Record<'_, L> {
    /// Writes one line: the kind, the misc bits, the fields by name in the order of their words,
    /// after a bar those of the trailer that do not repeat one of the body, and a note if there are
    /// trailing bytes or the kernel has truncated a field.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_line(f, |field, f| write!(f, "{field}"))
    }
}

impl<L: Layout> Record<'_, L> {
    /// Writes one line, the fields of the body as `field` does.
    fn write_line(
        &self,
        f: &mut fmt::Formatter<'_>,
        field: impl Fn(Field<'_>, &mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        if !self.misc().is_empty() {
            write!(f, " ({})", self.misc().names(self.kind()))?;
        }
        self.fields().try_for_each(|one| {
            f.write_char(' ')?;
            field(one, f)
        })?;
        if matches!(self, Self::Sample(sample) if sample.has_ambiguous_branches()) {
            f.write_str(" (branch stack ambiguous)")?;
        }
        if let Some(trailer) = self.sample_id() {
            let mut separator = " | ";
            for field in trailer.fields().filter(|field| !self.has_equal(field)) {
                write!(f, "{separator}{field}")?;
                separator = " ";
            }
        }
        if let Some(field) = self.truncated_field() {
            write!(f, " ({field} truncated)")?;
        }
        match self.trailing_len() {
            0 => Ok(()),
            trailing => write!(f, " ({trailing} trailing bytes)"),
        }
    }

    /// Returns whether the body has a number of this name and value.
    fn has_equal(&self, number: &Field<'_>) -> bool {
        let is_equal =
            |field: Field<'_>| field.name == number.name && field.value.as_u64() == number.value.as_u64();
        self.fields().any(is_equal)
    }
}

impl<L: Layout> fmt::Display for crate::sample::Sample<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Record::Sample(*self), f)
    }
}

impl<L: Layout> fmt::Display for SampleId<'_, L> {
    /// Writes one line: the fields by name, in the order of their words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        separated(f, " ", self.fields())
    }
}

/// Writes sixteen bytes a line, between their offset and their characters.
fn dump(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (offset, row) in (0..).step_by(16).zip(bytes.chunks(16)) {
        write!(f, "\n  {offset:04x}: ")?;
        row.iter().try_for_each(|byte| write!(f, " {byte:02x}"))?;
        write!(f, "{:1$}", "", 3 * (16 - row.len()) + 2)?;
        for byte in row {
            let shown = if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
            write!(f, "{shown}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};

    use super::*;
    use crate::testing::builder::RecordBuilder;

    fn layout() -> SampleLayout {
        let wanted = SampleType::TID | SampleType::CPU;
        SampleLayout::new(
            &Attr::software(Software::DUMMY).with_sample_type(wanted).with_flags(AttrFlags::SAMPLE_ID_ALL),
        )
    }

    #[test]
    fn record_that_cannot_be_decoded_prints_the_error() {
        let words = RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[1, 2, 3]).finish();
        let text = RawRecord::from_words(&words).unwrap().display(&layout()).to_string();
        assert_eq!(text, "LOST of 32 bytes: LOST: body: expected 16 bytes, found 8");
    }

    #[test]
    fn fields_print_in_the_form_of_the_caller() {
        let words = RecordBuilder::new(RecordType::LOST, Misc::empty())
            .words(&[1, 2]) // id, lost
            .pair(10, 11) //   the trailer: pid, tid
            .pair(3, 0) //     cpu
            .finish();
        let layout = layout();
        let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
        let line = record.display_with(|field, f| write!(f, "<{}>", field.name));
        // The trailer keeps its form.
        assert_eq!(line.to_string(), "LOST <id> <lost> | pid=10 tid=11 cpu=3");
        assert_eq!(record.sample_id().unwrap().to_string(), "pid=10 tid=11 cpu=3");
    }

    #[test]
    fn unknown_task_prints_as_minus_one() {
        let words = RecordBuilder::new(RecordType::COMM, Misc::empty())
            .pair(u32::MAX, 0) // pid, tid
            .string(b"x") //      comm
            .pair(u32::MAX, 7) // the trailer: pid, tid
            .pair(3, 0) //        cpu
            .finish();
        let text = RawRecord::from_words(&words).unwrap().display(&layout()).to_string();
        assert_eq!(text, "COMM pid=-1 tid=0 comm=x | tid=7 cpu=3");
    }

    #[test]
    fn record_truncated_to_its_header_prints_the_error() {
        let words = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).finish();
        let text = RawRecord::from_words(&words).unwrap().display(&layout()).to_string();
        assert_eq!(text, "SAMPLE of 8 bytes: SAMPLE: tid: expected 8 bytes, found 0");
    }

    #[test]
    fn alternate_form_dumps_all_bytes() {
        let bytes = *b"sixteen and moreBA\0\0\0\0\0\0";
        let words = RecordBuilder::new(RecordType(77), Misc::empty()).bytes(&bytes).finish();
        let text = std::format!("{:#}", RawRecord::from_words(&words).unwrap().display(&layout()));
        let header = words[0].to_ne_bytes().map(|byte| std::format!("{byte:02x}")).join(" ");
        let letters = if cfg!(target_endian = "little") { "M..... ." } else { "...M... " };
        let expected = std::format!(
            "RecordType(77) raw=7369787465656e20616e64206d6f72654241000000000000
  0000:  {header} 73 69 78 74 65 65 6e 20  {letters}sixteen\u{20}
  0010:  61 6e 64 20 6d 6f 72 65 42 41 00 00 00 00 00 00  and moreBA......"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn debug_form_is_the_line() {
        let words = RecordBuilder::new(RecordType(77), Misc::empty()).bytes(b"12345678").finish();
        let text = std::format!("{:?}", RawRecord::from_words(&words).unwrap().display(&layout()));
        assert_eq!(text, "RecordType(77) raw=3132333435363738");
    }
}
