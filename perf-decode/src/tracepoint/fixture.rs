//! The tracepoint that the unit tests share: `sched_switch` of Linux 6.18, x86-64.

pub(super) const SCHED_SWITCH: &str = "name: sched_switch
ID: 372
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: \"prev_comm=%s prev_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->next_prio
";

/// One switch from `thr` to `cargo`, with the 4 bytes of padding that RAW adds.
pub(super) fn sched_switch_payload() -> [u8; 68] {
    let mut raw = [0; 68];
    raw[..2].copy_from_slice(&372u16.to_ne_bytes()); // common_type
    raw[4..8].copy_from_slice(&27788i32.to_ne_bytes()); // common_pid
    raw[8..11].copy_from_slice(b"thr"); // prev_comm
    raw[24..28].copy_from_slice(&27788i32.to_ne_bytes()); // prev_pid
    raw[28..32].copy_from_slice(&120i32.to_ne_bytes()); // prev_prio
    raw[32..40].copy_from_slice(&(-1i64).to_ne_bytes()); // prev_state
    raw[40..45].copy_from_slice(b"cargo"); // next_comm
    raw[56..60].copy_from_slice(&27790i32.to_ne_bytes()); // next_pid
    raw[60..64].copy_from_slice(&139i32.to_ne_bytes()); // next_prio
    raw
}
