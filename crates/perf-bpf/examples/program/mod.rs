//! Programs of a few instructions, in place of programs that a loader compiled.

#![allow(dead_code)] // each example uses one

use std::os::fd::{AsFd, AsRawFd};

use perf_bpf::{BpfInsn, BpfProgType, Error, ProgramFd};

/// Loads a program for a raw tracepoint. It writes the result of `bpf_get_current_pid_tgid`, 8
/// bytes, to a perf event array.
pub(crate) fn for_array(array: impl AsFd) -> Result<ProgramFd, Error> {
    let code = [
        BpfInsn::new(0xbf, 6, 1, 0, 0),                         // r6 = ctx
        BpfInsn::new(0x85, 0, 0, 0, 14),                        // r0 = bpf_get_current_pid_tgid()
        BpfInsn::new(0x7b, 10, 0, -8, 0),                       // *(u64 *)(r10 - 8) = r0
        BpfInsn::new(0xbf, 1, 6, 0, 0),                         // r1 = ctx
        BpfInsn::new(0x18, 2, 1, 0, array.as_fd().as_raw_fd()), // r2 = array
        BpfInsn::new(0, 0, 0, 0, 0),                            //
        BpfInsn::new(0xb4, 3, 0, 0, -1),                        // r3 = BPF_F_CURRENT_CPU
        BpfInsn::new(0xbf, 4, 10, 0, 0),                        // r4 = r10
        BpfInsn::new(0x07, 4, 0, 0, -8),                        // r4 -= 8
        BpfInsn::new(0xb7, 5, 0, 0, 8),                         // r5 = 8
        BpfInsn::new(0x85, 0, 0, 0, 25),                        // bpf_perf_event_output()
        BpfInsn::new(0xb7, 0, 0, 0, 0),                         // r0 = 0
        BpfInsn::new(0x95, 0, 0, 0, 0),                         // exit
    ];
    ProgramFd::load(BpfProgType::RAW_TRACEPOINT, &code, c"GPL", "to_array".parse()?)
}

/// Loads the program of [`for_array`] for a ring buffer map.
pub(crate) fn for_ring(ring: impl AsFd) -> Result<ProgramFd, Error> {
    let code = [
        BpfInsn::new(0x85, 0, 0, 0, 14),  // r0 = bpf_get_current_pid_tgid()
        BpfInsn::new(0x7b, 10, 0, -8, 0), // *(u64 *)(r10 - 8) = r0
        BpfInsn::new(0x18, 1, 1, 0, ring.as_fd().as_raw_fd()), // r1 = ring
        BpfInsn::new(0, 0, 0, 0, 0),      //
        BpfInsn::new(0xbf, 2, 10, 0, 0),  // r2 = r10
        BpfInsn::new(0x07, 2, 0, 0, -8),  // r2 -= 8
        BpfInsn::new(0xb7, 3, 0, 0, 8),   // r3 = 8
        BpfInsn::new(0xb7, 4, 0, 0, 0),   // r4 = 0
        BpfInsn::new(0x85, 0, 0, 0, 130), // bpf_ringbuf_output()
        BpfInsn::new(0xb7, 0, 0, 0, 0),   // r0 = 0
        BpfInsn::new(0x95, 0, 0, 0, 0),   // exit
    ];
    ProgramFd::load(BpfProgType::RAW_TRACEPOINT, &code, c"GPL", "to_ring".parse()?)
}

/// Returns the process id of a record.
pub(crate) fn process(bytes: &[u8]) -> Option<u32> {
    let word = u64::from_ne_bytes(bytes.get(..8)?.try_into().ok()?);
    Some((word >> 32) as u32)
}
