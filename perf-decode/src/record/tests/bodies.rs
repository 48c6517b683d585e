//! The accessors that are written by hand, bodies with a length in them, and the printed forms. The
//! other accessors are compared with the rows at compile time, and the rows with the naive decoder.

use super::*;

#[test]
fn mmap_has_its_addresses_and_is_executable_without_the_data_bit() {
    for (misc, is_executable) in [(Misc::MMAP_DATA, false), (Misc::empty(), true)] {
        let words = finish(
            builder(RecordType::MMAP, misc)
                .pair(1, 2) //                    pid, tid
                .words(&[0x1000, 0x2000, 0x3000]) // addr, len, pgoff
                .string(b"/lib/eight"), //        filename
        );
        let Ok(Record::Mmap(mmap)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!((mmap.pid(), mmap.tid(), mmap.is_executable()), (1, 2, is_executable));
        assert_eq!((mmap.addr(), mmap.len(), mmap.pgoff()), (0x1000, 0x2000, 0x3000));
        assert_eq!(mmap.filename(), b"/lib/eight");
    }
}

/// Returns an MMAP2 record with these bytes as device and inode or as build id.
fn mmap2(misc: Misc, file: &[u8; 24]) -> Vec<u64> {
    finish(
        builder(RecordType::MMAP2, misc)
            .pair(1, 2) //                 pid, tid
            .words(&[0x1000, 0x2000, 9]) // addr, len, pgoff
            .bytes(file)
            .pair(5, 2) //                 prot, flags
            .string(b"/bin/true"), //      filename
    )
}

fn inode() -> [u8; 24] {
    let mut file = [0; 24];
    file[..4].copy_from_slice(&8_u32.to_ne_bytes());
    file[4..8].copy_from_slice(&1_u32.to_ne_bytes());
    file[8..16].copy_from_slice(&77_u64.to_ne_bytes());
    file[16..].copy_from_slice(&3_u64.to_ne_bytes());
    file
}

/// Returns a build id of this length, whose bytes are 1, 2, 3, ...
fn build_id(size: u8) -> [u8; 24] {
    let mut file = [0; 24];
    file[4..].iter_mut().zip(1..).for_each(|(byte, value)| *byte = value);
    file[0] = size;
    file
}

#[test]
fn mmap2_has_its_inode() {
    let words = mmap2(Misc::empty(), &inode());
    let Ok(Record::Mmap2(mmap)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!(mmap.file(), MappedFile::Inode { major: 8, minor: 1, inode: 77, generation: 3 });
    assert_eq!(
        (mmap.maj(), mmap.min(), mmap.ino(), mmap.ino_generation()),
        (Some(8), Some(1), Some(77), Some(3))
    );
    assert_eq!((mmap.pid(), mmap.tid(), mmap.build_id()), (1, 2, None));
    assert_eq!((mmap.addr(), mmap.len(), mmap.pgoff()), (0x1000, 0x2000, 9));
    assert_eq!((mmap.prot(), mmap.flags(), mmap.filename()), (5, 2, &b"/bin/true"[..]));
    let fields = "pid=1 tid=2 addr=0x1000 len=0x2000 pgoff=0x9 maj=8 min=1 ino=77 ino_generation=3 \
        prot=5 flags=2 filename=/bin/true";
    assert_eq!(text(&Record::Mmap2(mmap)).join(" "), fields);
}

#[test]
fn mmap2_is_executable_without_the_data_bit() {
    let bits = [(Misc::MMAP_DATA, false), (Misc::empty(), true), (Misc::MMAP_BUILD_ID, true)];
    for (misc, is_executable) in bits {
        let words = mmap2(misc, &build_id(20));
        let Ok(Record::Mmap2(mmap)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!(mmap.is_executable(), is_executable, "{misc:?}");
    }
}

#[test]
fn mmap2_has_its_build_id_in_place_of_the_inode() {
    for size in [0, 3, 20] {
        let words = mmap2(Misc::MMAP_BUILD_ID, &build_id(size));
        let Ok(Record::Mmap2(mmap)) = decoded(&words) else { panic!("{words:x?}") };
        let id: Vec<u8> = (1..=size).collect();
        assert_eq!(mmap.file(), MappedFile::BuildId(&id));
        assert_eq!((mmap.build_id(), mmap.ino(), mmap.maj()), (Some(&id[..]), None, None));
        assert_eq!((mmap.min(), mmap.ino_generation()), (None, None));
        assert_eq!((mmap.prot(), mmap.filename()), (5, &b"/bin/true"[..]));
        assert_eq!(mmap.0.sample_id().time(), Some(12));
    }
}

#[test]
fn build_id_of_21_bytes_is_refused() {
    for size in [21, 255] {
        let words = mmap2(Misc::MMAP_BUILD_ID, &build_id(size));
        let error = Error::Invalid { kind: RecordType::MMAP2, field: "build_id_size", value: size.into() };
        assert_eq!(decoded(&words).unwrap_err(), error);
    }
}

#[test]
fn build_id_bit_is_ignored_if_the_attr_did_not_ask() {
    let layout = SampleLayout::new(&ATTR.without_flags(AttrFlags::BUILD_ID));
    let words = mmap2(Misc::MMAP_BUILD_ID, &inode());
    let Ok(Record::Mmap2(mmap)) = raw(&words).decode(&layout) else { panic!("{words:x?}") };
    assert_eq!(mmap.file(), MappedFile::Inode { major: 8, minor: 1, inode: 77, generation: 3 });
}

#[test]
fn comm_distinguishes_exec_from_a_new_name() {
    for (misc, exec) in [(Misc::COMM_EXEC, true), (Misc::empty(), false)] {
        let words = finish(builder(RecordType::COMM, misc).pair(1, 2).string(b"1234567"));
        let Ok(Record::Comm(comm)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!((comm.pid(), comm.tid(), comm.exec(), comm.comm()), (1, 2, exec, &b"1234567"[..]));
    }
}

#[test]
fn only_a_switch_out_is_preempted() {
    let bits = [
        Misc::empty(),
        Misc::SWITCH_OUT,
        Misc::SWITCH_OUT_PREEMPT,
        Misc::SWITCH_OUT | Misc::SWITCH_OUT_PREEMPT,
    ];
    let (direction, out) = (SwitchDirection::In, |preempted| SwitchDirection::Out { preempted });
    for (misc, expected) in bits.into_iter().zip([direction, out(false), direction, out(true)]) {
        let words = finish(builder(RecordType::SWITCH, misc));
        assert!(
            matches!(decoded(&words), Ok(Record::Switch(one)) if one.direction() == expected),
            "{misc:?}"
        );
        let words = finish(builder(RecordType::SWITCH_CPU_WIDE, misc).pair(1, 2));
        let Ok(Record::SwitchCpuWide(switch)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!((switch.next_prev_pid(), switch.next_prev_tid(), switch.direction()), (1, 2, expected));
    }
}

#[test]
fn namespaces_are_checked_against_their_count() {
    let namespaces = |nr| finish(body(RecordType::NAMESPACES).pair(1, 2).words(&[nr, 4, 5]));
    let words = namespaces(1);
    let Ok(Record::Namespaces(read)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!((read.pid(), read.tid()), (1, 2));
    assert!(read.namespaces().iter().eq([NamespaceLink { dev: 4, inode: 5 }]));
    for nr in [2, u64::MAX, u64::MAX / 16 + 2, 1 << 63] {
        let words = namespaces(nr);
        assert!(matches!(decoded(&words), Err(Error::Truncated { field: "namespaces", .. })), "{nr}");
    }
}

#[test]
fn deferred_callchain_has_a_cookie_and_addresses() {
    let deferred = |nr| finish(body(RecordType::CALLCHAIN_DEFERRED).words(&[77, nr, 1, 2]));
    let words = deferred(2);
    let Ok(Record::CallchainDeferred(chain)) = decoded(&words) else { panic!("{words:x?}") };
    assert_eq!((chain.cookie(), chain.ips()), (77, &[1, 2][..]));
    for nr in [3, 1 << 61, u64::MAX] {
        let words = deferred(nr);
        assert!(matches!(decoded(&words), Err(Error::Truncated { field: "ips", .. })), "{nr}");
    }
}

#[test]
fn text_poke_has_old_and_new_code() {
    for (old, new) in [(0, 0), (2, 3), (5, 0), (0, 4), (5, 8)] {
        let code = &b"abcdefghijklm"[..old + new];
        let poke = body(RecordType::TEXT_POKE).u64(0xffff_0000).u16s(&[old as u16, new as u16]);
        let words = finish(poke.bytes_padded(code));
        let Ok(Record::TextPoke(poke)) = decoded(&words) else { panic!("{words:x?}") };
        assert_eq!(
            (poke.addr(), poke.old_bytes(), poke.new_bytes()),
            (0xffff_0000, &code[..old], &code[old..])
        );
        assert_eq!((poke.old_len(), poke.new_len(), poke.bytes()), (old as u16, new as u16, code));
    }
    let words = finish(body(RecordType::TEXT_POKE).u64(0).u16s(&[u16::MAX, u16::MAX]).u32s(&[0]));
    assert!(matches!(decoded(&words), Err(Error::Truncated { field: "bytes", .. })));
}

#[test]
fn unknown_kind_is_kept_as_it_is() {
    let words = body(RecordType(999)).words(&[1, 2]).finish();
    let Ok(Record::Unknown(kept)) = raw(&words).decode(&LAYOUT) else { panic!() };
    assert_eq!((kept, raw(&words).time(&LAYOUT), raw(&words).id(&LAYOUT)), (raw(&words), None, None));
    let record: Record<'_> = Record::Unknown(kept);
    assert_eq!(
        (record.sample_id(), record.time(), record.size(), record.trailing_len()),
        (None, None, 24, 0)
    );
    let bytes: Vec<_> = record.fields().map(|field| field.name).collect();
    assert_eq!(bytes, ["raw"]);
}

#[test]
fn record_prints_its_fields_and_trailer_on_one_line() {
    let words = finish(builder(RecordType::COMM, Misc::COMM_EXEC).pair(1, u32::MAX).string(b"a\n\xff\\"));
    let record = decoded(&words).unwrap();
    let line =
        "pid=1 tid=-1 comm=a\\n\\xff\\\\ | pid=10 tid=11 time=12 id=13 stream_id=14 cpu=15 identifier=13";
    let printed = record.to_string();
    assert!(printed.starts_with("COMM (") && printed.ends_with(line), "{printed}");
    let Record::Comm(comm) = record else { panic!() };
    assert_eq!(comm.to_string(), printed);
    let debug = "Comm { pid: 1, tid: 4294967295, comm: [97, 10, 255, 92], exec: true }";
    assert_eq!(std::format!("{comm:?}"), debug);
}

#[test]
fn fields_of_the_trailer_that_repeat_the_body_are_not_printed_again() {
    let line = |pid, tid| {
        decoded(&finish(body(RecordType::EXIT).pair(pid, 9).pair(tid, 9).u64(12)))
            .map(|record| record.to_string())
    };
    let (others, all) = ("id=13 stream_id=14 cpu=15 identifier=13", "pid=10 tid=11 id=13");
    assert_eq!(line(10, 11).unwrap(), std::format!("EXIT pid=10 ppid=9 tid=11 ptid=9 time=12 | {others}"));
    assert!(line(1, 1).unwrap().contains(&std::format!("time=12 | {all}")));
}

#[test]
fn debug_forms_show_fields_and_trailer() {
    let attr = ATTR.replace_sample_type(SampleType::TIME);
    let words = body(RecordType::LOST).words(&[1, 2]).with_trailer(&attr, &TRAILER).finish();
    let layout = SampleLayout::new(&attr);
    let record = raw(&words).decode(&layout).unwrap();
    assert_eq!(std::format!("{record:?}"), "Lost { id: 1, lost: 2 }");
    assert_eq!(std::format!("{:?}", record.fields()), "[id: Number(1), lost: Number(2)]");
    let trailer = std::format!("{:?}", record.sample_id().unwrap());
    assert_eq!(trailer, "[time: Number(12)]");
}
