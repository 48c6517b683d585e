use std::string::ToString;
use std::vec::Vec;

use perf_abi::{Attr, AttrFlags, Misc, NamespaceLink, ReadFormat, SampleType, Software};

use super::*;
use crate::Error;
use crate::testing::builder::{RecordBuilder, SampleIdValues};

/// An event with every trailer field.
const ATTR: Attr = Attr::software(Software::DUMMY)
    .with_sample_type(
        SampleType::TID
            .union(SampleType::TIME)
            .union(SampleType::ID)
            .union(SampleType::STREAM_ID)
            .union(SampleType::CPU)
            .union(SampleType::IDENTIFIER),
    )
    .with_read_format(ReadFormat::TOTAL_TIME_ENABLED)
    .with_flags(AttrFlags::SAMPLE_ID_ALL.union(AttrFlags::BUILD_ID));
const LAYOUT: SampleLayout = SampleLayout::new(&ATTR);

const TRAILER: SampleIdValues =
    SampleIdValues { pid: 10, tid: 11, time: 12, id: 13, stream_id: 14, cpu: 15, identifier: 13 };

fn builder(kind: RecordType, misc: Misc) -> RecordBuilder {
    RecordBuilder::new(kind, misc)
}

/// Decodes a body with a full trailer, and checks the trailer.
fn decoded(words: &[u64]) -> Result<Record<'_>> {
    let raw = RawRecord::from_words(words).unwrap();
    let trailer = raw.sample_id(&LAYOUT)?;
    assert_eq!((trailer.pid(), trailer.tid(), trailer.time()), (Some(10), Some(11), Some(12)));
    assert_eq!((trailer.id(), trailer.stream_id(), trailer.cpu()), (Some(13), Some(14), Some(15)));
    assert_eq!(trailer.identifier(), Some(13));
    assert_eq!((raw.time(&LAYOUT), raw.id(&LAYOUT)), (Some(12), Some(13)));
    raw.decode(&LAYOUT)
}

fn finish(builder: RecordBuilder) -> Vec<u64> {
    builder.with_trailer(&ATTR, &TRAILER).finish()
}

#[test]
fn the_file_name_of_a_mapping_ends_before_the_trailer() {
    let words = finish(
        builder(RecordType::MMAP, Misc::MMAP_DATA)
            .pair(1, 2) //          pid, tid
            .words(&[0x1000, 0x2000, 0x3000]) // addr, len, pgoff
            .string(&b"/lib/eight"[..]), // filename
    );
    let Ok(Record::Mmap(mmap)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!((mmap.pid, mmap.tid, mmap.data), (1, 2, true));
    assert_eq!(
        (mmap.addr, mmap.len, mmap.pgoff, mmap.filename),
        (0x1000, 0x2000, 0x3000, &b"/lib/eight"[..])
    );
    assert_eq!(Record::Mmap(mmap).to_string(), "MMAP 1/2: [0x1000(0x2000) @ 0x3000]: r /lib/eight");
}

fn mmap2(misc: Misc, file: &[u64; 3]) -> Vec<u64> {
    finish(
        builder(RecordType::MMAP2, misc)
            .pair(1, 2) //          pid, tid
            .words(&[0x1000, 0x2000, 0]) // addr, len, pgoff
            .words(file) //         maj, min, ino, generation or build id
            .pair(5, 2) //          prot, flags
            .string(b"/bin/true"), // filename
    )
}

#[test]
fn a_mapping_names_its_inode() {
    let words = mmap2(Misc::empty(), &[8 | 1 << 32, 77, 3]);
    let Ok(Record::Mmap2(mmap)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!(mmap.file, MappedFile::Inode { major: 8, minor: 1, inode: 77, generation: 3 });
    assert_eq!(
        Record::Mmap2(mmap).to_string(),
        "MMAP2 1/2: [0x1000(0x2000) @ 0x0 08:01 77 3]: r-xp /bin/true"
    );
}

#[test]
fn a_mapping_names_its_build_id() {
    let words = mmap2(Misc::MMAP_BUILD_ID, &[3 | 0x00aa_bbcc << 32, 0, 0]);
    let Ok(Record::Mmap2(mmap)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!(mmap.file, MappedFile::BuildId(&[0xcc, 0xbb, 0xaa]));
}

#[test]
fn a_build_id_of_21_bytes_is_refused() {
    let words = mmap2(Misc::MMAP_BUILD_ID, &[21, 0, 0]);
    let refused = decoded(&words).unwrap_err();
    assert_eq!(refused, Error::Invalid { kind: RecordType::MMAP2, field: "build_id_size", value: 21 });
}

#[test]
fn the_build_id_bit_means_nothing_to_an_event_that_did_not_ask() {
    let attr = ATTR.without_flags(AttrFlags::BUILD_ID);
    let layout = SampleLayout::new(&attr);
    let words = mmap2(Misc::MMAP_BUILD_ID, &[21, 0, 0]);
    let Ok(Record::Mmap2(mmap)) = RawRecord::from_words(&words).unwrap().decode(&layout) else { panic!() };
    assert_eq!(mmap.file, MappedFile::Inode { major: 21, minor: 0, inode: 0, generation: 0 });
}

#[test]
fn exec_is_told_from_a_mere_new_name() {
    for (misc, exec) in [(Misc::COMM_EXEC, true), (Misc::empty(), false)] {
        let words = finish(builder(RecordType::COMM, misc).pair(1, 2).string(b"1234567"));
        let Ok(Record::Comm(comm)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!(comm, Comm { pid: 1, tid: 2, exec, comm: b"1234567" });
    }
}

#[test]
fn a_name_without_nul_does_not_run_into_the_trailer() {
    let words = finish(builder(RecordType::COMM, Misc::empty()).pair(1, 2).bytes(b"12345678"));
    assert_eq!(decoded(&words).unwrap_err(), Error::Unterminated { kind: RecordType::COMM, field: "comm" });
}

#[test]
fn fork_and_exit_differ_only_in_kind() {
    for kind in [RecordType::FORK, RecordType::EXIT] {
        let words = finish(builder(kind, Misc::empty()).pair(1, 2).pair(3, 4).u64(5));
        match decoded(&words) {
            Ok(Record::Fork(fork)) => assert_eq!(fork, Fork { pid: 1, ppid: 2, tid: 3, ptid: 4, time: 5 }),
            Ok(Record::Exit(exit)) => assert_eq!(exit, Exit { pid: 1, ppid: 2, tid: 3, ptid: 4, time: 5 }),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_record_without_a_trailer_has_its_own_time() {
    let layout = SampleLayout::new(&ATTR.without_flags(AttrFlags::SAMPLE_ID_ALL));
    let fork = builder(RecordType::FORK, Misc::empty()).pair(1, 2).pair(3, 4).u64(5).finish();
    let lost = builder(RecordType::LOST, Misc::empty()).words(&[1, 2]).finish();
    let throttle = builder(RecordType::UNTHROTTLE, Misc::empty()).words(&[6, 1, 1]).finish();
    let time = |words: &[u64]| RawRecord::from_words(words).unwrap().time(&layout);
    assert_eq!((time(&fork), time(&lost), time(&throttle)), (Some(5), None, Some(6)));
}

#[test]
fn lost_and_throttle_are_their_own_layout() {
    let words = finish(builder(RecordType::LOST, Misc::empty()).words(&[21, 7]));
    assert!(matches!(decoded(&words), Ok(Record::Lost(Lost { id: 21, lost: 7 }))));
    for kind in [RecordType::THROTTLE, RecordType::UNTHROTTLE] {
        let words = finish(builder(kind, Misc::empty()).words(&[1, 2, 3]));
        let Ok(Record::Throttle(throttle) | Record::Unthrottle(throttle)) = decoded(&words) else { panic!() };
        assert_eq!(throttle, Throttle { time: 1, id: 2, stream_id: 3 });
    }
}

#[test]
fn a_read_record_has_the_shape_of_the_events_format() {
    let words = finish(builder(RecordType::READ, Misc::empty()).pair(1, 2).words(&[100, 50]));
    let Ok(Record::Read(read)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!((read.values.iter().next().unwrap().value, read.values.time_enabled()), (100, Some(50)));
}

#[test]
fn aux_records_keep_their_flags() {
    let words = finish(builder(RecordType::AUX, Misc::empty()).words(&[0x1000, 0x80, 1 << 40 | 1]));
    let Ok(Record::Aux(aux)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!((aux.aux_offset, aux.aux_size, aux.flags.bits()), (0x1000, 0x80, 1 << 40 | 1));
}

#[test]
fn one_word_records_are_read() {
    let start = finish(builder(RecordType::ITRACE_START, Misc::empty()).pair(1, 2));
    assert!(matches!(decoded(&start), Ok(Record::ItraceStart(ItraceStart { pid: 1, tid: 2 }))));
    let lost = finish(builder(RecordType::LOST_SAMPLES, Misc::empty()).u64(9));
    assert!(matches!(decoded(&lost), Ok(Record::LostSamples(LostSamples { lost: 9 }))));
    let id = finish(builder(RecordType::AUX_OUTPUT_HW_ID, Misc::empty()).u64(9));
    assert!(matches!(decoded(&id), Ok(Record::AuxOutputHwId(AuxOutputHwId { hw_id: 9 }))));
}

#[test]
fn a_switch_tells_direction_and_preemption() {
    let preempted = Misc::SWITCH_OUT | Misc::SWITCH_OUT_PREEMPT;
    for (misc, text) in [(Misc::empty(), "IN"), (Misc::SWITCH_OUT, "OUT"), (preempted, "OUT preempt")] {
        let words = finish(builder(RecordType::SWITCH, misc));
        assert_eq!(decoded(&words).unwrap().to_string(), std::format!("SWITCH {text}"));
    }
    let words = finish(builder(RecordType::SWITCH_CPU_WIDE, preempted).pair(1, 2));
    let Ok(Record::SwitchCpuWide(switch)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!((switch.next_prev_pid, switch.next_prev_tid, switch.direction.preempted), (1, 2, true));
}

#[test]
fn a_count_of_namespaces_is_not_trusted() {
    let namespaces =
        |nr| finish(builder(RecordType::NAMESPACES, Misc::empty()).pair(1, 2).words(&[nr, 4, 5]));
    let words = namespaces(1);
    let Ok(Record::Namespaces(read)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!(read.namespaces, [NamespaceLink { dev: 4, inode: 5 }]);
    for nr in [2, u64::MAX, u64::MAX / 16 + 2] {
        let words = namespaces(nr);
        assert!(matches!(decoded(&words), Err(Error::Truncated { field: "namespaces", .. })), "{nr}");
    }
}

#[test]
fn deferred_callchains_are_addresses_behind_a_cookie() {
    let deferred = |nr| finish(builder(RecordType::CALLCHAIN_DEFERRED, Misc::empty()).words(&[77, nr, 1, 2]));
    let words = deferred(2);
    let Ok(Record::CallchainDeferred(chain)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!(chain, CallchainDeferred { cookie: 77, ips: &[1, 2] });
    let words = deferred(1 << 61);
    assert!(matches!(decoded(&words), Err(Error::Truncated { field: "ips", .. })));
}

#[test]
fn a_cgroup_has_its_path() {
    let words = finish(builder(RecordType::CGROUP, Misc::empty()).u64(9).string(b"/a"));
    assert!(matches!(decoded(&words), Ok(Record::Cgroup(Cgroup { id: 9, path })) if path == b"/a"));
}

/// Builds one of the kinds whose copies grow by trailers that are never written.
fn grown(kind: RecordType, surplus: usize) -> Vec<u64> {
    let builder = builder(kind, Misc::empty());
    let body = match kind {
        RecordType::KSYMBOL => builder.u64(0xffff_0000).u32s(&[64]).u16s(&[1, 0]).string(b"bpf_prog_x"),
        RecordType::BPF_EVENT => builder.u16s(&[1, 0]).u32s(&[147]).u64(0x1122),
        _ => builder.u64(0xffff_0000).u16s(&[2, 3]).bytes_padded(&[1, 2, 3, 4, 5]),
    };
    let trailer = crate::testing::builder::trailer(&ATTR, &TRAILER);
    body.words(&trailer).words(&std::vec![0xdead; surplus]).finish()
}

#[test]
fn the_trailer_of_a_grown_copy_is_right_behind_the_body() {
    for surplus in [0, 6, 12] {
        let words = grown(RecordType::KSYMBOL, surplus);
        let Ok(Record::Ksymbol(symbol)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!((symbol.len, symbol.name), (64, &b"bpf_prog_x"[..]));
        let words = grown(RecordType::BPF_EVENT, surplus);
        let Ok(Record::BpfEvent(event)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!((event.id, u64::from_ne_bytes(event.tag)), (147, 0x1122));
        let words = grown(RecordType::TEXT_POKE, surplus);
        let Ok(Record::TextPoke(poke)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!((poke.addr, poke.old, poke.new), (0xffff_0000, &[1, 2][..], &[3, 4, 5][..]));
    }
}

#[test]
fn a_record_too_short_for_its_trailer_is_refused() {
    let words = builder(RecordType::SWITCH, Misc::empty()).u64(1).finish();
    let refused = RawRecord::from_words(&words).unwrap().sample_id(&LAYOUT).unwrap_err();
    let expected = Error::Truncated { kind: RecordType::SWITCH, field: "sample_id", needed: 48, found: 8 };
    assert_eq!(refused, expected);
}

#[test]
fn a_kind_from_the_future_is_kept_as_it_is() {
    let words = builder(RecordType(23), Misc::empty()).words(&[1, 2]).finish();
    let raw = RawRecord::from_words(&words).unwrap();
    let Ok(Record::Unknown(kept)) = raw.decode(&LAYOUT) else { panic!() };
    assert_eq!((kept, raw.time(&LAYOUT), raw.id(&LAYOUT)), (raw, None, None));
    assert_eq!(Record::Unknown(kept).to_string(), "RecordType(23) 24 bytes");
}

#[test]
fn a_name_with_control_characters_stays_on_its_line() {
    let comm = Comm { pid: 1, tid: 1, exec: false, comm: b"a\n\xff\\" };
    assert_eq!(comm.to_string(), "a\\n\\xff\\\\:1/1");
}
