//! The position of trailers, and the records that have none.

use super::*;

fn without_trailer() -> SampleLayout {
    SampleLayout::new(&ATTR.without_flags(AttrFlags::SAMPLE_ID_ALL))
}

#[test]
fn record_without_trailer_has_the_time_of_its_body() {
    let layout = without_trailer();
    let fork = body(RecordType::FORK).pair(1, 2).pair(3, 4).u64(5).finish();
    let exit = body(RecordType::EXIT).pair(1, 2).pair(3, 4).u64(6).finish();
    let lost = body(RecordType::LOST).words(&[1, 2]).finish();
    let throttle = body(RecordType::THROTTLE).words(&[7, 1, 1]).finish();
    let unthrottle = body(RecordType::UNTHROTTLE).words(&[8, 1, 1]).finish();
    let times = [(fork, Some(5)), (exit, Some(6)), (lost, None), (throttle, Some(7)), (unthrottle, Some(8))];
    for (words, time) in times {
        let record = raw(&words).decode(&layout).unwrap();
        assert_eq!((raw(&words).time(&layout), record.time()), (time, time), "{record}");
        assert_eq!(raw(&words).id(&layout), None);
        assert!(record.sample_id().unwrap().is_empty());
    }
}

#[test]
fn time_of_the_trailer_precedes_that_of_the_body() {
    let words = finish(body(RecordType::FORK).pair(1, 2).pair(3, 4).u64(5));
    let Ok(Record::Fork(fork)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!((fork.time(), fork.own_time(), fork.sample_id().time()), (Some(12), 5, Some(12)));
    let layout = without_trailer();
    let words = body(RecordType::FORK).pair(1, 2).pair(3, 4).u64(5).finish();
    let Ok(Record::Fork(fork)) = raw(&words).decode(&layout) else { panic!("{words:x?}") };
    assert_eq!((fork.time(), fork.sample_id().time()), (Some(5), None));
}

#[test]
fn truncated_trailer_is_not_read_as_time_or_id() {
    let tid = SampleLayout::new(&ATTR.replace_sample_type(SampleType::TID));
    let words = body(RecordType::FORK).words(&[1, 2, 0x77_0000_0055]).finish();
    assert!(matches!(raw(&words).decode(&tid), Err(Error::Truncated { .. })));
    assert_eq!((raw(&words).time(&tid), raw(&words).id(&tid)), (None, None));
    let whole = finish(body(RecordType::THROTTLE).words(&[1, 2, 3]));
    for len in 1..whole.len() {
        let words = body(RecordType::THROTTLE).words(&whole[1..len]).finish();
        assert_eq!((raw(&words).time(&LAYOUT), raw(&words).id(&LAYOUT)), (None, None), "{len} words");
    }
}

#[test]
fn id_is_the_identifier_or_else_the_id() {
    let values = SampleIdValues { id: 3, identifier: 4, ..TRAILER };
    for (wanted, id) in [
        (SampleType::ID | SampleType::IDENTIFIER, Some(4)),
        (SampleType::ID | SampleType::CPU, Some(3)),
        (SampleType::STREAM_ID, None),
    ] {
        let attr = ATTR.replace_sample_type(wanted);
        let layout = SampleLayout::new(&attr);
        let switch = body(RecordType::SWITCH).with_trailer(&attr, &values).finish();
        assert_eq!(raw(&switch).id(&layout), id, "{wanted:?}");
        let event = body(RecordType::BPF_EVENT).words(&[1, 2]).with_trailer(&attr, &values).u64(9).finish();
        assert_eq!(raw(&event).id(&layout), id, "{wanted:?}");
    }
}

#[test]
fn record_shorter_than_its_trailer_is_refused() {
    let words = body(RecordType::SWITCH).u64(1).finish();
    let expected = Error::Truncated { kind: RecordType::SWITCH, field: "sample_id", needed: 48, found: 8 };
    assert_eq!(raw(&words).sample_id(&LAYOUT).unwrap_err(), expected);
    assert_eq!(raw(&words).decode(&LAYOUT).unwrap_err(), expected);
}

/// Returns a record of a kind whose later copies are longer by trailers that are never written.
fn overlong(kind: RecordType, more: usize) -> Vec<u64> {
    let body = match kind {
        RecordType::KSYMBOL => body(kind).u64(0xffff_0000).u32s(&[64]).u16s(&[1, 0]).string(b"bpf_prog_x"),
        RecordType::BPF_EVENT => body(kind).u16s(&[1, 0]).u32s(&[147]).bytes(b"abcdefgh"),
        _ => body(kind).u64(0xffff_0000).u16s(&[2, 3]).bytes_padded(&[1, 2, 3, 4, 5]),
    };
    body.with_trailer(&ATTR, &TRAILER).words(&std::vec![0xdead; more]).finish()
}

#[test]
fn overlong_copy_has_its_trailer_after_the_body() {
    for more in [0, 6, 12] {
        let words = overlong(RecordType::KSYMBOL, more);
        let record = decoded(&words).unwrap();
        let Record::Ksymbol(symbol) = record else { panic!("{words:x?}") };
        assert_eq!((symbol.len(), symbol.name()), (64, &b"bpf_prog_x"[..]));
        assert_eq!((record.trailing_len(), record.size()), (8 * more, 8 * words.len()));
        let words = overlong(RecordType::BPF_EVENT, more);
        let Ok(Record::BpfEvent(event)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!((event.id(), event.tag()), (147, &b"abcdefgh"[..]));
        let words = overlong(RecordType::TEXT_POKE, more);
        let Ok(Record::TextPoke(poke)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!(
            (poke.addr(), poke.old_bytes(), poke.new_bytes()),
            (0xffff_0000, &[1, 2][..], &[3, 4, 5][..])
        );
    }
}

#[test]
fn unknown_sample_type_bit_makes_all_trailers_unknown() {
    for bit in [FIRST_UNKNOWN, 40, 63] {
        let bits = 1 << bit;
        let attr = ATTR.with_sample_type(SampleType::from_bits_retain(bits));
        let layout = SampleLayout::new(&attr);
        let error = Error::UnknownBits { field: "sample_type", bits };
        for kind in (1..=RecordType::LAST.0).map(RecordType) {
            let words = body(kind).words(&[0; 30]).finish();
            assert_eq!(raw(&words).decode(&layout).unwrap_err(), error, "{kind:?}");
            assert_eq!(raw(&words).sample_id(&layout).unwrap_err(), error, "{kind:?}");
            assert_eq!((raw(&words).time(&layout), raw(&words).id(&layout)), (None, None), "{kind:?}");
        }
        assert_eq!(layout.unknown(), Some(error));
    }
}

#[test]
fn unknown_sample_type_bit_matters_to_samples_only_if_there_are_no_trailers() {
    let attr = ATTR.with_sample_type(SampleType::from_bits_retain(1 << FIRST_UNKNOWN));
    let layout = SampleLayout::new(&attr.without_flags(AttrFlags::SAMPLE_ID_ALL));
    let words = body(RecordType::FORK).pair(1, 2).pair(3, 4).u64(5).finish();
    assert_eq!(raw(&words).decode(&layout).map(|record| record.time()), Ok(Some(5)));
    assert_eq!(raw(&words).time(&layout), Some(5));
    let words = body(RecordType::SAMPLE).words(&[0; 30]).finish();
    let error = Error::UnknownBits { field: "sample_type", bits: 1 << FIRST_UNKNOWN };
    assert_eq!(raw(&words).decode(&layout).unwrap_err(), error);
    assert_eq!(raw(&words).sample_head(&layout).unwrap_err(), error);
    assert_eq!((raw(&words).time(&layout), raw(&words).id(&layout)), (None, None));
}

#[test]
fn unknown_read_format_bit_makes_counts_unknown() {
    let attr = ATTR.with_read_format(ReadFormat::from_bits_retain(1 << 5));
    let layout = SampleLayout::new(&attr);
    let error = Error::UnknownBits { field: "read_format", bits: 1 << 5 };
    let words = finish(body(RecordType::READ).words(&[0; 3]));
    assert_eq!(raw(&words).decode(&layout).unwrap_err(), error);
    assert_eq!((raw(&words).time(&layout), raw(&words).id(&layout)), (None, None));
    // Records of other kinds have no counts.
    let words = finish(body(RecordType::LOST).words(&[1, 2]));
    assert_eq!(raw(&words).decode(&layout).map(|record| record.time()), Ok(Some(12)));
}

#[test]
fn time_and_id_are_read_without_a_look_at_the_body() {
    let words = finish(body(RecordType::COMM).pair(1, 2).bytes(b"no NUL: "));
    assert!(matches!(raw(&words).decode(&LAYOUT), Err(Error::Unterminated { .. })));
    assert_eq!((raw(&words).time(&LAYOUT), raw(&words).id(&LAYOUT)), (Some(12), Some(13)));
}
