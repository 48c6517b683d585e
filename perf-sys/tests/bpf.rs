//! BPF programs beside events: attached to them, and told of by their records.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;

use perf_abi::bpf::{BPF_TAG_SIZE, BpfCmd, BpfInsn, BpfProgLoad, BpfProgType};
use perf_abi::{AttrFlags, BpfEventType, KsymbolFlags, KsymbolType};
use perf_decode::Record;
use perf_sys::{Call, Errno, Target};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use support::{count, during, kinds, open_or_skip, ring, sideband, skip, switch, switches, told, tracepoint};

/// A program that answers `answer`, loaded until it is dropped.
fn load(prog_type: BpfProgType, answer: i32) -> Result<OwnedFd, Errno> {
    let code = [
        BpfInsn::new(0xb7, 0, 0, 0, answer), // mov r0, answer
        BpfInsn::new(0x95, 0, 0, 0, 0),      // exit
    ];
    let load = BpfProgLoad {
        prog_type,
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
        return Err(Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap()));
    }
    // SAFETY: the kernel just made it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// As [`load`], or says why not.
#[track_caller]
fn load_or_skip(prog_type: BpfProgType, answer: i32) -> Option<OwnedFd> {
    load(prog_type, answer).map_err(|errno| skip(format_args!("BPF_PROG_LOAD: {errno}"))).ok()
}

#[test]
fn a_program_decides_which_samples_are_written() {
    for (answer, written) in [(0, false), (1, true)] {
        let Some(program) = load_or_skip(BpfProgType::PERF_EVENT, answer) else { return };
        let Some(mut ring) = ring(&switches()) else { return };
        ring.event().set_bpf(program.as_fd()).unwrap();
        during(&ring, || switch(3));
        assert!(count(ring.event()) >= 3);
        assert_eq!(kinds(&mut ring).len() >= 3, written);
        let second = ring.event().set_bpf(program.as_fd()).unwrap_err();
        assert_eq!(second.errno(), Some(Errno::EEXIST));
        assert!(second.to_string().contains("already has a program"), "{second}");
    }
}

#[test]
fn a_tracepoint_tells_its_programs() {
    let Some(attr) = tracepoint("syscalls/sys_enter_getpriority") else { return };
    let Some(mut ring) = sideband(AttrFlags::BPF_EVENT, Target::calling_thread()) else { return };
    // Such a program runs for everybody's hits: it lets all of them be counted.
    let Some(program) = during(&ring, || load_or_skip(BpfProgType::TRACEPOINT, 1)) else { return };
    let Some(event) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    event.set_bpf(program.as_fd()).unwrap();
    let ids = told(&mut ring, |record| match record {
        Record::BpfEvent(event) => Some(event.id()),
        _ => None,
    });
    assert_eq!(ids.len(), 1);
    // Others may have theirs on it too.
    assert!(event.query_bpf().unwrap().contains(&ids[0]));
}

#[test]
fn a_program_of_another_type_is_refused() {
    let Some(program) = load_or_skip(BpfProgType::SOCKET_FILTER, 0) else { return };
    let Some(event) = open_or_skip(&switches(), Target::calling_thread()) else {
        return;
    };
    let error = event.set_bpf(program.as_fd()).unwrap_err();
    assert_eq!((error.call(), error.errno()), (Some(Call::IocSetBpf), Some(Errno::EINVAL)));
    assert!(error.to_string().contains("of a type that the event does not take"), "{error}");
}

#[test]
fn a_bpf_program_is_told_when_it_comes_and_when_it_goes() {
    let Some(mut ring) = sideband(AttrFlags::BPF_EVENT, Target::calling_thread()) else { return };
    let Some(()) = during(&ring, || load_or_skip(BpfProgType::SOCKET_FILTER, 0).map(drop)) else { return };
    let told = told(&mut ring, |record| match record {
        Record::BpfEvent(event) => Some((event.bpf_type(), (event.id(), event.tag().to_owned()))),
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
    let Some(()) = during(&ring, || load_or_skip(BpfProgType::SOCKET_FILTER, 0).map(drop)) else { return };
    let told = told(&mut ring, |record| match record {
        Record::Ksymbol(symbol) => {
            assert_eq!(symbol.ksym_type(), KsymbolType::BPF);
            assert!(symbol.name().starts_with(b"bpf_prog_"), "{symbol}");
            Some((symbol.flags(), (symbol.addr(), symbol.len(), symbol.name().to_owned())))
        }
        _ => None,
    });
    if told.is_empty()
        && std::fs::read("/proc/sys/net/core/bpf_jit_enable").is_ok_and(|value| value == b"0\n")
    {
        return eprintln!("skipped: BPF programs are interpreted here and have no code");
    }
    let (flags, symbols): (Vec<_>, Vec<_>) = told.into_iter().unzip();
    assert_eq!(flags, [KsymbolFlags::empty(), KsymbolFlags::UNREGISTER]);
    assert_eq!(symbols[0], symbols[1]);
    assert!(symbols[0].0 > 0 && symbols[0].1 > 0, "{symbols:?}");
}
