use super::*;

/// The five bits that are known.
const ALL: ReadFormat = ReadFormat::from_bits_retain(0x1f);

#[test]
fn times_of_one_event_are_between_value_and_id() {
    let format = ALL.difference(ReadFormat::GROUP);
    let counts = ReadValues::parse(&[7, 100, 50, 21, 3], format).unwrap();
    assert_eq!((counts.time_enabled(), counts.time_running()), (Some(100), Some(50)));
    let mut counts = counts.iter();
    assert_eq!(counts.next(), Some(ReadEntry { value: 7, id: Some(21), lost: Some(3) }));
    assert_eq!(counts.next(), None);
}

#[test]
fn times_of_a_group_precede_all_counts() {
    let words = [2, 100, 50, 7, 21, 0, 8, 22, 1];
    let counts = ReadValues::parse(&words, ALL).unwrap();
    assert_eq!((counts.time_enabled(), counts.time_running()), (Some(100), Some(50)));
    let mut counts = counts.iter();
    assert_eq!(counts.next(), Some(ReadEntry { value: 7, id: Some(21), lost: Some(0) }));
    assert_eq!(counts.next(), Some(ReadEntry { value: 8, id: Some(22), lost: Some(1) }));
    assert_eq!(counts.next(), None);
}

#[test]
fn time_running_alone_is_the_first_time() {
    let counts = ReadValues::parse(&[7, 50], ReadFormat::TOTAL_TIME_RUNNING).unwrap();
    assert_eq!((counts.time_enabled(), counts.time_running()), (None, Some(50)));
    assert_eq!(counts.scaled(7), Scaled::Unscaled(7));
}

#[test]
fn group_count_is_checked_before_it_is_multiplied() {
    let refused = ReadValues::parse(&[u64::MAX, 1], ReadFormat::GROUP);
    assert!(matches!(refused, Err(Error::Truncated { needed: u32::MAX, found: 16, .. })), "{refused:?}");
}

#[test]
fn block_length_follows_from_the_format() {
    for (format, events, words) in [
        (ReadFormat::empty(), 1, 1),
        (ReadFormat::ID | ReadFormat::TOTAL_TIME_RUNNING, 4, 3),
        (ReadFormat::GROUP, 4, 5),
        (ALL, 4, 15),
        (ALL, u64::MAX, u64::MAX),
    ] {
        assert_eq!(ReadValues::words(format, events), words, "{format}");
    }
}

#[test]
fn truncated_block_reports_what_it_needs() {
    let refused = ReadValues::parse(&[1], ReadFormat::ID);
    assert!(matches!(refused, Err(Error::Truncated { needed: 16, found: 8, .. })), "{refused:?}");
}

#[test]
fn words_after_the_block_are_trailing() {
    for (words, format, found) in [
        (&[7, 8][..], ReadFormat::empty(), 8),
        (&[1, 7, 8, 9], ReadFormat::GROUP, 16),
        (&[0, 7], ReadFormat::GROUP, 8),
        (&[7, 1, 2, 3, 4, 5], ALL.difference(ReadFormat::GROUP), 8),
    ] {
        let error = Error::TrailingBytes { kind: RecordType::READ, found };
        assert_eq!(ReadValues::parse(words, format), Err(error), "{format}");
    }
}

#[test]
fn unknown_format_bit_is_refused() {
    let format = ReadFormat::from_bits_retain(1 << 5 | 1);
    let error = Error::UnknownBits { field: "read_format", bits: 1 << 5 };
    for words in [&[7, 8][..], &[7, 8, 9], &[]] {
        assert_eq!(ReadValues::parse(words, format), Err(error), "{words:?}");
    }
}

#[test]
fn length_is_the_number_of_counts() {
    let words = [2, 100, 50, 7, 21, 0, 8, 22, 1];
    let group = ReadValues::parse(&words, ALL).unwrap();
    assert_eq!((group.len(), group.is_empty()), (2, false));
    let mut counts = group.iter();
    for left in [2, 1, 0] {
        assert_eq!((counts.len(), counts.size_hint()), (left, (left, Some(left))));
        counts.next();
    }
    let one = ReadValues::parse(&[7, 100, 50, 21, 3], ALL.difference(ReadFormat::GROUP)).unwrap();
    assert_eq!((one.len(), one.is_empty()), (1, false));
    let none = ReadValues::parse(&[0], ReadFormat::GROUP).unwrap();
    assert_eq!((none.len(), none.is_empty(), none.iter().next()), (0, true, None));
}

#[test]
fn values_are_scaled_by_the_times_of_the_block() {
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    for (running, scaled) in [(40, Scaled::Estimate(2000)), (80, Scaled::Exact(1000)), (0, Scaled::NeverRan)]
    {
        let words = [1000, 80, running];
        assert_eq!(ReadValues::parse(&words, times).unwrap().scaled(1000), scaled);
    }
    let enabled = ReadValues::parse(&[1000, 80], ReadFormat::TOTAL_TIME_ENABLED).unwrap();
    assert_eq!(enabled.scaled(1000), Scaled::Unscaled(1000));
    let known = [Scaled::Exact(7), Scaled::Estimate(7), Scaled::Unscaled(7)];
    assert_eq!(known.map(Scaled::value), [Some(7); 3]);
}

#[test]
fn debug_form_shows_the_times_and_the_entries() {
    let format = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::ID;
    let shown = std::format!("{:?}", ReadValues::parse(&[7, 100, 21], format).unwrap());
    let expected = std::format!(
        "ReadValues {{ format: {format:?}, time_enabled: Some(100), time_running: None, \
         entries: [ReadEntry {{ value: 7, id: Some(21), lost: None }}] }}"
    );
    assert_eq!(shown, expected);
}
