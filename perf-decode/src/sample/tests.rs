use std::string::ToString;
use std::vec::Vec;

use perf_abi::regs::RegsAbi;
use perf_abi::{Attr, BranchSampleType, ReadFormat, RecordType, Software};

use super::*;
use crate::testing::builder::{ReadValue, ReadValues as BuiltRead, SampleBuilder};

fn event(wanted: SampleType) -> Attr {
    Attr::software(Software::CPU_CLOCK).with_sample_type(wanted)
}

/// Parses `words` by `attr` and hands the sample to `check`.
fn with_sample<T>(words: &[u64], attr: &Attr, check: impl FnOnce(Sample<'_>) -> T) -> Result<T> {
    let layout = SampleLayout::new(attr);
    Sample::parse(RawRecord::from_words(words)?, &layout).map(check)
}

/// What the fields of a sample say, by name.
fn fields(words: &[u64], attr: &Attr) -> Result<Vec<std::string::String>> {
    with_sample(words, attr, |sample| sample.fields().map(|field| field.to_string()).collect())
}

/// Cuts the last `count` words off a record.
fn cut(mut words: Vec<u64>, count: usize) -> Vec<u64> {
    words.truncate(words.len() - count);
    let size = words.len() as u16 * 8;
    words[0] = zerocopy::transmute!(perf_abi::Header { size, ..word::header(words[0]) });
    words
}

/// Adds one word to a record.
fn grow(mut words: Vec<u64>, word: u64) -> Vec<u64> {
    words.push(word);
    cut(words, 0)
}

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
fn every_head_field_is_read_from_its_place() {
    let attr = event(HEAD);
    let words = head_sample(&attr).finish();
    assert_eq!(words[1..], [1, 2, 3 | 4 << 32, 5, 6, 7, 8, 9, 10]);
    let read = with_sample(&words, &attr, |s| {
        assert_eq!((s.identifier(), s.ip(), s.pid(), s.tid()), (Some(1), Some(2), Some(3), Some(4)));
        assert_eq!((s.time(), s.addr(), s.id(), s.stream_id()), (Some(5), Some(6), Some(7), Some(8)));
        (s.cpu(), s.period())
    });
    assert_eq!(read, Ok((Some(9), Some(10))));
}

#[test]
fn a_field_that_is_not_sampled_is_none() {
    for missing in HEAD.iter() {
        let attr = event(HEAD.difference(missing));
        let text = fields(&head_sample(&attr).finish(), &attr).unwrap();
        assert_eq!(text.len(), 8, "{missing}: {text:?}");
    }
}

#[test]
fn a_cut_head_names_the_first_field_that_is_missing() {
    let attr = event(HEAD);
    let expected = ["identifier", "ip", "tid", "time", "addr", "id", "stream_id", "cpu", "period"];
    for (present, name) in expected.iter().enumerate() {
        let words = cut(head_sample(&attr).finish(), 9 - present);
        let Err(Error::Truncated { field, .. }) = fields(&words, &attr) else { panic!("{present}") };
        assert_eq!(field, *name);
    }
}

#[test]
fn a_word_behind_the_last_field_is_not_ignored() {
    for wanted in [SampleType::IP, SampleType::IP | SampleType::CALLCHAIN] {
        let attr = event(wanted);
        let words = grow(SampleBuilder::new(&attr).finish(), 0);
        assert_eq!(fields(&words, &attr), Err(Error::Surplus { kind: RecordType::SAMPLE, found: 8 }));
    }
}

#[test]
fn a_sample_type_from_the_future_is_not_guessed() {
    let attr = event(SampleType::from_bits_retain(1 << 25 | 1));
    let words = grow(SampleBuilder::new(&attr).finish(), 0);
    assert_eq!(fields(&words, &attr), Err(Error::UnknownSampleType { bits: 1 << 25 }));
}

#[test]
fn group_and_single_reads_are_told_apart() {
    let entry = |value| ReadValue { value, id: value + 100, lost: 0 };
    let read = BuiltRead { time_enabled: 20, time_running: 10, values: Vec::from([entry(1), entry(2)]) };
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    let cases = [
        (times | ReadFormat::ID, "read=[1 id 101 enabled 20 running 10]"),
        (ReadFormat::GROUP | ReadFormat::ID, "read=[1 id 101, 2 id 102]"),
        (ReadFormat::GROUP | times | ReadFormat::LOST, "read=[1 lost 0, 2 lost 0 enabled 20 running 10]"),
    ];
    for (format, text) in cases {
        let attr = event(SampleType::READ | SampleType::CALLCHAIN).with_read_format(format);
        let words = SampleBuilder::new(&attr).read(read.clone()).callchain(&[5]).finish();
        assert_eq!(fields(&words, &attr).unwrap(), [text, "callchain=[0x5]"]);
    }
}

#[test]
fn a_callchain_count_that_overflows_is_refused() {
    let attr = event(SampleType::CALLCHAIN);
    for nr in [2, 1 << 61, u64::MAX] {
        let mut words = SampleBuilder::new(&attr).callchain(&[5]).finish();
        words[1] = nr;
        let expected = Error::Truncated {
            kind: RecordType::SAMPLE,
            field: "callchain",
            needed: nr.saturating_mul(8),
            found: 8,
        };
        assert_eq!(fields(&words, &attr), Err(expected));
    }
}

#[test]
fn raw_data_includes_its_padding() {
    let attr = event(SampleType::RAW | SampleType::WEIGHT);
    let words = SampleBuilder::new(&attr).raw(b"hello").weight(9).finish();
    let raw = with_sample(&words, &attr, |s| (s.raw().unwrap().to_vec(), s.weight().unwrap().0));
    assert_eq!(raw, Ok((b"hello\0\0\0\0\0\0\0".to_vec(), 9)));
}

#[test]
fn raw_data_that_ends_within_a_word_is_refused() {
    let attr = event(SampleType::RAW);
    let mut words = SampleBuilder::new(&attr).raw(b"hello").finish();
    words[1] = 5;
    assert_eq!(fields(&words, &attr), Err(invalid_field("raw", 5)));
}

fn invalid_field(field: &'static str, value: u64) -> Error {
    Error::Invalid { kind: RecordType::SAMPLE, field, value }
}

const REGS: SampleType = SampleType::REGS_USER.union(SampleType::STACK_USER).union(SampleType::REGS_INTR);

#[test]
fn an_abi_of_none_has_no_register_words() {
    let attr = event(REGS | SampleType::CGROUP).with_regs_user(0b1011).with_regs_intr(0b11);
    let words = SampleBuilder::new(&attr).regs_user(0, &[]).regs_intr(2, &[7, 8]).cgroup(99).finish();
    let read = with_sample(&words, &attr, |s| {
        assert_eq!(s.regs_user().unwrap().abi(), RegsAbi::NONE);
        assert_eq!(s.regs_intr().unwrap().values(), [7, 8]);
        s.cgroup()
    });
    assert_eq!(read, Ok(Some(99)));
}

#[test]
fn an_abi_that_is_not_known_is_refused() {
    let attr = event(SampleType::REGS_USER).with_regs_user(1);
    let words = SampleBuilder::new(&attr).regs_user(3, &[7]).finish();
    assert_eq!(fields(&words, &attr), Err(invalid_field("regs_user", 3)));
}

#[test]
fn a_stack_is_cut_at_dyn_size() {
    let attr = event(SampleType::STACK_USER | SampleType::DATA_SRC);
    let words = SampleBuilder::new(&attr).stack_user(&[1; 16], 5).data_src(3).finish();
    let read = with_sample(&words, &attr, |s| {
        let stack = s.stack_user().unwrap();
        (stack.bytes().to_vec(), stack.size(), s.data_src().unwrap().0)
    });
    assert_eq!(read, Ok((std::vec![1; 5], 16, 3)));
}

#[test]
fn an_empty_stack_has_no_dyn_size() {
    let attr = event(SampleType::STACK_USER | SampleType::DATA_SRC);
    let words = SampleBuilder::new(&attr).stack_user(&[], 0).data_src(3).finish();
    assert_eq!(words.len(), 3);
    assert_eq!(with_sample(&words, &attr, |s| s.stack_user().unwrap().bytes().len()), Ok(0));
}

#[test]
fn the_word_that_the_kernel_adds_to_an_empty_stack_is_skipped() {
    let attr = event(SampleType::REGS_USER | SampleType::STACK_USER | SampleType::DATA_SRC).with_regs_user(1);
    let words = SampleBuilder::new(&attr).regs_user(2, &[7]).stack_user(&[], 0).data_src(3).finish();
    // As written: the size, the extra word, and no room left for the field behind it.
    let refused = fields(&words, &attr);
    assert!(matches!(refused, Err(Error::Truncated { field: "data_src", .. })), "{refused:?}");
    let attr = event(SampleType::REGS_USER | SampleType::STACK_USER).with_regs_user(1);
    let words = SampleBuilder::new(&attr).regs_user(2, &[7]).stack_user(&[], 0).finish();
    assert!(fields(&words, &attr).is_ok(), "nothing follows, so nothing is lost");
}

#[test]
fn cgroup_comes_before_the_page_sizes_and_aux_last() {
    let wanted = SampleType::PHYS_ADDR
        | SampleType::AUX
        | SampleType::CGROUP
        | SampleType::DATA_PAGE_SIZE
        | SampleType::CODE_PAGE_SIZE;
    let attr = event(wanted | SampleType::WEIGHT_STRUCT | SampleType::TRANSACTION);
    let words = SampleBuilder::new(&attr)
        .weight(1)
        .transaction(2)
        .phys_addr(3)
        .cgroup(4)
        .data_page_size(5)
        .code_page_size(6)
        .aux(&[7; 8])
        .finish();
    assert_eq!(words[1..], [1, 2, 3, 4, 5, 6, 8, 0x0707_0707_0707_0707]);
    let read = with_sample(&words, &attr, |s| {
        assert_eq!((s.weight().unwrap().0, s.transaction().unwrap().bits()), (1, 2));
        assert_eq!((s.phys_addr(), s.cgroup()), (Some(3), Some(4)));
        assert_eq!((s.data_page_size(), s.code_page_size()), (Some(5), Some(6)));
        s.aux().unwrap().len()
    });
    assert_eq!(read, Ok(8));
}

const BRANCH: [u64; 3] = [0x10, 0x20, 1];

fn branch_event(kind: BranchSampleType) -> Attr {
    event(SampleType::BRANCH_STACK | SampleType::DATA_SRC).with_branch_sample_type(kind)
}

#[test]
fn a_hardware_index_may_be_absent_from_an_empty_stack() {
    let attr = branch_event(BranchSampleType::HW_INDEX);
    for hw_index in [None, Some(77)] {
        let words = SampleBuilder::new(&attr).branches(&[], hw_index, &[]).data_src(3).finish();
        let read = with_sample(&words, &attr, |s| {
            let branches = s.branches().unwrap();
            (branches.hw_index(), branches.entries().len(), s.data_src().unwrap().0)
        });
        assert_eq!(read, Ok((hw_index, 0, 3)));
    }
}

#[test]
fn counters_may_come_from_another_event_of_the_group() {
    for asked in [BranchSampleType::ANY, BranchSampleType::COUNTERS] {
        let attr = branch_event(asked);
        for counters in [&[][..], &[8, 9]] {
            let words =
                SampleBuilder::new(&attr).branches(&[BRANCH, BRANCH], None, counters).data_src(3).finish();
            let read = with_sample(&words, &attr, |s| {
                let branches = s.branches().unwrap();
                (branches.entries()[1].from, branches.counters().to_vec(), s.data_src().unwrap().0)
            });
            assert_eq!(read, Ok((0x10, counters.to_vec(), 3)), "{asked:?}");
        }
    }
}

#[test]
fn a_branch_count_that_overflows_is_refused() {
    let attr = branch_event(BranchSampleType::HW_INDEX);
    let mut words = SampleBuilder::new(&attr).branches(&[BRANCH], Some(1), &[]).finish();
    words[1] = u64::MAX / 3;
    assert!(matches!(fields(&words, &attr), Err(Error::Truncated { field: "branch_stack", .. })));
}
