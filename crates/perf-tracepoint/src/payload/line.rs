//! One line of a field: `field:DECLARATION; offset:N; size:N; signed:N;`.
//!
//! The declaration is one of these, with any C type and any number of brackets:
//!
//! | declaration | location of the data |
//! |---|---|
//! | `TYPE name`, `TYPE name[N]` | fixed |
//! | `TYPE name[]` of size 0 | the rest of the payload |
//! | `__data_loc TYPE[] name`, `__data_loc TYPE name` | given by a word |
//! | `__rel_loc TYPE[] name`, `__rel_loc TYPE name[]`, `__rel_loc TYPE name` | given by a word |

// The text is searched for single bytes only, by `split_once` below, because core's searchers for
// strings and characters have panic paths that survive optimization where they are not inlined. The
// no-panic check links this parser.

use super::error::Unexpected;
use super::{Field, Kind, Location};

/// Parses one line of a `format` text.
///
/// The parts after the declaration may come in any order. Unknown ones are skipped, because kernels
/// have appended parts before (`signed:` in Linux 2.6.33).
pub(super) fn parse(line: &str) -> Result<Field<'_>, Unexpected<'_>> {
    let line = line.trim_ascii();
    let rest = line.strip_prefix("field:").ok_or(Unexpected { expected: "`field:`", found: line })?;
    let (declaration, mut rest) =
        split_once(rest, b';').ok_or(Unexpected { expected: "`;` after the declaration", found: rest })?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    while !rest.is_empty() {
        let (part, after) =
            split_once(rest, b';').ok_or(Unexpected { expected: "`;` after a value", found: rest })?;
        let (key, value) =
            split_once(part, b':').ok_or(Unexpected { expected: "`key:value`", found: part })?;
        match key.trim_ascii() {
            "offset" => offset = Some(number(value)?),
            "size" => size = Some(number(value)?),
            "signed" => signed = number(value)? != 0,
            _ => {}
        }
        rest = after;
    }
    let offset = offset.ok_or(Unexpected { expected: "`offset:`", found: line })?;
    let size = size.ok_or(Unexpected { expected: "`size:`", found: line })?;
    if u32::checked_add(offset, size).is_none() {
        return Err(Unexpected { expected: "an offset and a size with a sum below 2^32", found: line });
    }
    let declaration = declaration.trim_ascii();
    let Declaration { name, type_name, dynamic, brackets } = Declaration::parse(declaration)?;
    let (location, kind) = match dynamic {
        // Probes print arrays of dynamic strings as several words under one `__data_loc`.
        Some(_) if size != 4 => (Location::Fixed, Kind::Opaque),
        Some(location) => (location, Kind::elements(type_name)),
        None if size == 0 && brackets == Some("") => (Location::Rest, Kind::elements(type_name)),
        None => (Location::Fixed, Kind::fixed(type_name, brackets, size)),
    };
    Ok(Field { name, type_name, declaration, offset, size, signed, location, kind })
}

/// Splits the text at the first byte of this value, which is ASCII.
pub(super) fn split_once(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|byte| byte == separator)?;
    let (before, after) = text.split_at_checked(at)?;
    Some((before, after.get(1..)?))
}

/// Parses a decimal number with blanks around it.
pub(super) fn number(text: &str) -> Result<u32, Unexpected<'_>> {
    let number = text.trim_ascii().parse();
    number.map_err(|_| Unexpected { expected: "a decimal number below 2^32", found: text })
}

/// The parts of a C declaration.
struct Declaration<'t> {
    name: &'t str,
    /// Without `__data_loc`, `__rel_loc` and brackets.
    type_name: &'t str,
    dynamic: Option<Location>,
    /// The text in the brackets after the name: `2][3` of `int x[2][3]`.
    brackets: Option<&'t str>,
}

impl<'t> Declaration<'t> {
    fn parse(text: &'t str) -> Result<Self, Unexpected<'t>> {
        let (dynamic, rest) = match split_once(text, b' ') {
            Some(("__data_loc", rest)) => (Some(Location::DataLoc), rest),
            Some(("__rel_loc", rest)) => (Some(Location::RelLoc), rest),
            _ => (None, text),
        };
        let (rest, brackets) = split_brackets(rest);
        let end_of_type = rest
            .bytes()
            .rposition(|byte| byte.is_ascii_whitespace() || matches!(byte, b'*' | b')' | b']'))
            .ok_or(Unexpected { expected: "a type and a name", found: text })?;
        let (type_name, name) = rest.split_at_checked(end_of_type + 1).unwrap_or_default();
        let (type_name, _) = split_brackets(type_name);
        if name.is_empty() || type_name.is_empty() {
            return Err(Unexpected { expected: "a type and a name", found: text });
        }
        Ok(Self { name, type_name, dynamic, brackets })
    }
}

/// Splits trailing brackets off: `name[a][b]` becomes `name` and `a][b`.
///
/// Sizes of old kernels are expressions that may hold brackets themselves.
fn split_brackets(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_ascii();
    match text.strip_suffix(']').and_then(|text| split_once(text, b'[')) {
        Some((before, inside)) => (before.trim_ascii(), Some(inside.trim_ascii())),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_kernel_is_split() {
        let (data, rel) = (Some(Location::DataLoc), Some(Location::RelLoc));
        for (text, expected) in [
            ("unsigned short common_type", ("unsigned short", "common_type", None, None)),
            ("char prev_comm[16]", ("char", "prev_comm", None, Some("16"))),
            ("char comm[ TASK_COMM_LEN ]", ("char", "comm", None, Some("TASK_COMM_LEN"))),
            ("u8 mac [sizeof(x[0]) * 2]", ("u8", "mac", None, Some("sizeof(x[0]) * 2"))),
            ("int grid[2][3]", ("int", "grid", None, Some("2][3"))),
            ("unsigned long args[]", ("unsigned long", "args", None, Some(""))),
            ("void * alarm", ("void *", "alarm", None, None)),
            ("const char *const * argv", ("const char *const *", "argv", None, None)),
            ("const void *const rule_attr", ("const void *const", "rule_attr", None, None)),
            ("void *p", ("void *", "p", None, None)),
            ("typeof(x)y", ("typeof(x)", "y", None, None)),
            ("int\ttabbed", ("int", "tabbed", None, None)),
            ("__data_loc char[] name", ("char", "name", data, None)),
            ("__data_loc char[]name", ("char", "name", data, None)),
            ("__data_loc unsigned int[] lengths", ("unsigned int", "lengths", data, None)),
            ("__data_loc cpumask_t cpus", ("cpumask_t", "cpus", data, None)),
            ("__rel_loc char name[]", ("char", "name", rel, Some(""))),
            ("__rel_loc char[] name", ("char", "name", rel, None)),
            ("__rel_loc cpumask_t cpus", ("cpumask_t", "cpus", rel, None)),
        ] {
            let Declaration { name, type_name, dynamic, brackets } = Declaration::parse(text).unwrap();
            assert_eq!((type_name, name, dynamic, brackets), expected, "{text}");
        }
    }

    #[test]
    fn malformed_declarations_are_errors() {
        for text in
            ["", "x", "__data_loc", "__data_loc x", "[]", "[] x", "int ]", "int x]", "[3", "int *", "a[b"]
        {
            let error = Declaration::parse(text).map(|_| ()).unwrap_err();
            let expected = Unexpected { expected: "a type and a name", found: text };
            assert_eq!(error, expected, "{text}");
        }
    }

    #[test]
    fn unknown_parts_and_blanks_are_skipped() {
        let field =
            parse("\tfield: local_t commit;\toffset: 8;\tsize :16;\tsigned:1;\tcolour:red;\r\n").unwrap();
        assert_eq!((field.name, field.type_name), ("commit", "local_t"));
        assert_eq!((field.offset, field.size, field.signed), (8, 16, true));
    }

    #[test]
    fn signed_is_a_decimal_number_and_false_if_missing() {
        let signed = |part| parse(part).map(|field| field.signed);
        assert_eq!(signed("field:int x;offset:8;size:4;"), Ok(false));
        assert_eq!(signed("field:int x;offset:8;size:4;signed:0;"), Ok(false));
        assert_eq!(signed("field:int x;offset:8;size:4;signed:1;"), Ok(true));
        assert_eq!(signed("field:int x;offset:8;size:4;signed:2;"), Ok(true));
        for value in ["0x1", "0x0", "true", "-1", "4294967296", ""] {
            let line = ["field:int x;offset:8;size:4;signed:", value, ";"].concat();
            let error = Unexpected { expected: "a decimal number below 2^32", found: value };
            assert_eq!(parse(&line), Err(error));
        }
    }

    #[test]
    fn errors_name_the_part() {
        for (line, expected, found) in [
            ("field:int x", "`;` after the declaration", "int x"),
            ("field:int x;offset:8", "`;` after a value", "offset:8"),
            ("field:int x;offset:8 size:4;", "a decimal number below 2^32", "8 size:4"),
            ("field:int x;offset:8;size:4;signed:1", "`;` after a value", "signed:1"),
            ("field:int x;offset;", "`key:value`", "offset"),
            ("field:int x;offset:8;", "`size:`", "field:int x;offset:8;"),
            ("field:int x;size:8;", "`offset:`", "field:int x;size:8;"),
            ("field:x;offset:8;size:8;", "a type and a name", "x"),
            (" fold:int x; ", "`field:`", "fold:int x;"),
        ] {
            assert_eq!(parse(line), Err(Unexpected { expected, found }));
        }
    }

    #[test]
    fn numbers_out_of_range_are_errors() {
        for offset in ["4294967296", "-8", "0x8", "99999999999999999999999999", ""] {
            let line = ["field:int x;offset:", offset, ";size:4;"].concat();
            let error = Unexpected { expected: "a decimal number below 2^32", found: offset };
            assert_eq!(parse(&line), Err(error));
        }
        let line = "field:char x[9];offset:4294967291;size:5;";
        let expected = "an offset and a size with a sum below 2^32";
        assert_eq!(parse(line), Err(Unexpected { expected, found: line }));
        let last = parse("field:int x;offset:4294967291;size:4;").unwrap();
        assert_eq!((last.offset, last.size), (4_294_967_291, 4));
    }

    #[test]
    fn dynamic_fields_are_located_by_a_word_of_four_bytes() {
        let parts = |line| parse(line).map(|field| (field.location, field.kind)).unwrap();
        let numbers = Kind::Array { element: 8 };
        assert_eq!(parts("field:__data_loc char[] x;offset:8;size:4;"), (Location::DataLoc, Kind::Text));
        assert_eq!(parts("field:__rel_loc u64 x[];offset:8;size:4;"), (Location::RelLoc, numbers));
        let shorts = Kind::Array { element: 2 };
        assert_eq!(parts("field:__rel_loc u16 x[4];offset:8;size:4;"), (Location::RelLoc, shorts));
        let strings = "field:__data_loc char[][3] x;offset:16;size:12;";
        assert_eq!(parts(strings), (Location::Fixed, Kind::Opaque));
    }

    #[test]
    fn empty_brackets_of_size_0_are_the_rest() {
        let parts = |line| parse(line).map(|field| (field.location, field.kind)).unwrap();
        let bytes = Kind::Array { element: 1 };
        assert_eq!(parts("field:u8 x[];offset:8;size:0;"), (Location::Rest, bytes));
        assert_eq!(parts("field:u8 x[0];offset:8;size:0;"), (Location::Fixed, bytes));
        assert_eq!(parts("field:u8 x[];offset:8;size:2;"), (Location::Fixed, bytes));
        assert_eq!(parts("field:u8 x;offset:8;size:0;"), (Location::Fixed, Kind::Opaque));
    }
}
