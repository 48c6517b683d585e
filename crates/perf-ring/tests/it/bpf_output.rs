//! Records that a BPF program writes, read by the code of the page
//! `coming_from::libbpf_perf_buffer`, with a map and a program.

use std::fs::read_to_string;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::parent_id;
use std::time::Duration;

use perf_ring::abi::bpf::{BpfCmd, BpfInsn, BpfMapCreate, BpfMapElem, BpfMapType, BpfProgLoad, BpfProgType};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

use crate::prelude::*;

const ATTR: Attr =
    Attr::software(Software::BPF_OUTPUT).with_sample_type(SampleType::RAW).with_wakeup_events(1);

fn open(
    cpus: impl Iterator<Item = u32>,
    pages: usize,
    mut update: impl FnMut(u32, RawFd) -> io::Result<()>,
) -> Result<RingSet<u32>, Box<dyn std::error::Error>> {
    let mut set = RingSet::new()?;
    for cpu in cpus {
        let ring = Ring::map(Event::open(&ATTR, Target::cpu(cpu))?, pages)?;
        update(cpu, ring.as_raw_fd())?;
        set.add(cpu, ring)?;
    }
    Ok(set)
}

fn poll(
    set: &mut RingSet<u32>,
    timeout: Duration,
    mut sample_cb: impl FnMut(u32, &[u8]),
    mut lost_cb: impl FnMut(u32, u64),
) -> Result<(), Box<dyn std::error::Error>> {
    const LAYOUT: SampleLayout = SampleLayout::new(&ATTR);
    set.wait(Some(timeout))?;
    for (&cpu, batch) in set.ready() {
        for record in batch?.records() {
            match record?.decode(&LAYOUT)? {
                Record::Sample(sample) => sample_cb(cpu, sample.raw().unwrap_or(&[])),
                Record::Lost(lost) => lost_cb(cpu, lost.lost()),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Makes the system call `bpf(cmd, argument, size)`.
fn bpf<T>(cmd: BpfCmd, argument: &T) -> io::Result<i32> {
    // SAFETY: the command takes this argument; the memory that it points to outlives the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, cmd.0, &raw const *argument, size_of::<T>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}

fn bpf_fd<T>(cmd: BpfCmd, argument: &T) -> io::Result<OwnedFd> {
    // SAFETY: the kernel has just opened it.
    bpf(cmd, argument).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

fn address<T: ?Sized>(value: *const T) -> u64 {
    value.cast::<u8>().expose_provenance() as u64
}

/// Loads a program for a tracepoint. It writes the result of `bpf_get_current_pid_tgid`.
fn load(map: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let code = [
        BpfInsn::new(0xbf, 6, 1, 0, 0),               // r6 = ctx
        BpfInsn::new(0x85, 0, 0, 0, 14),              // r0 = bpf_get_current_pid_tgid()
        BpfInsn::new(0x7b, 10, 0, -8, 0),             // *(u64 *)(r10 - 8) = r0
        BpfInsn::new(0xbf, 1, 6, 0, 0),               // r1 = ctx
        BpfInsn::new(0x18, 2, 1, 0, map.as_raw_fd()), // r2 = map
        BpfInsn::new(0, 0, 0, 0, 0),                  //
        BpfInsn::new(0xb4, 3, 0, 0, -1),              // r3 = BPF_F_CURRENT_CPU
        BpfInsn::new(0xbf, 4, 10, 0, 0),              // r4 = r10
        BpfInsn::new(0x07, 4, 0, 0, -8),              // r4 -= 8
        BpfInsn::new(0xb7, 5, 0, 0, 8),               // r5 = 8
        BpfInsn::new(0x85, 0, 0, 0, 25),              // bpf_perf_event_output()
        BpfInsn::new(0xb7, 0, 0, 0, 1),               // r0 = 1
        BpfInsn::new(0x95, 0, 0, 0, 0),               // exit
    ];
    let mut load = BpfProgLoad::new();
    load.prog_type = BpfProgType::TRACEPOINT;
    load.insn_cnt = code.len() as u32;
    load.insns = address(code.as_ptr());
    load.license = address(c"GPL".as_ptr());
    bpf_fd(BpfCmd::PROG_LOAD, &load)
}

#[test]
fn records_of_a_program_arrive_in_the_ring_of_their_cpu() {
    let Some(attr) = tracepoint("syscalls/sys_enter_getppid") else { return };
    let Some(event) = own(&attr) else { return };
    let possible = read_to_string("/sys/devices/system/cpu/possible").unwrap();
    let last: u32 = possible.trim().rsplit(['-', ',']).next().unwrap().parse().unwrap();
    let mut create = BpfMapCreate::new();
    create.map_type = BpfMapType::PERF_EVENT_ARRAY;
    create.key_size = 4;
    create.value_size = 4;
    create.max_entries = last + 1;
    let map = match bpf_fd(BpfCmd::MAP_CREATE, &create) {
        Ok(map) => map,
        Err(error) => return skip(format_args!("BPF_MAP_CREATE: {error}")),
    };
    let program = load(map.as_fd()).unwrap();
    let update = |cpu: u32, value: RawFd| {
        let (key, value) = (address(&raw const cpu), address(&raw const value));
        let mut elem = BpfMapElem::new();
        elem.map_fd = map.as_raw_fd().unsigned_abs();
        elem.key = key;
        elem.value = value;
        bpf(BpfCmd::MAP_UPDATE_ELEM, &elem).map(drop)
    };
    let online = on_each_cpu(|cpu| Event::open(&ATTR, Target::cpu(cpu))).unwrap();
    let mut set = open(online.into_iter().map(|(cpu, _)| cpu), 1, update).unwrap();
    event.set_bpf(&program).unwrap();
    event.enable().unwrap();

    // On one CPU, so that the record of the last call follows the losses in one ring.
    let mut cpu = CpuSet::new();
    cpu.set(sched_getcpu());
    sched_setaffinity(None, &cpu).unwrap();
    let (mut own, mut lost) = (0, 0);
    let mut read = |set: &mut RingSet<u32>| {
        let sample = |_, bytes: &[u8]| {
            let ids = u64::from_ne_bytes(bytes[..8].try_into().unwrap());
            own += u64::from(ids as u32 == tid());
        };
        poll(set, Duration::from_millis(200), sample, |_, records| lost += records).unwrap();
    };
    for _ in 0..10 {
        let _ = parent_id();
    }
    read(&mut set);
    for _ in 0..1000 {
        let _ = parent_id(); // more than a page holds
    }
    read(&mut set);
    let _ = parent_id(); // a LOST record precedes the next one
    read(&mut set);
    event.disable().unwrap();
    assert!(own > 100, "{own}");
    assert!(lost > 0 && own + lost >= 1011, "{own} read, {lost} lost");
}
