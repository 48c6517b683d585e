//! One field of a tracepoint, and the ways to bind it.

use core::fmt;

use super::bytes::Span;
use super::integer::Width;
use super::{ArrayField, BytesField, FormatError, IntegerField, TextField, Value};

/// A field as a `format` text declares it.
///
/// What makes reading fast is binding: [`integer`](Self::integer), [`text`](Self::text), [`array`](Self::array) and
/// [`bytes`](Self::bytes) give small values without a borrow that are kept and used for every sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field<'t> {
    /// The name, as C has it.
    pub name: &'t str,
    /// The C type in front of the name: `unsigned long`, `const char *`. Without `__data_loc`, `__rel_loc` and brackets.
    pub type_name: &'t str,
    /// First byte, counted from the start of the payload.
    pub offset: u32,
    /// Size in bytes; of dynamic fields, that of their word: 4.
    pub size: u32,
    /// Whether the value, or each element, is signed. Kernels before 2.6.33 do not say, then it is `false`.
    pub signed: bool,
    /// Where the data lies.
    pub place: Place,
    /// What the data is.
    pub kind: Kind,
}

/// Where the data of a field lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// At `offset`, `size` bytes.
    Fixed,
    /// From `offset` to the end of the payload (`args[]` of size 0). A RAW payload ends with padding of old bytes,
    /// which are then part of it.
    Rest,
    /// Where the `u32` at `offset` says: length in its upper 16 bits, offset from the start of the payload in its lower.
    #[doc(alias = "__data_loc")]
    DataLoc,
    /// Where the `u32` at `offset` says, like `DataLoc` but counted from behind that `u32`. Since Linux 5.17.
    #[doc(alias = "__rel_loc")]
    RelLoc,
}

/// What the data of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A number of 1, 2, 4 or 8 bytes.
    Integer,
    /// An address.
    Pointer,
    /// Characters up to a NUL or to the end: an array of plain `char`.
    Text,
    /// Integers of `element` bytes each: 1, 2, 4 or 8.
    Array {
        /// Size of one element in bytes.
        element: u32,
    },
    /// Anything else: structures, and arrays of elements whose size the text does not tell.
    Opaque,
}

impl Field<'_> {
    /// Binds the field as an integer; pointers are integers too.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] if it is an array or a structure.
    pub fn integer(&self) -> Result<IntegerField, FormatError> {
        let width =
            Width::from_bytes(self.size).filter(|_| matches!(self.kind, Kind::Integer | Kind::Pointer));
        let width = width.ok_or_else(|| self.mismatch("an integer"))?;
        Ok(IntegerField { offset: self.offset, width, signed: self.signed })
    }

    /// Binds the field as text. Arrays of other single bytes may be read as text, too.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] if it is not an array of bytes.
    pub fn text(&self) -> Result<TextField, FormatError> {
        match self.kind {
            Kind::Text | Kind::Array { element: 1 } => Ok(TextField(self.span())),
            _ => Err(self.mismatch("text")),
        }
    }

    /// Binds the field as an array of integers.
    ///
    /// The size of dynamic `long` elements is that of this program's `long`, which is not the kernel's in a 32-bit
    /// program on a 64-bit kernel: use [`array_of`](Self::array_of) there.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] if it is no array, or the size of its elements is unknown.
    pub fn array(&self) -> Result<ArrayField, FormatError> {
        match self.kind {
            Kind::Array { element } => self.array_of(element),
            _ => Err(self.mismatch("an array of integers")),
        }
    }

    /// Binds the field as an array of integers of `element` bytes, against what the text says.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] if `element` is not 1, 2, 4 or 8.
    pub fn array_of(&self, element: u32) -> Result<ArrayField, FormatError> {
        let width = Width::from_bytes(element).ok_or_else(|| self.mismatch("integers of that size"))?;
        Ok(ArrayField { span: self.span(), width, signed: self.signed })
    }

    /// Binds the field as bytes, which every field is.
    pub fn bytes(&self) -> BytesField {
        BytesField(self.span())
    }

    /// Reads the field as what it is, without binding it: for listings.
    pub fn value<'a>(&self, raw: &'a [u8]) -> Value<'a> {
        Value::read(self, raw).unwrap_or(Value::Truncated)
    }

    fn span(&self) -> Span {
        Span { offset: self.offset, size: self.size, place: self.place }
    }

    fn mismatch(&self, wanted: &'static str) -> FormatError {
        FormatError::Mismatch { wanted, kind: self.kind, size: self.size }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer => f.write_str("an integer"),
            Self::Pointer => f.write_str("a pointer"),
            Self::Text => f.write_str("text"),
            Self::Array { element } => write!(f, "an array of {element}-byte integers"),
            Self::Opaque => f.write_str("opaque data"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::parse;
    use super::*;

    #[test]
    fn only_what_fits_can_be_bound() {
        let text = parse("field:char comm[16];offset:8;size:16;signed:0;").unwrap();
        assert!(text.text().is_ok() && text.integer().is_err() && text.array().is_err());
        let uuid = parse("field:u8 uuid[16];offset:8;size:16;signed:0;").unwrap();
        assert!(uuid.text().is_ok() && uuid.integer().is_err() && uuid.array().is_ok());
        let pointer = parse("field:void * p;offset:8;size:8;signed:0;").unwrap();
        assert!(pointer.integer().is_ok() && pointer.text().is_err());
        let empty = parse("field:int x;offset:8;size:0;signed:0;").unwrap();
        let mismatch = FormatError::Mismatch { wanted: "an integer", kind: Kind::Opaque, size: 0 };
        assert_eq!(empty.integer(), Err(mismatch));
        assert_eq!(empty.bytes().read(&[0; 8]), Some(&[][..]));
        assert!(pointer.array_of(3).is_err());
    }
}
