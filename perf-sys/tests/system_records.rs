//! Records about the whole system: from events that watch a CPU, or that the kernel tells of every task.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;

use std::fs;
use std::os::unix::fs::MetadataExt;

use perf_abi::{
    AttrFlags, BPF_TAG_SIZE, BpfCmd, BpfEventType, BpfInsn, BpfProgLoad, BpfProgType, KsymbolFlags,
    KsymbolType,
};
use perf_decode::{Ksymbol, Record, SampleLayout};
use perf_sys::{Errno, Ring, Target};
use rustix::fd::{FromRawFd, OwnedFd};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use support::{cgroup2, during, sideband, skip, switch, tid};

/// What is left of the records that are there now.
fn told<R>(ring: &mut Ring, tell: impl Fn(Record<'_>) -> Option<R>) -> Vec<R> {
    let layout = SampleLayout::new(ring.event().attr());
    let mut batch = ring.batch().unwrap();
    batch.records().filter_map(|record| tell(record.unwrap().decode(&layout).unwrap())).collect()
}

/// Runs `test` on a thread of its own that stays on one CPU.
fn on_one_cpu(test: fn(u32)) {
    let thread = std::thread::spawn(move || {
        let cpu = sched_getcpu();
        let mut only = CpuSet::new();
        only.set(cpu);
        sched_setaffinity(None, &only).unwrap();
        test(cpu as u32);
    });
    thread.join().unwrap();
}

#[test]
fn a_new_cgroup_is_told_with_its_path_and_its_id() {
    on_one_cpu(|cpu| {
        let Some(root) = cgroup2() else { return eprintln!("skipped: no cgroup2 is mounted") };
        // On a CPU the kernel forgets that this flag too asks for records, unless another does.
        let targets = [
            (AttrFlags::CGROUP, Target::calling_thread()),
            (AttrFlags::CGROUP | AttrFlags::COMM, Target::cpu(cpu)),
        ];
        for (flags, target) in targets {
            let Some(mut ring) = sideband(flags, target) else { return };
            let place = root.join(format!("perf-sys-told-{}", std::process::id()));
            if let Err(error) = during(&ring, || fs::create_dir(&place)) {
                return skip(format_args!("{}: {error}", place.display()));
            }
            let id = fs::metadata(&place).unwrap().ino();
            fs::remove_dir(&place).unwrap();
            let told = told(&mut ring, |record| match record {
                Record::Cgroup(told) => Some((told.id, told.path.to_str().unwrap().to_owned())),
                _ => None,
            });
            let is_told = |(found, path): &(u64, String)| *found == id && place.ends_with(&path[1..]);
            assert!(told.iter().any(is_told), "{id} {}: {told:?}", place.display());
        }
    });
}

/// A program that does nothing, loaded until it is dropped.
fn load_program() -> Result<OwnedFd, Errno> {
    let code = [
        BpfInsn::new(0xb7, 0, 0, 0, 0), // mov r0, 0
        BpfInsn::new(0x95, 0, 0, 0, 0), // exit
    ];
    let load = BpfProgLoad {
        prog_type: BpfProgType::SOCKET_FILTER,
        insn_cnt: code.len() as u32,
        insns: code.as_ptr().expose_provenance() as u64,
        license: c"GPL".as_ptr().expose_provenance() as u64,
        prog_name: *b"perf_sys_test\0\0\0",
        ..BpfProgLoad::default()
    };
    // SAFETY: the kernel reads the argument and what it points to: instructions, a string.
    let fd =
        unsafe { libc::syscall(libc::SYS_bpf, BpfCmd::PROG_LOAD.0, &raw const load, size_of_val(&load)) };
    let fd = i32::try_from(fd).unwrap();
    if fd < 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap());
    }
    // SAFETY: the kernel just made it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[test]
fn a_bpf_program_is_told_when_it_comes_and_when_it_goes() {
    let Some(mut ring) = sideband(AttrFlags::BPF_EVENT, Target::calling_thread()) else { return };
    if let Err(errno) = during(&ring, || load_program().map(drop)) {
        return skip(format_args!("BPF_PROG_LOAD: {errno}"));
    }
    let told = told(&mut ring, |record| match record {
        Record::BpfEvent(event) => Some((event.kind, (event.id, event.tag))),
        _ => None,
    });
    let (kinds, programs): (Vec<_>, Vec<_>) = told.into_iter().unzip();
    assert_eq!(kinds, [BpfEventType::PROG_LOAD, BpfEventType::PROG_UNLOAD]);
    assert_eq!(programs[0], programs[1]);
    assert!(programs[0].0 > 0 && programs[0].1 != [0; BPF_TAG_SIZE], "{programs:?}");
}

#[test]
fn the_code_of_a_bpf_program_is_a_symbol_of_the_kernel() {
    let Some(mut ring) = sideband(AttrFlags::KSYMBOL, Target::calling_thread()) else { return };
    if let Err(errno) = during(&ring, || load_program().map(drop)) {
        return skip(format_args!("BPF_PROG_LOAD: {errno}"));
    }
    let told = told(&mut ring, |record| match record {
        Record::Ksymbol(Ksymbol { addr, len, kind, flags, name }) => {
            assert!(kind == KsymbolType::BPF && name.to_bytes().starts_with(b"bpf_prog_"), "{record}");
            Some((flags, (addr, len, name.to_owned())))
        }
        _ => None,
    });
    if told.is_empty() && fs::read("/proc/sys/net/core/bpf_jit_enable").is_ok_and(|value| value == b"0\n") {
        return eprintln!("skipped: BPF programs are interpreted here and have no code");
    }
    let (flags, symbols): (Vec<_>, Vec<_>) = told.into_iter().unzip();
    assert_eq!(flags, [KsymbolFlags::empty(), KsymbolFlags::UNREGISTER]);
    assert_eq!(symbols[0], symbols[1]);
    assert!(symbols[0].0 > 0 && symbols[0].1 > 0, "{symbols:?}");
}

#[test]
fn a_cpu_tells_who_comes_after_whom() {
    on_one_cpu(|cpu| {
        let Some(mut ring) = sideband(AttrFlags::CONTEXT_SWITCH, Target::cpu(cpu)) else { return };
        during(&ring, || switch(3));
        let layout = SampleLayout::new(ring.event().attr());
        let mut batch = ring.batch().unwrap();
        let told = batch.records().map(|record| {
            let record = record.unwrap();
            let Record::SwitchCpuWide(told) = record.decode(&layout).unwrap() else { panic!("{record:?}") };
            (told.direction.out, record.sample_id(&layout).unwrap().tid().unwrap(), told.next_prev_tid)
        });
        let told = told.collect::<Vec<_>>();
        let ours = |out| told.iter().filter(|told| (told.0, told.1) == (out, tid())).count();
        assert!(ours(true) >= 3 && ours(false) >= 3, "{told:?}");
        for pair in told.windows(2) {
            // The idle task tells nothing of its own.
            if let (true, left, next @ 1..) = pair[0] {
                assert_eq!(pair[1], (false, next, left), "{told:?}");
            }
        }
    });
}
