//! The record kinds of the kernel: one row here and one file beside this one for each.

use perf_abi::RecordType;

use crate::{Field, Layout, RawRecord, Result, Sample, SampleLayout, Value, sample};

mod check;
mod common;
mod fields;
#[macro_use]
mod macros;
#[macro_use]
mod mapping;
#[macro_use]
mod view;

use check::{Body, LengthCheck};
pub use fields::RecordFields;
pub use mmap2::MappedFile;
pub use switch::SwitchDirection;
use view::View;

records! {
    // kind => file::View, the end of the body, its fields in order with their form
    MMAP => mmap::Mmap, name(filename),
        { pid: task, tid: task, addr: hex, len: hex, pgoff: hex, filename: text };
    LOST => lost::Lost, fixed,
        { id: number, lost: number };
    COMM => comm::Comm, name(comm),
        { pid: task, tid: task, comm: text };
    EXIT => exit::Exit, fixed,
        { pid: task, ppid: task, tid: task, ptid: task, time: number = own_time };
    THROTTLE => throttle::Throttle, fixed,
        { time: number = own_time, id: number, stream_id: number };
    UNTHROTTLE => unthrottle::Unthrottle, fixed,
        { time: number = own_time, id: number, stream_id: number };
    FORK => fork::Fork, fixed,
        { pid: task, ppid: task, tid: task, ptid: task, time: number = own_time };
    READ => read::Read, end,
        { pid: task, tid: task, read: counts };
    MMAP2 => mmap2::Mmap2, end_or_name(filename),
        { pid: task, tid: task, addr: hex, len: hex, pgoff: hex, maj: some_number, min: some_number,
          ino: some_number, ino_generation: some_number, build_id: some_bytes, prot: number, flags: number,
          filename: text };
    AUX => aux::Aux, fixed,
        { aux_offset: number, aux_size: number, flags: aux_flags };
    ITRACE_START => itrace_start::ItraceStart, fixed,
        { pid: task, tid: task };
    LOST_SAMPLES => lost_samples::LostSamples, fixed,
        { lost: number };
    SWITCH => switch::Switch, fixed,
        {};
    SWITCH_CPU_WIDE => switch_cpu_wide::SwitchCpuWide, fixed,
        { next_prev_pid: task, next_prev_tid: task };
    NAMESPACES => namespaces::Namespaces, end,
        { pid: task, tid: task, namespaces: namespaces };
    KSYMBOL => ksymbol::Ksymbol, end_then_trailer,
        { addr: hex, len: number, ksym_type: ksymbol_type, flags: ksymbol_flags, name: text };
    BPF_EVENT => bpf_event::BpfEvent, end_then_trailer,
        { bpf_type: bpf_event_type, flags: number, id: number, tag: bytes };
    CGROUP => cgroup::Cgroup, name(path),
        { id: number, path: text };
    TEXT_POKE => text_poke::TextPoke, end_then_trailer,
        { addr: hex, old_len: number, new_len: number, bytes: bytes };
    AUX_OUTPUT_HW_ID => aux_output_hw_id::AuxOutputHwId, fixed,
        { hw_id: hex };
    CALLCHAIN_DEFERRED => callchain_deferred::CallchainDeferred, end,
        { cookie: hex, ips: words };
}

/// Returns the words of header and body of a record whose trailer follows its body; `None` if it is
/// malformed.
pub(crate) fn words_of_body(raw: RawRecord<'_>) -> Option<usize> {
    /// The layout of an event without `sample_id_all`, whose records end with the body.
    const NO_TRAILER: &SampleLayout =
        &SampleLayout::new(&perf_abi::Attr::new(perf_abi::EventType::SOFTWARE, 0));
    check::whole(raw.words(), NO_TRAILER).map(<[u64]>::len)
}

/// Returns whether the kind has a row in the table above.
pub(crate) fn has_row(kind: RecordType) -> bool {
    body_end(kind).is_some()
}

#[cfg(test)]
mod tests;
