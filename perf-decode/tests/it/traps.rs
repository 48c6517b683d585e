//! Mistakes that decoders of these records have made, one test each. Records are written word by
//! word as the kernel's header describes them, without the builder that knows the order of fields.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test's helpers may fail it"
)]

use perf_abi::regs::RegsAbi;
use perf_abi::{
    Attr, AttrFlags, BranchSampleType, CallchainContext, EventType, Misc, NamespaceIndex, ReadFormat,
    RecordType, SampleType, Software,
};
use perf_decode::testing::builder::{RecordBuilder, ring};
use perf_decode::{
    BackwardRecords, Callchain, Error, Layouts, RawRecord, ReadEntry, Record, Sample, SampleLayout, Scratch,
    SwitchDirection, Window,
};

fn event(wanted: SampleType) -> Attr {
    Attr::software(Software::DUMMY).with_sample_type(wanted).with_flags(AttrFlags::SAMPLE_ID_ALL)
}

fn record(kind: RecordType) -> RecordBuilder {
    RecordBuilder::new(kind, Misc::empty())
}

fn raw(words: &[u64]) -> RawRecord<'_> {
    RawRecord::from_words(words).unwrap()
}

/// Decodes a sample and passes it to `check`.
fn with_sample<T>(words: &[u64], attr: &Attr, check: impl FnOnce(Sample<'_>) -> T) -> Result<T, Error> {
    Sample::parse(raw(words), &SampleLayout::new(attr)).map(check)
}

#[test]
fn sample_fields_have_the_order_of_the_kernel() {
    // The fields up to Linux 6.19.
    let mut attr = event(SampleType::from_bits_retain(0x1ff_ffff));
    attr.read_format = ReadFormat::GROUP | ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::ID | ReadFormat::LOST;
    attr.branch_sample_type = BranchSampleType::HW_INDEX | BranchSampleType::COUNTERS;
    (attr.sample_regs_user, attr.sample_regs_intr) = (1 << 63 | 1, 0b10);
    let words = record(RecordType::SAMPLE)
        .u64(101) //                                   IDENTIFIER
        .u64(102) //                                   IP
        .pair(103, 104) //                             TID
        .u64(105) //                                   TIME
        .u64(106) //                                   ADDR
        .u64(107) //                                   ID
        .u64(108) //                                   STREAM_ID
        .pair(109, 0) //                               CPU
        .u64(110) //                                   PERIOD
        .words(&[2, 111]) //                           READ: members, time enabled
        .words(&[112, 113, 114]) //                          value, id, lost
        .words(&[115, 116, 117]) //                          of the second member
        .words(&[1, 118]) //                           CALLCHAIN
        .u32s(&[12])
        .bytes(b"twelve bytes") //         RAW
        .words(&[1, 119]) //                           BRANCH_STACK: entries, hw_idx
        .words(&[120, 121, 122]) //                          from, to, info
        .u64(123) //                                         counters
        .words(&[2, 124, 125]) //                      REGS_USER: ABI, registers 0 and 63
        .words(&[8, 126, 4]) //                        STACK_USER: size, stack, dyn_size
        .u64(127) //                                   WEIGHT
        .u64(128) //                                   DATA_SRC
        .u64(129) //                                   TRANSACTION
        .words(&[1, 130]) //                           REGS_INTR: ABI, register 1
        .u64(131) //                                   PHYS_ADDR
        .u64(132) //                                   CGROUP
        .u64(133) //                                   DATA_PAGE_SIZE
        .u64(134) //                                   CODE_PAGE_SIZE
        .words(&[8, 135]) //                           AUX
        .finish();
    let checked = with_sample(&words, &attr, |s| {
        assert_eq!((s.identifier(), s.ip(), s.pid(), s.tid()), (Some(101), Some(102), Some(103), Some(104)));
        assert_eq!((s.time(), s.addr(), s.id(), s.stream_id()), (Some(105), Some(106), Some(107), Some(108)));
        assert_eq!((s.cpu(), s.period()), (Some(109), Some(110)));
        let read = s.read().unwrap();
        assert_eq!((read.time_enabled(), read.time_running()), (Some(111), None));
        let counts = read.iter().map(|ReadEntry { value, id, lost, .. }| (value, id, lost));
        assert!(counts.eq([(112, Some(113), Some(114)), (115, Some(116), Some(117))]));
        assert_eq!((s.callchain().unwrap().words(), s.raw()), (&[118][..], Some(&b"twelve bytes"[..])));
        let branches = s.branches().unwrap();
        assert_eq!((branches.hw_index(), branches.counters()), (Some(119), &[123][..]));
        assert_eq!(branches.entries().words(), [[120, 121, 122]]);
        assert!(s.regs_user().unwrap().iter().eq([(0, 124), (63, 125)]));
        let stack = s.stack_user().unwrap();
        assert_eq!((stack.size(), stack.bytes()), (8, &126_u64.to_ne_bytes()[..4]));
        assert_eq!((s.weight().unwrap().0, s.data_src().unwrap().0), (127, 128));
        assert_eq!(s.transaction().unwrap().bits(), 129);
        let regs = s.regs_intr().unwrap();
        assert_eq!((regs.abi(), regs.get(1)), (RegsAbi::ABI_32, Some(130)));
        assert_eq!((s.phys_addr(), s.cgroup()), (Some(131), Some(132)));
        assert_eq!((s.data_page_size(), s.code_page_size()), (Some(133), Some(134)));
        assert_eq!(s.aux(), Some(&135_u64.to_ne_bytes()[..]));
        s.fields().count()
    });
    // TID and each kind of registers are two of the 24 fields, the stack is three.
    assert_eq!(checked, Ok(29));
}

#[test]
fn cgroup_and_weight_struct_are_one_word_each() {
    let wanted =
        SampleType::WEIGHT_STRUCT | SampleType::DATA_SRC | SampleType::PHYS_ADDR | SampleType::CGROUP;
    let attr = event(wanted | SampleType::DATA_PAGE_SIZE);
    // Three costs in one word; DATA_SRC, PHYS_ADDR, CGROUP, DATA_PAGE_SIZE.
    let words = record(RecordType::SAMPLE).words(&[3 << 48 | 2 << 32 | 1, 4, 5, 6, 7]).finish();
    let read = with_sample(&words, &attr, |s| {
        let weight = s.weight().unwrap();
        assert_eq!((weight.var1(), weight.var2(), weight.var3()), (1, 2, 3));
        (s.data_src().unwrap().0, s.phys_addr(), s.cgroup(), s.data_page_size())
    });
    assert_eq!(read, Ok((4, Some(5), Some(6), Some(7))));
}

#[test]
fn group_count_in_a_sample_is_checked() {
    let mut attr = event(SampleType::READ);
    attr.read_format = ReadFormat::GROUP | ReadFormat::ID;
    for nr in [2, 1 << 63, u64::MAX / 2, u64::MAX] {
        let words = record(RecordType::SAMPLE).words(&[nr, 1, 2]).finish(); // members; value, id
        let refused = with_sample(&words, &attr, |_| ()).unwrap_err();
        assert!(matches!(refused, Error::Truncated { field: "read", found: 24, .. }), "{nr:#x}: {refused:?}");
    }
}

#[test]
fn raw_data_starts_in_the_middle_of_a_word_and_includes_stale_padding() {
    let attr = event(SampleType::RAW | SampleType::CGROUP);
    // A program sent 5 bytes. The size counts the padding, which is old content of the ring.
    let words = record(RecordType::SAMPLE).u32s(&[12]).bytes(b"hello, stale").u64(348).finish();
    let read = with_sample(&words, &attr, |s| {
        let raw = s.raw().unwrap();
        assert_eq!(raw.as_ptr().addr() % 8, 4);
        (raw.to_vec(), s.cgroup())
    });
    assert_eq!(read, Ok((b"hello, stale".to_vec(), Some(348))));
    // An event without raw data has four bytes.
    let words = record(RecordType::SAMPLE).u32s(&[4, 0]).u64(348).finish();
    assert_eq!(
        with_sample(&words, &attr, |s| (s.raw().map(<[u8]>::len), s.cgroup())),
        Ok((Some(4), Some(348)))
    );
}

#[test]
fn stream_id_precedes_cpu_and_identifier_is_last_in_a_trailer() {
    let wanted =
        SampleType::TID | SampleType::TIME | SampleType::ID | SampleType::STREAM_ID | SampleType::CPU;
    let layout = SampleLayout::new(&event(wanted | SampleType::IDENTIFIER));
    let words = record(RecordType::SWITCH).pair(1, 2).words(&[3, 4, 5]).pair(6, 0).u64(7).finish();
    let id = raw(&words).sample_id(&layout).unwrap();
    assert_eq!((id.pid(), id.tid(), id.time(), id.id()), (Some(1), Some(2), Some(3), Some(4)));
    assert_eq!((id.stream_id(), id.cpu(), id.identifier()), (Some(5), Some(6), Some(7)));
}

#[test]
fn trailer_of_namespaces_follows_all_of_them() {
    let layout = SampleLayout::new(&event(SampleType::TIME));
    let links = (0..7).flat_map(|index| [4, 100 + index]); // dev, inode
    let words =
        record(RecordType::NAMESPACES).pair(1, 2).u64(7).words(&links.collect::<Vec<_>>()).u64(99).finish();
    let Ok(Record::Namespaces(read)) = raw(&words).decode(&layout) else { panic!("{words:x?}") };
    assert_eq!(raw(&words).time(&layout), Some(99));
    let inode = |index: NamespaceIndex| read.namespaces().get(index.0 as usize).map(|link| link.inode);
    assert_eq!((inode(NamespaceIndex::UTS), inode(NamespaceIndex::USER)), (Some(101), Some(104)));
}

#[test]
fn one_misc_bit_has_another_meaning_in_each_kind() {
    let layout = SampleLayout::new(&Attr::default());
    let check = |kind: RecordType, misc: u16, body: &[u64], check: fn(Record<'_>) -> bool| {
        let words = RecordBuilder::new(kind, Misc::from_bits_retain(misc)).words(body).finish();
        check(raw(&words).decode(&layout).unwrap())
    };
    let mapping = [0; 5]; // pid and tid, addr, len, pgoff, an empty name
    let is_data = |record: Record<'_>| matches!(record, Record::Mmap(mmap) if !mmap.is_executable());
    assert!(check(RecordType::MMAP, 0x2002, &mapping, is_data));
    assert!(!check(RecordType::MMAP, 2, &mapping, is_data));
    let is_exec = |record: Record<'_>| matches!(record, Record::Comm(comm) if comm.exec());
    assert!(check(RecordType::COMM, 0x2000, &[0, 0], is_exec));
    assert!(!check(RecordType::COMM, 0x4000, &[0, 0], is_exec));
    let is_out = |record: Record<'_>| matches!(record, Record::Switch(switch) if switch.direction() != SwitchDirection::In);
    let is_preempted = |record: Record<'_>| matches!(record, Record::Switch(switch) if switch.direction() == SwitchDirection::Out { preempted: true });
    assert!(check(RecordType::SWITCH, 0x2000, &[], is_out));
    assert!(!check(RecordType::SWITCH, 0x2000, &[], is_preempted));
    assert!(check(RecordType::SWITCH, 0x6000, &[], is_preempted));
    // The bit of a preemption alone does not make it a switch out.
    assert!(!check(RecordType::SWITCH, 0x4000, &[], is_out));
    assert!(!check(RecordType::SWITCH, 0x4000, &[], is_preempted));
    let is_exact = |record: Record<'_>| matches!(record, Record::Sample(sample) if sample.exact_ip());
    assert!(check(RecordType::SAMPLE, 0x4005, &[], is_exact));
    assert!(!check(RecordType::SAMPLE, 0x2005, &[], is_exact));
    let exact = RecordBuilder::new(RecordType::SAMPLE, Misc::from_bits_retain(0x4005)).finish();
    let text = with_sample(&exact, &Attr::default(), |s| s.to_string()).unwrap();
    assert!(text.contains("EXACT_IP") && text.contains("GUEST_USER"), "{text}");
}

#[test]
fn callchain_contexts_are_distinguished() {
    let markers = [
        (CallchainContext::HV, 32_u64),
        (CallchainContext::KERNEL, 128),
        (CallchainContext::USER, 512),
        (CallchainContext::GUEST, 2048),
        (CallchainContext::GUEST_KERNEL, 2176),
        (CallchainContext::GUEST_USER, 2560),
    ];
    let attr = event(SampleType::CALLCHAIN);
    let mut words = record(RecordType::SAMPLE).u64(1 + 2 * markers.len() as u64).u64(1);
    for (index, (_, value)) in (2..).zip(markers) {
        words = words.words(&[0_u64.wrapping_sub(value), index]);
    }
    let words = words.finish();
    let contexts =
        |chain: Callchain<'_>| chain.frames().map(|frame| (frame.context, frame.ip)).collect::<Vec<_>>();
    let read = with_sample(&words, &attr, |s| contexts(s.callchain().unwrap())).unwrap();
    let expected = (2..).zip(markers).map(|(index, (marker, _))| (Some(marker), index));
    assert_eq!(read, [(None, 1)].into_iter().chain(expected).collect::<Vec<_>>());
}

#[test]
fn malformed_and_unknown_records_do_not_end_the_iteration() {
    let layout = SampleLayout::new(&Attr::default().with_sample_type(SampleType::CALLCHAIN));
    let lost = record(RecordType::LOST).words(&[1, 2]).finish();
    let records = [
        record(RecordType(999)).u64(5).finish(),
        lost.clone(),
        record(RecordType::SAMPLE).u64(u64::MAX).finish(), // a callchain of 2^64 - 1 entries
        record(RecordType::COMM).u64(1).bytes(b"12345678").finish(), // no NUL
        lost,
    ];
    let (data, tail, head) = ring(&records, 16, 8);
    let mut scratch = Scratch::new();
    let decoded = Window::new(&data, tail, head).unwrap().records(&mut scratch).map(|read| {
        let read = read.expect("sound frames");
        read.decode(&layout).map(|record| record.to_string())
    });
    let decoded: Vec<_> = decoded.collect();
    assert!(matches!(decoded[2], Err(Error::Truncated { field: "callchain", .. })), "{decoded:?}");
    assert!(matches!(decoded[3], Err(Error::Unterminated { field: "comm", .. })), "{decoded:?}");
    assert_eq!((decoded.len(), &decoded[1]), (5, &decoded[4]));
    assert!(decoded[0].is_ok() && decoded[1].is_ok(), "{decoded:?}");
}

#[test]
fn error_names_the_kind_and_the_missing_field() {
    let layout = SampleLayout::new(&Attr::default().with_sample_type(SampleType::IP));
    for kind in (1..=RecordType::LAST.0).map(RecordType).filter(|kind| *kind != RecordType::SWITCH) {
        let words = record(kind).finish();
        let refused = raw(&words).decode(&layout).unwrap_err();
        let Error::Truncated { kind: named, field, needed, found: 0 } = refused else {
            panic!("{refused:?}")
        };
        assert!(named == kind && needed >= 8 && !field.is_empty(), "{refused:?}");
        let text = refused.to_string();
        assert!(text.starts_with(kind.name().unwrap()) && text.contains(field), "{text}");
    }
}

#[test]
fn ring_without_data_area_is_refused() {
    assert_eq!(Window::new(&[], 0, 0), Err(Error::RingSize { len: 0 }));
    assert_eq!(BackwardRecords::new(&[], 0, &mut Scratch::new()).err(), Some(Error::RingSize { len: 0 }));
}

#[test]
fn events_without_identifier_are_found_by_id() {
    let base = SampleType::TID | SampleType::ID;
    let [long, short] = [event(base | SampleType::CALLCHAIN), event(base)];
    let mut table = [(9, SampleLayout::new(&long)), (5, SampleLayout::new(&short))];
    let layouts = Layouts::new(&mut table).unwrap();
    let sample = |id: u64| record(RecordType::SAMPLE).pair(1, 2).u64(id); // TID, ID
    assert_eq!(layouts.find(raw(&sample(9).u64(0).finish())), Ok(&SampleLayout::new(&long)));
    assert_eq!(layouts.find(raw(&sample(5).finish())), Ok(&SampleLayout::new(&short)));
    assert_eq!(layouts.find(raw(&sample(6).finish())), Err(Error::UnknownId { id: 6 }));
    let switch = record(RecordType::SWITCH).pair(1, 2).u64(9).finish(); // the trailer: TID, ID
    assert_eq!(layouts.find(raw(&switch)), Ok(&SampleLayout::new(&long)));
}

#[test]
fn attr_with_unknown_event_clock_and_flags_has_a_layout() {
    let mut attr =
        Attr::new(EventType(77), u64::MAX).with_sample_type(SampleType::IP).with_clock(perf_abi::Clock(99));
    attr.flags |= AttrFlags::from_bits_retain(1 << 62);
    let words = record(RecordType::SAMPLE).u64(7).finish();
    assert_eq!(with_sample(&words, &attr, |s| s.ip()), Ok(Some(7)));
}
