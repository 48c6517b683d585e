//! The fixed words at the start of a sample.

use super::*;

const HEAD: SampleType = SampleType::IDENTIFIER
    .union(SampleType::IP)
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::ADDR)
    .union(SampleType::ID)
    .union(SampleType::STREAM_ID)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD);

fn head_sample(attr: &Attr) -> SampleBuilder {
    SampleBuilder::new(attr)
        .identifier(1)
        .ip(2)
        .tid(3, 4)
        .time(5)
        .addr(6)
        .id(7)
        .stream_id(8)
        .cpu(9)
        .period(10)
}

#[test]
fn head_fields_are_read_by_their_word_index() {
    let attr = event(HEAD);
    let words = head_sample(&attr).finish();
    let [task, cpu] = [[3, 4], [9, 0]].map(|halves: [u32; 2]| zerocopy::transmute!(halves));
    assert_eq!(words[1..], [1, 2, task, 5, 6, 7, 8, cpu, 10]);
    let read = with_sample(&words, &attr, |s| {
        assert_eq!((s.identifier(), s.ip(), s.pid(), s.tid()), (Some(1), Some(2), Some(3), Some(4)));
        assert_eq!((s.time(), s.addr(), s.id(), s.stream_id()), (Some(5), Some(6), Some(7), Some(8)));
        (s.cpu(), s.period())
    });
    assert_eq!(read, Ok((Some(9), Some(10))));
}

#[test]
fn field_not_in_sample_type_is_absent() {
    for missing in HEAD.iter() {
        let attr = event(HEAD.difference(missing));
        let text = fields(&head_sample(&attr).finish(), &attr).unwrap();
        let name = std::format!("{}=", missing.to_string().to_lowercase());
        assert!(!text.iter().any(|field| field.starts_with(&name)), "{missing}: {text:?}");
        let fields = if missing == SampleType::TID { 8 } else { 9 };
        assert_eq!(text.len(), fields, "{missing}: {text:?}");
    }
}

#[test]
fn truncated_head_names_its_first_missing_field() {
    let attr = event(HEAD);
    let expected = ["identifier", "ip", "tid", "time", "addr", "id", "stream_id", "cpu", "period"];
    for (present, name) in expected.iter().enumerate() {
        let words = truncate(head_sample(&attr).finish(), 9 - present);
        let Err(Error::Truncated { field, .. }) = fields(&words, &attr) else { panic!("{present}") };
        assert_eq!(field, *name);
    }
}

#[test]
fn unknown_sample_type_bit_is_refused() {
    for bit in [FIRST_UNKNOWN, 40, 63] {
        let attr = event(SampleType::from_bits_retain(1 << bit | 1));
        let words = grow(SampleBuilder::new(&attr).finish(), 0);
        let error = Error::UnknownBits { field: "sample_type", bits: 1 << bit };
        assert_eq!(fields(&words, &attr), Err(error));
        let (raw, layout) = (RawRecord::from_words(&words).unwrap(), SampleLayout::new(&attr));
        assert_eq!(raw.sample_head(&layout).map(|head| head.ip()), Err(error));
        assert_eq!((raw.time(&layout), raw.id(&layout)), (None, None));
    }
}

#[test]
fn unknown_read_format_bit_is_refused_in_samples_with_counts() {
    let format = ReadFormat::from_bits_retain(1 << 5);
    let attr = event(SampleType::READ | SampleType::CALLCHAIN).with_read_format(format);
    // value, the word of the unknown field, no callchain
    let words = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&[7, 1, 0]).finish();
    assert_eq!(fields(&words, &attr), Err(Error::UnknownBits { field: "read_format", bits: 1 << 5 }));
    let attr = attr.replace_sample_type(SampleType::CALLCHAIN);
    let words = SampleBuilder::new(&attr).callchain(&[5]).finish();
    assert_eq!(fields(&words, &attr).unwrap(), ["callchain=[0x5]"]);
}

#[test]
fn unknown_branch_sample_type_bit_is_refused_in_samples_with_a_branch_stack() {
    let unknown = BranchSampleType::from_bits_retain(1 << 50);
    let attr = event(SampleType::BRANCH_STACK).with_branch_sample_type(unknown);
    let words = SampleBuilder::new(&attr).finish();
    let error = Error::UnknownBits { field: "branch_sample_type", bits: 1 << 50 };
    assert_eq!(fields(&words, &attr), Err(error));
    let attr = attr.replace_sample_type(SampleType::IP);
    let words = SampleBuilder::new(&attr).ip(5).finish();
    assert_eq!(fields(&words, &attr).unwrap(), ["ip=0x5"]);
}

#[test]
fn exact_ip_follows_its_misc_bit() {
    let attr = event(SampleType::IP);
    for (misc, exact) in [(Misc::EXACT_IP, true), (Misc::empty(), false)] {
        let words = SampleBuilder::new(&attr).misc(misc).finish();
        let (raw, layout) = (RawRecord::from_words(&words).unwrap(), SampleLayout::new(&attr));
        assert_eq!(raw.sample_head(&layout).map(|head| (head.exact_ip(), head.misc())), Ok((exact, misc)));
        assert_eq!(with_sample(&words, &attr, |sample| sample.exact_ip()), Ok(exact));
    }
}

#[test]
fn whole_head_is_not_what_is_missing() {
    let attr = event(SampleType::IP | SampleType::CALLCHAIN);
    let words = truncate(SampleBuilder::new(&attr).finish(), 1);
    let missing = Error::Truncated { kind: RecordType::SAMPLE, field: "callchain", needed: 8, found: 0 };
    assert_eq!(fields(&words, &attr), Err(missing));
}

#[test]
fn debug_form_shows_the_fields() {
    let attr = event(SampleType::IP | SampleType::TIME);
    let words = SampleBuilder::new(&attr).ip(5).time(6).finish();
    let shown = with_sample(&words, &attr, |sample| std::format!("{sample:?}"));
    assert_eq!(shown, Ok("Sample { ip: Hex(5), time: Number(6) }".into()));
    let shown = with_sample(&words, &attr, |sample| std::format!("{:?}", sample.fields()));
    assert_eq!(shown, Ok("[ip: Hex(5), time: Number(6)]".into()));
    let layout = SampleLayout::new(&attr);
    let head = RawRecord::from_words(&words).unwrap().sample_head(&layout).unwrap();
    let shown = std::format!("{head:?}");
    assert!(shown.starts_with("SampleHead {") && shown.contains("time: Some(6)"), "{shown}");
}
