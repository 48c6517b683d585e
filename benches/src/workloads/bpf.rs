//! The program that writes [`RECORDS`] records per run. The first 4 bytes of each are its number in
//! the run.

use std::os::fd::AsRawFd;

use perf_bpf::ring::abi::bpf::BpfInsn;
use perf_bpf::{BpfProgType, Error, ProgramFd};

/// Number of records that one run of a program writes.
pub const RECORDS: u64 = 16;

/// The kind of map that the program writes into.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Array,
    Ring,
}

/// Loads the program, for `test_run`. Its records have `size` bytes, a multiple of 4.
pub fn load(kind: Kind, map: &impl AsRawFd, size: i16) -> Result<ProgramFd, Error> {
    const NO_WAKEUP: i32 = 1;
    let insn = BpfInsn::new;
    let mut code = vec![insn(0xbf, 6, 1, 0, 0)]; // r6 = ctx
    code.extend((-size..0).step_by(4).map(|offset| insn(0x62, 10, 0, offset, i32::from(offset))));
    for number in 0..RECORDS {
        // The source register of the map's first half is `BPF_PSEUDO_MAP_FD`.
        code.extend([
            insn(0x62, 10, 0, -size, number as i32),
            insn(0x18, if kind == Kind::Array { 2 } else { 1 }, 1, 0, map.as_raw_fd()),
            insn(0, 0, 0, 0, 0),
        ]);
        match kind {
            Kind::Array => code.extend([
                insn(0xbf, 1, 6, 0, 0),                // r1 = ctx
                insn(0xb4, 3, 0, 0, -1),               // r3 = BPF_F_CURRENT_CPU
                insn(0xbf, 4, 10, 0, 0),               // r4 = r10
                insn(0x07, 4, 0, 0, -i32::from(size)), // r4 -= size
                insn(0xb7, 5, 0, 0, i32::from(size)),  // r5 = size
                insn(0x85, 0, 0, 0, 25),               // bpf_perf_event_output()
            ]),
            Kind::Ring => code.extend([
                insn(0xbf, 2, 10, 0, 0),               // r2 = r10
                insn(0x07, 2, 0, 0, -i32::from(size)), // r2 -= size
                insn(0xb7, 3, 0, 0, i32::from(size)),  // r3 = size
                insn(0xb7, 4, 0, 0, NO_WAKEUP),        // r4 = BPF_RB_NO_WAKEUP
                insn(0x85, 0, 0, 0, 130),              // bpf_ringbuf_output()
            ]),
        }
    }
    code.extend([insn(0xb7, 0, 0, 0, 0), insn(0x95, 0, 0, 0, 0)]); // return 0
    ProgramFd::load(BpfProgType::RAW_TRACEPOINT, &code, c"GPL", "bench".parse()?)
}
