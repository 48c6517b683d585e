//! One record of every kind and one sample with every field, turned into those of a machine of the other
//! byte order and swapped again.

#![cfg(target_endian = "little")]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use perf_abi::{Attr, AttrFlags, BranchSampleType, Misc, ReadFormat, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_file::swap;
use support::byteswap::{Shape, Turn};
use support::byteswap_record;
use zerocopy::IntoBytes as _;

fn attr(sample_type: SampleType) -> Attr {
    Attr {
        sample_type,
        read_format: ReadFormat::ID | ReadFormat::LOST | ReadFormat::TOTAL_TIME_ENABLED,
        flags: AttrFlags::SAMPLE_ID_ALL,
        branch_sample_type: BranchSampleType::ANY | BranchSampleType::HW_INDEX,
        sample_regs_user: 0b101,
        sample_regs_intr: 0b11,
        sample_stack_user: 16,
        ..Attr::software(Software::DUMMY)
    }
}

/// Returns a record as a machine of the other byte order would have written it.
fn turned(words: &[u64], attr: &Attr) -> Vec<u64> {
    let event = Shape {
        sample_type: attr.sample_type.bits(),
        read_format: attr.read_format.bits(),
        flags: attr.flags.bits(),
        regs_user: attr.sample_regs_user,
        regs_intr: attr.sample_regs_intr,
        branches: attr.branch_sample_type.bits(),
        ids: Vec::new(),
    };
    let mut bytes = words.as_bytes().to_vec();
    byteswap_record::record(&mut Turn { file: &mut bytes, at: 0 }, &[event]);
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

fn swapped(mut words: Vec<u64>, attr: &Attr) -> Vec<u64> {
    swap::numbers(&mut words);
    swap::Fields::new(attr).swap(&mut words);
    words
}

/// Returns the fields of the body and of the trailer.
fn fields(words: &[u64], attr: &Attr) -> Vec<String> {
    let layout = SampleLayout::new(attr);
    let record = RawRecord::from_words(words).unwrap().decode(&layout).unwrap();
    let body = record.fields().map(|field| format!("{field:?}")).collect::<Vec<_>>();
    let trailer = record.sample_id().map(|id| format!("{id:?}"));
    [body, trailer.into_iter().collect()].concat()
}

/// Returns a record of this kind in which every byte of a number differs from the others.
fn record(kind: RecordType, misc: Misc, attr: &Attr) -> Vec<u64> {
    let trailer = SampleIdValues {
        pid: 0x1112_1314,
        tid: 0x1516_1718,
        time: 0x2122_2324_2526_2728,
        cpu: 0x3132_3334,
        identifier: 0x4142_4344_4546_4748,
        ..SampleIdValues::default()
    };
    let pattern = |index: usize| 0x0102_0304_0506_0708 + 0x0808_0808_0808_0808 * (index as u64 % 16);
    let bodies: Vec<Vec<u64>> = match kind {
        RecordType::NAMESPACES => vec![vec![pattern(0), 1, pattern(2), pattern(3)]],
        RecordType::CALLCHAIN_DEFERRED => vec![vec![pattern(0), 2, pattern(2), pattern(3)]],
        // A length of 2 and of 5 bytes, the first 4 of them in the same word.
        RecordType::TEXT_POKE => vec![vec![pattern(0), 0x0403_0201_0005_0002, 0x0000_0000_0007_0605]],
        // 20 bytes of a build id, after their number and 3 reserved bytes.
        RecordType::MMAP2 if misc.contains(Misc::MMAP_BUILD_ID) => {
            let build_id = [0x0403_0201_0000_0014, pattern(5), pattern(6)];
            vec![[&[0, 1, 2, 3].map(pattern)[..], &build_id, &[pattern(7), 7]].concat()]
        }
        // The shortest body that is decoded. A name ends in the last word.
        _ => (0..16)
            .map(|len| {
                let mut body: Vec<u64> = (0..len).map(pattern).collect();
                body.last_mut().into_iter().for_each(|word| *word >>= 8);
                body
            })
            .collect(),
    };
    let layout = SampleLayout::new(attr);
    let records = bodies
        .into_iter()
        .map(|body| RecordBuilder::new(kind, misc).words(&body).with_trailer(attr, &trailer).finish());
    let is_whole = |words: &Vec<u64>| {
        let record = RawRecord::from_words(words).unwrap().decode(&layout);
        record.is_ok_and(|record| !matches!(record, Record::Unknown(_)) && record.trailing_len() == 0)
    };
    let mut whole = records.filter(is_whole);
    whole.next().unwrap_or_else(|| panic!("{kind}: no body is decoded, add one here"))
}

#[test]
fn every_kind_of_the_other_byte_order_is_swapped_in_all_its_fields() {
    let fields_of = SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::IDENTIFIER;
    let plain = attr(fields_of);
    let build_ids = Attr { flags: plain.flags | AttrFlags::BUILD_ID, ..plain };
    let mut records = 0;
    for kind in RecordType::ALL.iter().copied().filter(|kind| *kind != RecordType::SAMPLE) {
        let mut forms = vec![(Misc::empty(), plain)];
        if kind == RecordType::MMAP2 {
            forms.push((Misc::MMAP_BUILD_ID, build_ids));
        }
        for (misc, attr) in forms {
            let native = record(kind, misc, &attr);
            let file = turned(&native, &attr);
            assert_ne!(file, native, "{kind}");
            let found = swapped(file, &attr);
            assert_eq!(
                fields(&found, &attr),
                fields(&native, &attr),
                "{kind}: perf-file/src/swap/body.rs lacks it or a field"
            );
            assert_eq!(found, native, "{kind}: perf-file/src/swap/body.rs lacks it or a field");
            records += 1;
        }
    }
    assert_eq!(records, RecordType::ALL.len());
}

#[test]
fn unknown_kind_of_the_other_byte_order_stays_unknown_with_the_bytes_of_the_file() {
    let kind = RecordType(RecordType::LAST.0 + 1);
    let attr = attr(SampleType::TIME | SampleType::IDENTIFIER);
    let mut native = RecordBuilder::new(kind, Misc::empty()).words(&[1, 2, 3]).finish();
    let body = native[1..].to_vec();
    // Only its header is known.
    native[0] = u64::from_le_bytes([23, 0, 0, 0, 0, 0, 32, 0]);
    let file = u64::from_le_bytes([0, 0, 0, 23, 0, 0, 0, 32]);
    let found = swapped([&[file][..], &body].concat(), &attr);
    assert_eq!(found, native);
    let layout = SampleLayout::new(&attr);
    assert!(matches!(RawRecord::from_words(&found).unwrap().decode(&layout), Ok(Record::Unknown(_))));
}

/// Returns a sample in which every field of the event has a value.
fn sample(attr: &Attr) -> Vec<u64> {
    let read = perf_decode::testing::builder::ReadValues::default();
    SampleBuilder::new(attr)
        .tid(0x1112_1314, 0x1516_1718)
        .cpu(0x3132_3334)
        .identifier(0x4142_4344_4546_4748)
        .ip(0x0102_0304_0506_0708)
        .time(0x2122_2324_2526_2728)
        .addr(0x5152_5354_5556_5758)
        .id(0x6162_6364_6566_6768)
        .stream_id(0x7172_7374_7576_7778)
        .period(0x0807_0605_0403_0201)
        .weight(0x1817_1615_1413_1211)
        .data_src(0x2827_2625_2423_2221)
        .transaction(0x3837_3635_3433_3231)
        .phys_addr(0x4847_4645_4443_4241)
        .cgroup(0x5857_5655_5453_5251)
        .data_page_size(0x6867_6665_6463_6261)
        .code_page_size(0x7877_7675_7473_7271)
        .read(read)
        .callchain(&[0x0102_0304_0506_0708, 0x1112_1314_1516_1718])
        .raw(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        .branches(&[[0x1112_1314_1516_1718, 0x2122_2324_2526_2728, 0x5_1234_5678]], Some(3), &[])
        .regs_user(2, &[0x1112_1314_1516_1718, 0x2122_2324_2526_2728])
        .regs_intr(2, &[0x3132_3334_3536_3738, 0x4142_4344_4546_4748])
        .stack_user(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], 9)
        .aux(&[8, 7, 6, 5, 4, 3, 2, 1])
        .finish()
}

#[test]
fn every_field_of_a_sample_of_the_other_byte_order_is_swapped() {
    let known = SampleType::KNOWN.difference(SampleType::WEIGHT_STRUCT);
    let alone = SampleType::KNOWN.iter().map(|field| field | SampleType::TIME);
    // The two forms of the weight exclude each other.
    let other_weight = known.difference(SampleType::WEIGHT) | SampleType::WEIGHT_STRUCT;
    for fields_of in alone.chain([known, other_weight]) {
        let attr = attr(fields_of);
        let native = sample(&attr);
        let found = swapped(turned(&native, &attr), &attr);
        assert_eq!(fields(&found, &attr), fields(&native, &attr), "{fields_of:?}");
        assert_eq!(found, native, "{fields_of:?}");
    }
}

#[test]
fn raw_data_and_stacks_of_the_other_byte_order_keep_the_bytes_of_the_file() {
    let attr = attr(SampleType::RAW | SampleType::STACK_USER | SampleType::AUX);
    let found = swapped(turned(&sample(&attr), &attr), &attr);
    let layout = SampleLayout::new(&attr);
    let Ok(Record::Sample(sample)) = RawRecord::from_words(&found).unwrap().decode(&layout) else { panic!() };
    // The same bytes in the same order; numbers in them have the byte order of the file.
    assert_eq!(sample.raw().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(sample.stack_user().unwrap().bytes(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(sample.aux().unwrap(), [8, 7, 6, 5, 4, 3, 2, 1]);
}
