use perf_abi::{SampleType, Software};
use perf_decode::{MappedFile, RawRecord, Record, Records, SampleLayout, Window};

use super::*;

fn attr() -> Attr {
    Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::IDENTIFIER)
        .with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::BUILD_ID)
}

fn records<'a>(side_band: &'a SideBand, scratch: &'a mut [u64]) -> Records<'a> {
    Window::from_slices(&side_band.words, &[]).records(scratch)
}

#[test]
fn records_decode_to_what_was_written() {
    let mut side_band = SideBand::new(&attr());
    side_band.fork(7, 1, 8, 2);
    side_band.comm(7, 8, b"a name of 20 letters");
    let file = Mapping {
        pid: 7,
        tid: 8,
        addr: 0x1000,
        len: 0x2000,
        pgoff: 0x3000,
        device: (8, 1),
        inode: 99,
        prot: 5,
        flags: 2,
        path: b"/bin/eight.b",
        ..Mapping::default()
    };
    side_band.mmap2(&file);
    side_band.mmap2(&Mapping { build_id: Some(&[9; 20]), prot: 1, path: b"/bin/7byt", ..file });

    let layout = SampleLayout::new(&attr());
    let decoded: Vec<_> =
        records(&side_band, &mut []).map(|record| record.unwrap().decode(&layout).unwrap()).collect();
    let [Record::Fork(fork), Record::Comm(comm), Record::Mmap2(inode), Record::Mmap2(build_id)] = decoded[..]
    else {
        panic!("{decoded:?}")
    };
    assert_eq!([fork.pid(), fork.ppid(), fork.tid(), fork.ptid()], [7, 1, 8, 2]);
    assert_eq!(fork.misc(), Misc::FORK_EXEC);
    assert_eq!((comm.pid(), comm.tid(), comm.comm()), (7, 8, &b"a name of 20 le"[..]));
    assert_eq!((inode.addr(), inode.len(), inode.pgoff()), (0x1000, 0x2000, 0x3000));
    assert_eq!((inode.prot(), inode.flags(), inode.filename()), (5, 2, &b"/bin/eight.b"[..]));
    assert_eq!(inode.file(), MappedFile::Inode { major: 8, minor: 1, inode: 99, generation: 0 });
    assert_eq!(inode.misc(), Misc::empty().with_cpu_mode(CpuMode::USER));
    assert_eq!(build_id.build_id(), Some(&[9; 20][..]));
    assert_eq!(build_id.misc(), (Misc::MMAP_DATA | Misc::MMAP_BUILD_ID).with_cpu_mode(CpuMode::USER));
    assert!(decoded.iter().all(|record| record.time() == Some(0)));
}

#[test]
fn kernel_is_a_mapping_of_no_process() {
    let mut side_band = SideBand::new(&Attr::default());
    let path = b"[kernel.kallsyms]_text";
    side_band.kernel_mmap(&Mapping {
        pid: u32::MAX,
        addr: 16,
        len: 8,
        pgoff: 16,
        prot: 4,
        path,
        ..Mapping::default()
    });
    let record = RawRecord::from_words(&side_band.words).unwrap();
    let layout = SampleLayout::new(&Attr::default());
    let Record::Mmap(mmap) = record.decode(&layout).unwrap() else { panic!("{record:?}") };
    assert_eq!((mmap.pid(), mmap.tid(), mmap.addr(), mmap.len()), (u32::MAX, 0, 16, 8));
    assert_eq!((mmap.filename(), mmap.misc().cpu_mode()), (&path[..], CpuMode::KERNEL));
}

#[test]
fn name_has_one_to_eight_nul_bytes() {
    for (len, words) in [(7, 3), (8, 4), (15, 4)] {
        let mut side_band = SideBand::default();
        side_band.comm(1, 1, &vec![b'x'; len]);
        assert_eq!(side_band.words.len(), words, "{len}");
    }
}

#[test]
fn path_is_truncated_as_by_the_kernel() {
    let mut side_band = SideBand::default();
    side_band.mmap2(&Mapping { path: &vec![b'x'; 70_000], ..Mapping::default() });
    assert_eq!(side_band.words.len() * 8, 72 + 4096);
}

#[test]
fn namespaces_and_cgroups_decode_to_what_was_written() {
    let mut side_band = SideBand::new(&attr());
    let links = [NamespaceLink { dev: 4, inode: 7 }, NamespaceLink::default()];
    side_band.namespaces(7, 8, &links);
    side_band.cgroup(99, b"/system.slice/a");
    let layout = SampleLayout::new(&attr());
    let decoded: Vec<_> =
        records(&side_band, &mut []).map(|record| record.unwrap().decode(&layout).unwrap()).collect();
    let [Record::Namespaces(namespaces), Record::Cgroup(cgroup)] = decoded[..] else { panic!("{decoded:?}") };
    assert_eq!((namespaces.pid(), namespaces.tid()), (7, 8));
    assert!(namespaces.namespaces().iter().eq(links));
    assert_eq!((cgroup.id(), cgroup.path()), (99, &b"/system.slice/a"[..]));
    assert!(decoded.iter().all(|record| record.time() == Some(0)));
}

#[test]
fn symbols_and_programs_decode_to_what_was_written() {
    let mut side_band = SideBand::new(&attr());
    side_band.ksymbol(0xffff_0000_1234_5678, 99, KsymbolType::BPF, b"bpf_prog_1234");
    side_band.bpf_program(7, *b"8 bytes!");
    let layout = SampleLayout::new(&attr());
    let decoded: Vec<_> =
        records(&side_band, &mut []).map(|record| record.unwrap().decode(&layout).unwrap()).collect();
    let [Record::Ksymbol(symbol), Record::BpfEvent(program)] = decoded[..] else { panic!("{decoded:?}") };
    assert_eq!((symbol.addr(), symbol.len()), (0xffff_0000_1234_5678, 99));
    assert_eq!((symbol.ksym_type(), symbol.flags().bits()), (KsymbolType::BPF, 0));
    assert_eq!(symbol.name(), b"bpf_prog_1234");
    assert_eq!((program.bpf_type(), program.flags()), (BpfEventType::PROG_LOAD, 0));
    assert_eq!((program.id(), program.tag()), (7, &b"8 bytes!"[..]));
    assert!(decoded.iter().all(|record| record.time() == Some(0)));
}
