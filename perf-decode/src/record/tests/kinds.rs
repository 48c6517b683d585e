//! The table of kinds against the constants of `RecordType`.

use super::*;
use crate::schema::{Body, FieldType, TrailerPosition};
use crate::testing::{reference, to_reference};

/// Returns whether the trailer directly follows the body. Kernels write overlong copies of it.
fn is_overlong(kind: RecordType) -> bool {
    Body::of(kind).unwrap().trailer == TrailerPosition::AfterBody
}

fn kinds() -> impl Iterator<Item = RecordType> {
    (1..=RecordType::LAST.0).map(RecordType)
}

/// Returns the body of the shortest record of this kind whose words are all 0.
fn shortest_body(kind: RecordType) -> Vec<u64> {
    let layout = SampleLayout::new(&ATTR.without_flags(AttrFlags::SAMPLE_ID_ALL));
    let attr = ATTR.replace_sample_type(SampleType::empty());
    let layout = if kind == RecordType::SAMPLE { SampleLayout::new(&attr) } else { layout };
    let decodes = |words: &Vec<u64>| raw(&body(kind).words(words).finish()).decode(&layout).is_ok();
    (0..20).map(|len| std::vec![0; len]).find(decodes).unwrap()
}

/// Decodes by both decoders, compares, and returns what they found.
fn agreed(words: &[u64]) -> Option<reference::Reference> {
    let (found, naive) = (to_reference(raw(words), &LAYOUT).ok(), reference::decode(words, &ATTR));
    if let (Some(_), Err(refused)) = (&found, &naive) {
        panic!("only the naive decoder refuses: {refused:?}");
    }
    assert_eq!(found, naive.ok(), "{words:x?}");
    found
}

#[test]
fn every_kind_has_a_name_a_row_and_a_reference_arm() {
    for kind in kinds() {
        assert!(kind.name().is_some(), "{kind:?} has no name");
        let words = match kind {
            RecordType::SAMPLE => crate::testing::builder::SampleBuilder::new(&ATTR).finish(),
            _ => finish(body(kind).words(&shortest_body(kind))),
        };
        let record = raw(&words).decode(&LAYOUT).unwrap();
        assert!(!matches!(record, Record::Unknown(_)), "{kind:?} has no row in `records!`");
        assert_eq!(record.kind(), kind);
        assert_eq!(record.trailing_len(), 0, "{kind:?}");
        let found = agreed(&words);
        assert!(found.is_some(), "{kind:?} has no arm in `testing::reference`");
        let has_fields = found.is_some_and(|found| !found.fields.is_empty());
        assert_eq!(has_fields, kind != RecordType::SWITCH, "{kind:?}");
    }
    assert_eq!(RecordType(RecordType::LAST.0 + 1).name(), None, "`RecordType::LAST` is not the last");
}

#[test]
fn every_kind_but_a_sample_has_its_trailer_after_the_body() {
    for kind in kinds().filter(|kind| *kind != RecordType::SAMPLE) {
        let shortest = shortest_body(kind);
        let whole = finish(body(kind).words(&shortest));
        assert_eq!(decoded(&whole).unwrap().sample_id().unwrap().fields().count(), 7, "{kind:?}");
        // Six words more: before the trailer, or after it.
        let mut longer = body(kind).words(&shortest);
        longer = if is_overlong(kind) {
            longer.with_trailer(&ATTR, &TRAILER).words(&[u64::MAX; 6])
        } else {
            longer.words(&[0; 6]).with_trailer(&ATTR, &TRAILER)
        };
        let longer = longer.finish();
        let record = decoded(&longer).unwrap();
        assert_eq!(record.trailing_len(), 48, "{kind:?}");
        assert!(record.to_string().ends_with("(48 trailing bytes)"), "{record}");
        agreed(&longer).unwrap();
    }
}

#[test]
fn every_kind_shorter_than_body_and_trailer_is_refused() {
    for kind in kinds().filter(|kind| *kind != RecordType::SAMPLE) {
        let whole = finish(body(kind).words(&shortest_body(kind)));
        for len in 1..whole.len() {
            let words = body(kind).words(&whole[1..len]).finish();
            match raw(&words).decode(&LAYOUT).unwrap_err() {
                Error::Truncated { kind: named, needed, found, .. } => {
                    assert!(named == kind && needed > found, "{kind:?} of {len} words: {needed}, {found}");
                }
                // The name of length 0 has no word for its NUL.
                Error::Unterminated { kind: named, .. } => {
                    assert_eq!((named, kind), (RecordType::KSYMBOL, named));
                }
                other => panic!("{kind:?} of {len} words: {other:?}"),
            }
            assert_eq!((raw(&words).time(&LAYOUT), raw(&words).id(&LAYOUT)), (None, None), "{kind:?}");
            assert!(raw(&words).sample_id(&LAYOUT).is_err());
            assert_eq!(agreed(&words), None);
        }
    }
}

#[test]
fn every_kind_prints_each_of_its_fields() {
    for kind in kinds().filter(|kind| *kind != RecordType::SAMPLE) {
        let words = finish(body(kind).words(&shortest_body(kind)));
        let record = decoded(&words).unwrap();
        let line = record.to_string();
        assert!(line.starts_with(kind.name().unwrap()) && line.contains(" | pid=10 "), "{line}");
        for field in record.fields() {
            assert!(line.contains(&std::format!(" {field}")), "{field} in {line}");
        }
    }
}

#[test]
fn only_kinds_that_count_need_more_than_the_first_check() {
    for kind in kinds().filter(|kind| *kind != RecordType::SAMPLE) {
        let last = Body::of(kind).unwrap().fields.last();
        let counts = is_overlong(kind)
            || last.is_some_and(|(_, field)| field.is_variable() && *field != FieldType::Name);
        for more in [0, 3] {
            let words = finish(body(kind).words(&shortest_body(kind)).words(&std::vec![0; more]));
            assert_eq!(raw(&words).passes_fast_check(&LAYOUT), !counts, "{kind:?}");
            assert_eq!(raw(&words).ends_in_trailer(&LAYOUT), !counts, "{kind:?}");
        }
    }
}

#[test]
fn last_word_of_a_body_without_a_name_is_not_looked_at() {
    // With and without a NUL, in the byte whose bit means a missing name and in others.
    for last in [0, 1, u64::MAX, u64::MAX >> 8, u64::MAX << 8] {
        let words = finish(body(RecordType::LOST).words(&[1, last]));
        assert!(raw(&words).passes_fast_check(&LAYOUT), "{last:#x}");
    }
}
