//! The fields of a payload.

mod bytes;
mod error;
mod field;
mod fields;
mod format;
mod integer;
mod kind;
mod line;
mod value;

pub use bytes::{BytesField, TextField};
pub use error::{Excerpt, FormatError};
pub use field::{Field, Location};
pub use fields::{Fields, FieldsIter};
pub use format::Format;
#[cfg(feature = "alloc")]
pub(crate) use integer::to_signed;
pub use integer::{ArrayField, IntegerField, Integers};
pub use kind::Kind;
pub use value::{Payload, Value};
