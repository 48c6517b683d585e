//! The payload of a tracepoint, read by fields that are bound already.

use core::hint::black_box;

use perf_decode::tracepoint::{Field, Value};

/// Everything that one field can be bound to.
pub fn payload(raw: &[u8]) {
    // Nothing is known of what comes out of the box, so this is any field.
    let Some(field) = black_box(None::<Field<'_>>) else { return };
    if let Ok(integer) = field.integer() {
        black_box((integer.read_u64(raw), integer.read_i64(raw), integer.is_signed()));
    }
    if let Ok(text) = field.text() {
        black_box(text.read(raw));
    }
    for array in [field.array(), field.array_of(black_box(4))].into_iter().flatten() {
        array.read(raw).into_iter().flatten().for_each(|number| _ = black_box(number));
    }
    black_box(field.bytes().read(raw));
    if let Value::Integers(numbers) = field.value(raw) {
        black_box(numbers.is_signed());
    }
}
