//! One field of a tracepoint, and the ways to bind it.

use core::fmt;

use super::bytes::Span;
use super::integer::Width;
use super::{ArrayField, BytesField, Excerpt, FormatError, IntegerField, Kind, TextField, Value};

/// A field as a `format` text declares it.
///
/// [`integer`](Self::integer), [`text`](Self::text), [`array`](Self::array) and
/// [`bytes`](Self::bytes) bind the field. They return small values that borrow nothing. Bind once,
/// then read every sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field<'t> {
    /// Name; a C identifier in every text that the kernel generates.
    pub name: &'t str,
    /// The C type: `unsigned long`, `const char *`. Without `__data_loc`, `__rel_loc` and brackets;
    /// [`type_text`](Self::type_text) is with them.
    pub type_name: &'t str,
    /// Declaration as the kernel prints it: `char comm[16]`, `__data_loc char[] name`.
    pub declaration: &'t str,
    /// Offset from the start of the payload, in bytes.
    pub offset: u32,
    /// Size in bytes; 4 for a dynamic field, the size of its word.
    pub size: u32,
    /// `true` if the value, or each element, is signed. `false` for a text of Linux before 2.6.33,
    /// which does not print it.
    pub signed: bool,
    /// Location of the data in the payload.
    pub location: Location,
    /// Kind of the data, derived from the C type.
    pub kind: Kind,
}

/// The location of a field's data in the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// `size` bytes at `offset`.
    Fixed,
    /// From `offset` to the end of the payload: `args[]` of size 0. This includes the padding at
    /// the end of a RAW payload, up to 7 bytes of undefined content.
    Rest,
    /// Given by the `u32` at `offset`: length in bytes in its upper 16 bits, offset from the start
    /// of the payload in its lower 16 bits.
    #[doc(alias = "__data_loc")]
    DataLoc,
    /// Given by the `u32` at `offset` like `DataLoc`, but the offset counts from the byte after
    /// that `u32`. Since Linux 5.17.
    #[doc(alias = "__rel_loc")]
    RelLoc,
}

impl<'t> Field<'t> {
    /// Returns the declaration without the name: `char[16]`, `__data_loc char[]`, `void *`.
    pub fn type_text(&self) -> impl fmt::Display + use<'t> {
        TypeText::new(self.declaration, self.name)
    }

    /// Binds the field as an integer. Pointers are integers too.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] if it is text, an array or opaque.
    pub fn integer(&self) -> Result<IntegerField, FormatError> {
        match (self.kind, Width::from_bytes(self.size)) {
            (Kind::Integer | Kind::Pointer, Some(width)) => {
                Ok(IntegerField { offset: self.offset, width, signed: self.signed })
            }
            _ => Err(self.mismatch("an integer")),
        }
    }

    /// Binds the field as text. Arrays of other single bytes can be read as text, too.
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
    /// Dynamic `long` elements have the size of this program's `long`. In a 32-bit program on a
    /// 64-bit kernel that is wrong: use [`array_of`](Self::array_of) there.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] if it is not an array, or the size of its elements is unknown.
    pub fn array(&self) -> Result<ArrayField, FormatError> {
        match self.kind {
            Kind::Array { element } => self.array_of(element),
            _ => Err(self.mismatch("an array of integers")),
        }
    }

    /// Binds the field as an array of integers of `element` bytes, whatever its kind.
    ///
    /// # Errors
    ///
    /// [`FormatError::ElementSize`] if `element` is not 1, 2, 4 or 8.
    pub fn array_of(&self, element: u32) -> Result<ArrayField, FormatError> {
        let width = Width::from_bytes(element).ok_or(FormatError::ElementSize { size: element })?;
        Ok(ArrayField { span: self.span(), width, signed: self.signed })
    }

    /// Binds the field as bytes, which works for every kind.
    pub fn bytes(&self) -> BytesField {
        BytesField(self.span())
    }

    /// Reads the field by its kind, without binding it: for listings.
    pub fn value<'a>(&self, raw: &'a [u8]) -> Value<'a> {
        Value::read(self, raw).unwrap_or(Value::Truncated)
    }

    fn span(&self) -> Span {
        Span { offset: self.offset, size: self.size, location: self.location }
    }

    fn mismatch(&self, expected: &'static str) -> FormatError {
        let name = Excerpt::new(self.name);
        FormatError::Mismatch { name, expected, kind: self.kind, size: self.size }
    }
}

/// The parts of a declaration before and after the name.
struct TypeText<'t>(&'t str, &'t str);

impl<'t> TypeText<'t> {
    fn new(declaration: &'t str, name: &str) -> Self {
        // Brackets at the end follow the name, others belong to the type.
        let brackets = declaration.find('[').filter(|_| declaration.ends_with(']'));
        let (before, brackets) =
            brackets.and_then(|start| declaration.split_at_checked(start)).unwrap_or((declaration, ""));
        let before = before.trim_ascii_end();
        Self(before.strip_suffix(name).unwrap_or(before).trim_ascii_end(), brackets)
    }
}

impl fmt::Display for TypeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)?;
        f.write_str(self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::integer::to_signed;
    use super::super::line::parse;
    use super::*;

    #[test]
    fn type_text_is_the_declaration_without_the_name() {
        for (declaration, type_text) in [
            ("unsigned short common_type", "unsigned short"),
            ("char comm[16]", "char[16]"),
            ("u8 mac [sizeof(mac[0]) * 2]", "u8[sizeof(mac[0]) * 2]"),
            ("unsigned long args[]", "unsigned long[]"),
            ("void *p", "void *"),
            ("const char *const * argv", "const char *const *"),
            ("__data_loc char[] name", "__data_loc char[]"),
            ("__data_loc char[][3] x", "__data_loc char[][3]"),
            ("__rel_loc char name[]", "__rel_loc char[]"),
            ("xx x", "xx"),
        ] {
            let line = [" field: ", declaration, " ;offset:8;size:4;"].concat();
            let field = parse(&line).unwrap();
            assert_eq!((field.declaration, &*field.type_text().to_string()), (declaration, type_text));
        }
    }

    /// Tries to bind the field as an integer, as text and as an array.
    fn binds(line: &str) -> (bool, bool, bool) {
        let field = parse(line).unwrap();
        (field.integer().is_ok(), field.text().is_ok(), field.array().is_ok())
    }

    #[test]
    fn fields_bind_only_as_their_kind_allows() {
        assert_eq!(binds("field:int x;offset:8;size:4;"), (true, false, false));
        assert_eq!(binds("field:void * x;offset:8;size:8;"), (true, false, false));
        assert_eq!(binds("field:char x[16];offset:8;size:16;"), (false, true, false));
        assert_eq!(binds("field:__data_loc char[] x;offset:8;size:4;"), (false, true, false));
        assert_eq!(binds("field:u8 x[8];offset:8;size:8;"), (false, true, true));
        assert_eq!(binds("field:u16 x[2];offset:8;size:4;"), (false, false, true));
        assert_eq!(binds("field:struct s x;offset:8;size:8;"), (false, false, false));
    }

    #[test]
    fn a_mismatch_names_the_field_and_its_kind() {
        let field = parse("field:struct s x;offset:8;size:6;").unwrap();
        let mismatch = |expected| FormatError::Mismatch {
            name: Excerpt::new("x"),
            expected,
            kind: Kind::Opaque,
            size: 6,
        };
        assert_eq!(field.integer(), Err(mismatch("an integer")));
        assert_eq!(field.text(), Err(mismatch("text")));
        assert_eq!(field.array(), Err(mismatch("an array of integers")));
    }

    #[test]
    fn bound_fields_keep_offset_size_and_sign() {
        let raw = [0, 0xfe, 0xfd, 0xfc, 0xfb];
        let field = parse("field:s8 x[3];offset:1;size:3;signed:1;").unwrap();
        assert_eq!(field.bytes().read(&raw), Some(&raw[1..4]));
        assert_eq!(field.text().unwrap().read(&raw), Some(&raw[1..4]));
        let elements = field.array().unwrap().read(&raw).unwrap();
        assert!(elements.map(to_signed).eq([-2, -3, -4]));
        let short = parse("field:short x;offset:1;size:2;signed:1;").unwrap().integer().unwrap();
        assert_eq!(short.read_i64(&raw), Some(i64::from(i16::from_ne_bytes([0xfe, 0xfd]))));
    }

    #[test]
    fn every_field_can_be_read_as_integers_of_a_given_size() {
        let raw = [1; 8];
        let field = parse("field:struct s x;offset:0;size:8;").unwrap();
        for (size, count) in [(1, 8), (2, 4), (4, 2), (8, 1)] {
            assert_eq!(field.array_of(size).unwrap().read(&raw).unwrap().len(), count);
        }
        for size in [0, 3, 16] {
            assert_eq!(field.array_of(size), Err(FormatError::ElementSize { size }));
        }
    }
}
