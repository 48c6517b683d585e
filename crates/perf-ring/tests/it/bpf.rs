//! BPF programs that are attached to events, and the records about BPF programs.

use perf_abi::bpf::{BPF_TAG_SIZE, BpfCmd, BpfInsn, BpfProgLoad, BpfProgType};
use perf_abi::{BpfEventType, KsymbolFlags, KsymbolType};
use std::os::fd::{FromRawFd, OwnedFd};

use crate::prelude::*;

/// Loads a program that returns `result`. Dropping the descriptor unloads it.
fn load(prog_type: BpfProgType, result: i32) -> Result<OwnedFd, Errno> {
    let code = [
        BpfInsn::new(0xb7, 0, 0, 0, result), // mov r0, result
        BpfInsn::new(0x95, 0, 0, 0, 0),      // exit
    ];
    let mut load = BpfProgLoad::new();
    load.prog_type = prog_type;
    load.insn_cnt = code.len() as u32;
    load.insns = code.as_ptr().expose_provenance() as u64;
    load.license = c"GPL".as_ptr().expose_provenance() as u64;
    load.prog_name = *b"perf_sys_test\0\0\0";
    // SAFETY: the kernel reads the argument, and the instructions and the string that it points to.
    let fd =
        unsafe { libc::syscall(libc::SYS_bpf, BpfCmd::PROG_LOAD.0, &raw const load, size_of_val(&load)) };
    let fd = i32::try_from(fd).unwrap();
    if fd < 0 {
        return Err(Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap()));
    }
    // SAFETY: the kernel just made it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Loads like [`load`], or prints the reason and returns `None`.
#[track_caller]
fn load_or_skip(prog_type: BpfProgType, result: i32) -> Option<OwnedFd> {
    load(prog_type, result).map_err(|errno| skip(format_args!("BPF_PROG_LOAD: {errno}"))).ok()
}

#[test]
fn bpf_program_decides_whether_a_sample_is_written() {
    for (result, written) in [(0, false), (1, true)] {
        let Some(program) = load_or_skip(BpfProgType::PERF_EVENT, result) else { return };
        let Some(mut ring) = own_ring(&switches(), 64) else { return };
        ring.event().set_bpf(&program).unwrap();
        during(&ring, || switch(3));
        assert!(count(ring.event()) >= 3);
        assert_eq!(kinds(&mut ring).len() >= 3, written);
        let second = ring.event().set_bpf(&program).unwrap_err();
        assert_eq!(second.errno(), Some(Errno::EEXIST));
        assert!(Error::from(second).to_string().contains("already has a program"), "{second}");
    }
}

#[test]
fn query_returns_the_programs_of_a_tracepoint() {
    let Some(attr) = tracepoint("syscalls/sys_enter_getpriority") else { return };
    let Some(mut ring) = sideband(AttrFlags::BPF_EVENT, Target::calling_thread()) else { return };
    // The program runs for the hits of all tasks, and returns 1, so that all are counted.
    let Some(program) = during(&ring, || load_or_skip(BpfProgType::TRACEPOINT, 1)) else { return };
    let Some(event) = own(&attr) else { return };
    event.set_bpf(&program).unwrap();
    let ids = filter_map(&mut ring, |record| match record {
        Record::BpfEvent(event) => Some(event.id()),
        _ => None,
    });
    assert_eq!(ids.len(), 1);
    // Other users may have attached programs to it too.
    assert!(event.query_bpf().unwrap().contains(&ids[0]));
}

#[test]
fn a_program_of_another_type_is_refused() {
    let Some(program) = load_or_skip(BpfProgType::SOCKET_FILTER, 0) else { return };
    let Some(event) = own(&switches()) else { return };
    let error = event.set_bpf(&program).unwrap_err();
    assert_eq!((error.call(), error.errno()), (Some(Call::IocSetBpf), Some(Errno::EINVAL)));
    assert!(Error::from(error).to_string().contains("of a type that the event does not take"), "{error}");
}

#[test]
fn load_and_unload_of_a_bpf_program_are_recorded() {
    let Some(mut ring) = sideband(AttrFlags::BPF_EVENT, Target::calling_thread()) else { return };
    let Some(()) = during(&ring, || load_or_skip(BpfProgType::SOCKET_FILTER, 0).map(drop)) else { return };
    let found = filter_map(&mut ring, |record| match record {
        Record::BpfEvent(event) => Some((event.bpf_type(), (event.id(), event.tag().to_owned()))),
        _ => None,
    });
    let (kinds, programs): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    assert_eq!(kinds, [BpfEventType::PROG_LOAD, BpfEventType::PROG_UNLOAD]);
    assert_eq!(programs[0], programs[1]);
    assert!(programs[0].0 > 0 && programs[0].1 != [0; BPF_TAG_SIZE], "{programs:?}");
}

#[test]
fn code_of_a_bpf_program_is_a_kernel_symbol() {
    let Some(mut ring) = sideband(AttrFlags::KSYMBOL, Target::calling_thread()) else { return };
    let Some(()) = during(&ring, || load_or_skip(BpfProgType::SOCKET_FILTER, 0).map(drop)) else { return };
    let found = filter_map(&mut ring, |record| match record {
        Record::Ksymbol(symbol) => {
            assert_eq!(symbol.ksym_type(), KsymbolType::BPF);
            assert!(symbol.name().starts_with(b"bpf_prog_"), "{symbol}");
            Some((symbol.flags(), (symbol.addr(), symbol.len(), symbol.name().to_owned())))
        }
        _ => None,
    });
    if found.is_empty()
        && std::fs::read("/proc/sys/net/core/bpf_jit_enable").is_ok_and(|value| value == b"0\n")
    {
        return eprintln!("skipped: BPF programs are interpreted here and have no code");
    }
    let (flags, symbols): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    assert_eq!(flags, [KsymbolFlags::empty(), KsymbolFlags::UNREGISTER]);
    assert_eq!(symbols[0], symbols[1]);
    assert!(symbols[0].0 > 0 && symbols[0].1 > 0, "{symbols:?}");
}
