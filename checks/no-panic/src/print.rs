//! Records, their fields and their errors as text.

use core::fmt::{self, Debug, Display, Write};
use core::hint::black_box;

use perf_decode::{Layout, RawRecord, Record, SampleLayout};

/// Takes text and keeps none of it.
struct Sink;

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}

fn print(value: impl Display) {
    let _ = black_box(write!(Sink, "{value}"));
}

/// A value by `Debug`, on one line and on several.
pub fn debug(value: impl Debug) {
    let _ = black_box(write!(Sink, "{value:?} {value:#?}"));
}

/// A record as one line, or the error, and all its bytes.
pub fn line(raw: RawRecord<'_>, layout: &SampleLayout) {
    print(raw.display(layout));
    let _ = black_box(write!(Sink, "{:#}", raw.display(layout)));
}

/// A decoded record, its fields and its trailer.
pub fn record<L: Layout>(record: &Record<'_, L>) {
    print(record);
    record.fields().for_each(print);
    record.sample_id().iter().for_each(print);
    debug(record);
}
