//! The body of each record kind.

use perf_abi::RecordType;

use super::FieldType::{
    AuxFlags, BpfEventType, BuildId, Bytes8, Counts, Hex, KsymbolFlags, KsymbolType, Name, Namespaces,
    Summed, Task, U16, U32, U64, Words,
};
use super::{Body, Fields, TrailerPosition};

const fn body(kind: RecordType, fields: Fields) -> Body {
    Body { kind, fields, fields_with_build_id: None, trailer: TrailerPosition::AtEnd }
}

/// A body that its trailer follows, as some kernels write words after the trailer.
const fn trailer_after(kind: RecordType, fields: Fields) -> Body {
    Body { trailer: TrailerPosition::AfterBody, ..body(kind, fields) }
}

const fn or_with_build_id(kind: RecordType, fields: Fields, with_build_id: Fields) -> Body {
    Body { fields_with_build_id: Some(with_build_id), ..body(kind, fields) }
}

/// The bodies of all kinds but samples, by number.
pub static BODIES: &[Body] = &[
    body(
        RecordType::MMAP,
        &[("pid", Task), ("tid", Task), ("addr", Hex), ("len", Hex), ("pgoff", Hex), ("filename", Name)],
    ),
    body(RecordType::LOST, &[("id", U64), ("lost", U64)]),
    body(RecordType::COMM, &[("pid", Task), ("tid", Task), ("comm", Name)]),
    body(RecordType::EXIT, &[("pid", Task), ("ppid", Task), ("tid", Task), ("ptid", Task), ("time", U64)]),
    body(RecordType::THROTTLE, &[("time", U64), ("id", U64), ("stream_id", U64)]),
    body(RecordType::UNTHROTTLE, &[("time", U64), ("id", U64), ("stream_id", U64)]),
    body(RecordType::FORK, &[("pid", Task), ("ppid", Task), ("tid", Task), ("ptid", Task), ("time", U64)]),
    body(RecordType::READ, &[("pid", Task), ("tid", Task), ("read", Counts)]),
    or_with_build_id(
        RecordType::MMAP2,
        &[
            ("pid", Task),
            ("tid", Task),
            ("addr", Hex),
            ("len", Hex),
            ("pgoff", Hex),
            ("maj", U32),
            ("min", U32),
            ("ino", U64),
            ("ino_generation", U64),
            ("prot", U32),
            ("flags", U32),
            ("filename", Name),
        ],
        &[
            ("pid", Task),
            ("tid", Task),
            ("addr", Hex),
            ("len", Hex),
            ("pgoff", Hex),
            ("build_id", BuildId),
            ("prot", U32),
            ("flags", U32),
            ("filename", Name),
        ],
    ),
    body(RecordType::AUX, &[("aux_offset", U64), ("aux_size", U64), ("flags", AuxFlags)]),
    body(RecordType::ITRACE_START, &[("pid", Task), ("tid", Task)]),
    body(RecordType::LOST_SAMPLES, &[("lost", U64)]),
    body(RecordType::SWITCH, &[]),
    body(RecordType::SWITCH_CPU_WIDE, &[("next_prev_pid", Task), ("next_prev_tid", Task)]),
    body(RecordType::NAMESPACES, &[("pid", Task), ("tid", Task), ("namespaces", Namespaces)]),
    trailer_after(
        RecordType::KSYMBOL,
        &[("addr", Hex), ("len", U32), ("ksym_type", KsymbolType), ("flags", KsymbolFlags), ("name", Name)],
    ),
    trailer_after(
        RecordType::BPF_EVENT,
        &[("bpf_type", BpfEventType), ("flags", U16), ("id", U32), ("tag", Bytes8)],
    ),
    body(RecordType::CGROUP, &[("id", U64), ("path", Name)]),
    trailer_after(
        RecordType::TEXT_POKE,
        &[("addr", Hex), ("old_len", U16), ("new_len", U16), ("bytes", Summed)],
    ),
    body(RecordType::AUX_OUTPUT_HW_ID, &[("hw_id", Hex)]),
    body(RecordType::CALLCHAIN_DEFERRED, &[("cookie", Hex), ("ips", Words)]),
];
