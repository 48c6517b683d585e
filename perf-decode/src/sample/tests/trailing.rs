//! Bytes after the last field: a sample that the kernel enlarged by the fields of another event.

use perf_abi::AttrFlags;

use super::*;
use crate::layout::ConstantLayout;
use crate::record::Record;

const ATTR: Attr = Attr::software(Software::PAGE_FAULTS)
    .with_sample_type(SampleType::IP.union(SampleType::TIME).union(SampleType::IDENTIFIER));

#[derive(Clone, Copy)]
struct PageFaults;

impl ConstantLayout for PageFaults {
    const LAYOUT: SampleLayout = SampleLayout::new(&ATTR);
}

fn enlarged(attr: &Attr, words: &[u64]) -> Vec<u64> {
    let sample = SampleBuilder::new(attr).identifier(1).ip(2).time(3).callchain(&[4]).raw(b"five").weight(6);
    words.iter().fold(sample.finish(), |sample, word| grow(sample, *word))
}

#[test]
fn trailing_bytes_do_not_change_the_fields() {
    let types = [
        SampleType::IP,
        SampleType::IP | SampleType::CALLCHAIN,
        SampleType::IP | SampleType::RAW,
        SampleType::IP | SampleType::CALLCHAIN | SampleType::WEIGHT | SampleType::AUX,
        SampleType::REGS_USER | SampleType::STACK_USER,
        SampleType::READ,
        SampleType::BRANCH_STACK,
        SampleType::empty(),
    ];
    for attr in types.map(event) {
        let exact = fields(&enlarged(&attr, &[]), &attr).unwrap();
        for more in [&[7][..], &[8, u64::MAX], &[0; 34]] {
            let words = enlarged(&attr, more);
            assert_eq!(fields(&words, &attr), Ok(exact.clone()), "{more:?}");
            let trailing = with_sample(&words, &attr, |sample| sample.trailing().to_vec());
            assert_eq!(trailing, Ok(word::bytes(more).to_vec()));
        }
    }
}

#[test]
fn trailing_bytes_pass_through_every_function() {
    let words = enlarged(&ATTR, &[7, 8]);
    let layout = SampleLayout::new(&ATTR);
    let raw = RawRecord::from_words(&words).unwrap();
    assert_eq!((raw.time(&layout), raw.id(&layout)), (Some(3), Some(1)));
    assert_eq!(raw.sample_head(&layout).map(|head| head.ip()), Ok(Some(2)));
    assert_eq!(raw.sample_id(&layout).map(|trailer| trailer.time()), Ok(None));
    let record = raw.decode(&layout).unwrap();
    assert_eq!((record.time(), record.size(), record.trailing_len()), (Some(3), 48, 16));
    assert_eq!(record.fields().count(), 3);
    let line = "SAMPLE identifier=1 ip=0x2 time=3 (16 trailing bytes)";
    assert_eq!((record.to_string(), raw.display(&layout).to_string()), (line.into(), line.into()));
    let Record::Sample(sample) = record else { panic!("{record:?}") };
    assert_eq!((sample.words(), sample.trailing()), (&words[..], word::bytes(&[7, 8])));
    assert_eq!(sample.to_string(), line);
}

#[test]
fn trailing_bytes_pass_through_a_constant_layout() {
    let words = enlarged(&ATTR, &[7]);
    let raw = RawRecord::from_words(&words).unwrap();
    assert_eq!((raw.time(PageFaults), raw.id(PageFaults)), (Some(3), Some(1)));
    let Ok(Record::Sample(sample)) = raw.decode(PageFaults) else { panic!("{words:x?}") };
    assert_eq!((sample.ip(), sample.time(), sample.trailing()), (Some(2), Some(3), word::bytes(&[7])));
    assert!(size_of_val(&sample) < size_of::<Sample<'_>>());
}

#[test]
fn sample_has_no_trailer() {
    let attr = ATTR.with_flags(AttrFlags::SAMPLE_ID_ALL);
    let words = enlarged(&attr, &[]);
    let (raw, layout) = (RawRecord::from_words(&words).unwrap(), SampleLayout::new(&attr));
    assert!(raw.sample_id(&layout).unwrap().is_empty());
    assert!(raw.decode(&layout).unwrap().sample_id().is_none());
    assert_eq!(raw.sample_id(&layout).unwrap().fields().count(), 0);
}

#[test]
fn exact_sample_has_no_trailing_bytes() {
    let words = enlarged(&ATTR, &[]);
    assert_eq!(with_sample(&words, &ATTR, |sample| sample.trailing().len()), Ok(0));
    let line = with_sample(&words, &ATTR, |sample| sample.to_string()).unwrap();
    assert!(!line.contains("trailing"), "{line}");
}
