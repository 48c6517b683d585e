//! Every tracepoint of a real kernel: its `format` text parses, and its fields are consistent.

#![allow(clippy::expect_used, reason = "a test's helpers may fail it")]

use std::collections::{BTreeMap, BTreeSet};

use perf_tracepoint::{Field, Fields, Format, Kind, Location};

/// Tracepoints in the file: `grep -c '^name:'`.
const FORMATS: usize = 2307;
/// Fields in the file: `grep -c 'field:'`, less the 4 of `header_page`.
const FIELDS: usize = 20_957;

#[test]
fn every_format_of_a_kernel_parses() {
    let text = crate::tracefs::load("tracefs-formats.txt.gz");
    let (mut ids, mut kinds, mut fields) = (BTreeSet::new(), BTreeMap::<_, usize>::new(), 0);
    for (path, text) in crate::tracefs::sections(&text).filter(|(path, _)| path.contains('/')) {
        let format = Format::parse(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(path.rsplit('/').next(), Some(format.name));
        assert!(ids.insert(format.id), "{path}: id {} is taken", format.id);
        assert!(text.contains(format.print_fmt) && !format.print_fmt.is_empty(), "{path}");
        check_common(path, &format);
        check_order(path, &format);
        for field in format.fields {
            check_field(path, &field);
            assert_eq!(format.field(field.name), Some(field), "{path}: {} occurs twice", field.name);
            *kinds.entry(format!("{:?} {:?}", field.location, field.kind)).or_default() += 1;
        }
        fields += format.common.iter().count() + format.fields.iter().count();
    }
    println!("{} formats, {fields} fields; own fields by kind: {kinds:#?}", ids.len());
    assert_eq!((ids.len(), fields), (FORMATS, FIELDS));
}

/// Every tracepoint begins with the same four fields.
fn check_common(path: &str, format: &Format<'_>) {
    let common: Vec<_> = format.common.iter().map(|f| (f.name, f.offset, f.size, f.signed)).collect();
    let expected = [
        ("common_type", 0, 2, false),
        ("common_flags", 2, 1, false),
        ("common_preempt_count", 3, 1, false),
        ("common_pid", 4, 4, true),
    ];
    assert_eq!(common, expected, "{path}");
}

/// Fields are ordered by offset, after the common ones, and do not overlap.
fn check_order(path: &str, format: &Format<'_>) {
    let mut end = 8;
    for field in format.fields {
        assert!(field.offset >= end, "{path}: {} at {} overlaps {end}", field.name, field.offset);
        end = field.offset + field.size;
    }
}

/// The declaration of a field, its kind and its bindings agree.
fn check_field(path: &str, field: &Field<'_>) {
    let at = || format!("{path}: {field:?}");
    assert_eq!(field.integer().is_ok(), matches!(field.kind, Kind::Integer | Kind::Pointer), "{}", at());
    assert_eq!(field.array().is_ok(), matches!(field.kind, Kind::Array { .. }), "{}", at());
    assert!(!field.type_name.contains(['[', ']']) && !field.type_name.starts_with("__data_loc"), "{}", at());
    assert!(field.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{}", at());
    assert_eq!(field.type_name.contains('*'), field.kind == Kind::Pointer, "{}", at());
    // This kernel has no structure by value and no array of elements of unknown size.
    assert_ne!(field.kind, Kind::Opaque, "{}", at());
    assert_eq!(field.location == Location::Rest, field.size == 0, "{}", at());
    if let (Kind::Array { element }, Location::Fixed) = (field.kind, field.location) {
        assert_eq!(field.size % element, 0, "{}", at());
    }
}

#[test]
fn the_header_page_parses_as_a_block_of_fields() {
    let text = crate::tracefs::load("tracefs-formats.txt.gz");
    let find = |name| crate::tracefs::sections(&text).find(|(path, _)| *path == name).map(|(_, text)| text);
    let page = Fields::parse(find("header_page").expect("header_page")).expect("a block of fields");
    let names: Vec<_> = page.iter().map(|field| field.name).collect();
    assert_eq!(names, ["timestamp", "commit", "overwrite", "data"]);
    assert!(Fields::parse(find("header_event").expect("header_event")).is_err());
}
