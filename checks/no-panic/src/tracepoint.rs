//! A tracepoint's `format` text and a payload: parsing, binding, reading, printing.

use core::fmt::{self, Write};
use core::hint::black_box;

use perf_tracepoint::{Excerpt, Field, Fields, Format, FormatError, Kind, Value};

/// Parses a text of which the compiler knows nothing, and reads and prints its fields in `raw`.
pub fn payload(raw: &[u8]) {
    let text = black_box("name: ");
    if let Err(error) = Fields::parse(text) {
        print(error);
    }
    match Format::parse(text) {
        Ok(format) => {
            black_box((format.name, format.id, format.print_fmt, format.field(black_box("prev_pid"))));
            for field in format.common.iter().chain(format.fields) {
                read(&field, raw);
            }
            let name = black_box("next_pid");
            let _ = black_box((format.integer(name), format.text(name), format.array(name)));
            print(format.display(raw));
        }
        Err(error) => print(error),
    }
}

/// Everything that one field can be bound as.
fn read(field: &Field<'_>, raw: &[u8]) {
    match field.integer() {
        Ok(integer) => {
            black_box((integer.read_u64(raw), integer.read_i64(raw), integer.is_signed()));
        }
        Err(error) => mismatch(error),
    }
    if let Ok(text) = field.text() {
        black_box(text.read(raw));
    }
    for array in [field.array(), field.array_of(black_box(4))].into_iter().flatten() {
        array.read(raw).into_iter().flatten().for_each(|number| _ = black_box(number));
    }
    black_box(field.bytes().read(raw));
    let value = field.value(raw);
    if let Value::Integers(numbers) = &value {
        black_box((numbers.is_signed(), numbers.len()));
    }
    print(value);
}

/// The parts of an error that can be printed alone.
fn mismatch(error: FormatError) {
    if let FormatError::Mismatch { name, kind, .. } = error {
        print::<Excerpt>(name);
        black_box(name.as_str());
        print::<Kind>(kind);
    }
    print(error);
}

/// Formats `value` into a sink of which the compiler knows nothing.
fn print<T: fmt::Display>(value: T) {
    struct Sink;
    impl Write for Sink {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            black_box(text);
            black_box(Ok(()))
        }
    }
    let _ = black_box(write!(Sink, "{value}"));
}
