//! One field line: `field:DECLARATION; offset:N; size:N; signed:N;`.

use super::declaration::Declaration;
use super::error::Fault;
use super::{Field, Kind, Place};

/// Reads one line of a `format` text.
///
/// Parts may come in any order behind the declaration and unknown ones are skipped: kernels have appended parts
/// before (`signed:`, 2.6.33).
pub(super) fn parse(line: &str) -> Result<Field<'_>, Fault<'_>> {
    let line = line.trim();
    let rest = line.strip_prefix("field:").ok_or(Fault { expected: "`field:`", found: line })?;
    let (declaration, mut rest) =
        rest.split_once(';').ok_or(Fault { expected: "`;` after the declaration", found: rest })?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    while !rest.is_empty() {
        let (part, after) =
            rest.split_once(';').ok_or(Fault { expected: "`;` after a value", found: rest })?;
        let (key, value) = part.split_once(':').ok_or(Fault { expected: "`key:value`", found: part })?;
        match key.trim() {
            "offset" => offset = Some(number(value)?),
            "size" => size = Some(number(value)?),
            "signed" => signed = number(value)? != 0,
            _ => {}
        }
        rest = after;
    }
    let offset = offset.ok_or(Fault { expected: "`offset:`", found: line })?;
    let size = size.ok_or(Fault { expected: "`size:`", found: line })?;
    if u32::checked_add(offset, size).is_none() {
        return Err(Fault { expected: "an offset and a size with a sum below 2^32", found: line });
    }
    let Declaration { name, type_name, dynamic, brackets } = Declaration::parse(declaration)?;
    let place = match dynamic {
        Some(place) if size == 4 => place,
        None if size == 0 && brackets == Some("") => Place::Rest,
        _ => Place::Fixed,
    };
    // Probes have arrays of dynamic strings: several words under one `__data_loc`, which nothing here resolves.
    let kind = if dynamic.is_some() && place == Place::Fixed {
        Kind::Opaque
    } else {
        Kind::of(type_name, place, brackets, size)
    };
    Ok(Field { name, type_name, offset, size, signed, place, kind })
}

fn number(value: &str) -> Result<u32, Fault<'_>> {
    value.trim().parse().map_err(|_| Fault { expected: "a decimal number below 2^32", found: value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parts_and_blanks_are_tolerated() {
        let field = parse("\tfield: local_t commit;\toffset:8;\tsize: 8;\tsigned:1;\tcolour:red;\n").unwrap();
        assert_eq!((field.name, field.type_name), ("commit", "local_t"));
        assert_eq!((field.offset, field.size, field.signed), (8, 8, true));
        let old = parse("field:int x;offset:8;size:4;").unwrap();
        assert!(!old.signed);
    }

    #[test]
    fn a_missing_semicolon_is_named() {
        for (line, expected, found) in [
            ("field:int x", "`;` after the declaration", "int x"),
            ("field:int x;offset:8", "`;` after a value", "offset:8"),
            ("field:int x;offset:8 size:4;", "a decimal number below 2^32", "8 size:4"),
            ("field:int x;offset:8;size:4;signed:1", "`;` after a value", "signed:1"),
            ("field:int x;offset;", "`key:value`", "offset"),
            ("field:int x;offset:8;", "`size:`", "field:int x;offset:8;"),
            ("field:int x;size:8;", "`offset:`", "field:int x;size:8;"),
            ("fold:int x;", "`field:`", "fold:int x;"),
        ] {
            let fault = parse(line).unwrap_err();
            assert_eq!((fault.expected, fault.found), (expected, found));
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for line in [
            "field:int x;offset:4294967296;size:4;",
            "field:int x;offset:-8;size:4;",
            "field:int x;offset:4294967295;size:4;",
            "field:int x;offset:99999999999999999999999999;size:4;",
            "field:int x;offset:;size:4;",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn an_array_of_dynamic_strings_is_opaque() {
        let field = parse("field:__data_loc char[][3] names;\toffset:16;\tsize:12;\tsigned:0;").unwrap();
        assert_eq!((field.name, field.place, field.kind), ("names", Place::Fixed, Kind::Opaque));
    }

    #[test]
    fn empty_brackets_of_size_0_take_the_rest() {
        let field = parse("field:unsigned long args[];\toffset:24;\tsize:0;\tsigned:0;").unwrap();
        assert_eq!(field.place, Place::Rest);
        let none = parse("field:u8 args[0];\toffset:24;\tsize:0;\tsigned:0;").unwrap();
        assert_eq!((none.place, none.kind), (Place::Fixed, Kind::Array { element: 1 }));
    }
}
