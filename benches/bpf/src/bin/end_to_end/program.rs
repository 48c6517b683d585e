//! The program that writes the records: 16 of 64 bytes for each `getpgid` of the producer.

use std::os::fd::{AsFd, AsRawFd};

use perf_bpf::sys::abi::bpf::BpfInsn;
use perf_bpf::{BpfMapType, BpfProgType, Error, Map, MapSpec, ProgramFd};

/// Records that one system call of the producer writes.
pub(crate) const RECORDS: u64 = 16;

/// Bytes of each record.
pub(crate) const SIZE: i16 = 64;

/// The kind of map that the program writes into.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Array,
    Ring,
}

/// Counted by the program: records that it tried to write, and those that the kernel refused.
pub(crate) struct Counters(Map<u32, [u64; 2]>);

impl Counters {
    pub(crate) fn create() -> Result<Self, Error> {
        Ok(Self(Map::create(MapSpec::new(BpfMapType::ARRAY, 1))?))
    }

    /// Returns the records tried and refused.
    pub(crate) fn read(&self) -> Result<[u64; 2], Error> {
        Ok(self.0.lookup(&0)?.unwrap_or_default())
    }
}

/// Loads the program, for the raw tracepoint `sys_enter`.
pub(crate) fn load(
    kind: Kind,
    map: &impl AsRawFd,
    counters: &Counters,
    producer: i32,
) -> Result<ProgramFd, Error> {
    let insn = BpfInsn::new;
    let getpgid = libc::SYS_getpgid as i32;
    // `BPF_PSEUDO_MAP_FD` is the source register of the first half.
    let map_in = |register: u8, map: i32| [insn(0x18, register, 1, 0, map), insn(0, 0, 0, 0, 0)];
    let done = [insn(0xb7, 0, 0, 0, 0), insn(0x95, 0, 0, 0, 0)]; // return 0
    let mut code = vec![
        insn(0xbf, 6, 1, 0, 0),       // r6 = ctx
        insn(0x79, 1, 6, 8, 0),       // r1 = the system call's number
        insn(0x15, 1, 0, 2, getpgid), // if r1 == getpgid goto +2
    ];
    code.extend(done);
    code.extend([
        insn(0x85, 0, 0, 0, 14),       // bpf_get_current_pid_tgid()
        insn(0xbc, 0, 0, 0, 0),        // w0 = w0
        insn(0x15, 0, 0, 2, producer), // if r0 == producer goto +2
    ]);
    code.extend(done);
    code.extend([
        insn(0x62, 10, 0, -4, 0), // *(u32 *)(r10 - 4) = 0
        insn(0xbf, 2, 10, 0, 0),  // r2 = r10
        insn(0x07, 2, 0, 0, -4),  // r2 -= 4
    ]);
    code.extend(map_in(1, counters.0.fd().as_fd().as_raw_fd()));
    code.extend([
        insn(0x85, 0, 0, 0, 1), // bpf_map_lookup_elem()
        insn(0x55, 0, 0, 2, 0), // if r0 != 0 goto +2
    ]);
    code.extend(done);
    code.extend([
        insn(0xbf, 7, 0, 0, 0),              // r7 = r0
        insn(0x79, 1, 7, 0, 0),              // r1 = tried
        insn(0x07, 1, 0, 0, RECORDS as i32), // r1 += RECORDS
        insn(0x7b, 7, 1, 0, 0),              // tried = r1
    ]);
    let data = -8 - SIZE;
    for offset in (data..-8).step_by(8) {
        code.push(insn(0x7a, 10, 0, offset, 1)); // *(u64 *)(r10 + offset) = 1
    }
    for number in 0..RECORDS as i32 {
        code.push(insn(0x62, 10, 0, data, number));
        code.extend(map_in(if kind == Kind::Array { 2 } else { 1 }, map.as_raw_fd()));
        match kind {
            Kind::Array => code.extend([
                insn(0xbf, 1, 6, 0, 0),               // r1 = ctx
                insn(0xb4, 3, 0, 0, -1),              // r3 = BPF_F_CURRENT_CPU
                insn(0xbf, 4, 10, 0, 0),              // r4 = r10
                insn(0x07, 4, 0, 0, i32::from(data)), // r4 += data
                insn(0xb7, 5, 0, 0, i32::from(SIZE)), // r5 = SIZE
                insn(0x85, 0, 0, 0, 25),              // bpf_perf_event_output()
            ]),
            Kind::Ring => code.extend([
                insn(0xbf, 2, 10, 0, 0),              // r2 = r10
                insn(0x07, 2, 0, 0, i32::from(data)), // r2 += data
                insn(0xb7, 3, 0, 0, i32::from(SIZE)), // r3 = SIZE
                insn(0xb7, 4, 0, 0, 0),               // r4 = 0: wake the reader if it waits
                insn(0x85, 0, 0, 0, 130),             // bpf_ringbuf_output()
            ]),
        }
        code.extend([
            insn(0x15, 0, 0, 3, 0), // if r0 == 0 goto +3
            insn(0x79, 1, 7, 8, 0), // r1 = refused
            insn(0x07, 1, 0, 0, 1), // r1 += 1
            insn(0x7b, 7, 1, 8, 0), // refused = r1
        ]);
    }
    code.extend(done);
    ProgramFd::load(BpfProgType::RAW_TRACEPOINT, &code, c"GPL", "end_to_end".parse()?)
}
