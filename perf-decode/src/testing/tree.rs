//! What the decoder of this crate finds, in the naive decoder's tree: to be compared with `==`.

mod parts;

use perf_abi::RecordType;
use std::{vec, vec::Vec};

pub use parts::read_tree;

use super::reference::{Fields, Reference, Value};
use crate::{CallchainDeferred, MappedFile, Namespaces, RawRecord, Record, Result, SampleId, SampleLayout};

/// Decodes `raw` by [`RawRecord::decode`] and [`RawRecord::sample_id`] and copies all that they give into the
/// tree that [`reference::decode`](super::reference::decode) makes, with the same names in the same order.
///
/// ```
/// use perf_abi::{Attr, SampleType, Software};
/// use perf_decode::testing::{builder::SampleBuilder, reference, tree};
/// use perf_decode::{RawRecord, SampleLayout};
///
/// let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP | SampleType::CALLCHAIN);
/// let words = SampleBuilder::new(&attr).ip(7).callchain(&[7, 8]).finish();
/// let fast = tree(RawRecord::from_words(&words)?, &SampleLayout::new(&attr))?;
/// assert_eq!(Ok(fast), reference::decode(&words, &attr));
/// # Ok::<(), perf_decode::Error>(())
/// ```
///
/// # Errors
///
/// Those of the two.
pub fn tree(raw: RawRecord<'_>, layout: &SampleLayout) -> Result<Reference> {
    let record = raw.decode(layout)?;
    let trailer = raw.sample_id(layout)?;
    let header = raw.header();
    Ok(Reference {
        kind: header.kind.0,
        misc: header.misc.bits(),
        size: header.size,
        fields: body(raw.kind(), &record),
        trailer: sample_id(&trailer),
    })
}

fn body(kind: RecordType, record: &Record<'_>) -> Fields {
    match record {
        Record::Sample(sample) => sample.fields().flat_map(parts::field).collect(),
        Record::Mmap(map) => task(map.pid, map.tid)
            .chain(u64s([("addr", map.addr), ("len", map.len), ("pgoff", map.pgoff)]))
            .chain([("filename", map.filename.into())])
            .collect(),
        Record::Lost(lost) => u64s([("id", lost.id), ("lost", lost.lost)]).collect(),
        Record::Comm(comm) => task(comm.pid, comm.tid).chain([("comm", comm.comm.into())]).collect(),
        Record::Exit(exit) => family([exit.pid, exit.ppid, exit.tid, exit.ptid], exit.time),
        Record::Fork(fork) => family([fork.pid, fork.ppid, fork.tid, fork.ptid], fork.time),
        Record::Throttle(it) | Record::Unthrottle(it) => {
            u64s([("time", it.time), ("id", it.id), ("stream_id", it.stream_id)]).collect()
        }
        Record::Read(read) => task(read.pid, read.tid).chain([("read", read_tree(&read.values))]).collect(),
        Record::Mmap2(map) => task(map.pid, map.tid)
            .chain(u64s([("addr", map.addr), ("len", map.len), ("pgoff", map.pgoff)]))
            .chain(file(&map.file))
            .chain(u32s([("prot", map.prot), ("flags", map.flags)]))
            .chain([("filename", map.filename.into())])
            .collect(),
        Record::Aux(aux) => {
            u64s([("aux_offset", aux.aux_offset), ("aux_size", aux.aux_size), ("flags", aux.flags.bits())])
                .collect()
        }
        Record::ItraceStart(start) => task(start.pid, start.tid).collect(),
        Record::LostSamples(lost) => u64s([("lost", lost.lost)]).collect(),
        Record::Switch(_) => Fields::new(),
        Record::SwitchCpuWide(switch) => {
            u32s([("next_prev_pid", switch.next_prev_pid), ("next_prev_tid", switch.next_prev_tid)]).collect()
        }
        Record::Namespaces(namespaces) => of_namespaces(namespaces),
        Record::Ksymbol(symbol) => u64s([
            ("addr", symbol.addr),
            ("len", symbol.len.into()),
            ("ksym_type", symbol.kind.0.into()),
            ("flags", symbol.flags.bits().into()),
        ])
        .chain([("name", symbol.name.into())])
        .collect(),
        Record::BpfEvent(event) => {
            u64s([("bpf_type", event.kind.0.into()), ("flags", event.flags.into()), ("id", event.id.into())])
                .chain([("tag", event.tag[..].into())])
                .collect()
        }
        Record::Cgroup(cgroup) => u64s([("id", cgroup.id)]).chain([("path", cgroup.path.into())]).collect(),
        Record::TextPoke(poke) => u64s([
            ("addr", poke.addr),
            ("old_len", poke.old.len() as u64),
            ("new_len", poke.new.len() as u64),
        ])
        .chain([("bytes", Value::Bytes([poke.old, poke.new].concat()))])
        .collect(),
        Record::AuxOutputHwId(id) => u64s([("hw_id", id.hw_id)]).collect(),
        Record::CallchainDeferred(CallchainDeferred { cookie, ips }) => {
            u64s([("cookie", *cookie)]).chain([("ips", Value::numbers(ips.iter().copied()))]).collect()
        }
        Record::Unknown(raw) => {
            debug_assert_eq!(raw.kind(), kind);
            vec![("raw", raw.bytes().get(8..).unwrap_or_default().into())]
        }
    }
}

fn sample_id(id: &SampleId<'_>) -> Fields {
    let number = |name, value: Option<u64>| value.map(|value| (name, Value::U64(value)));
    [
        number("pid", id.pid().map(u64::from)),
        number("tid", id.tid().map(u64::from)),
        number("time", id.time()),
        number("id", id.id()),
        number("stream_id", id.stream_id()),
        number("cpu", id.cpu().map(u64::from)),
        number("identifier", id.identifier()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn u64s<const N: usize>(numbers: [(&'static str, u64); N]) -> impl Iterator<Item = (&'static str, Value)> {
    numbers.into_iter().map(|(name, number)| (name, Value::U64(number)))
}

fn u32s<const N: usize>(numbers: [(&'static str, u32); N]) -> impl Iterator<Item = (&'static str, Value)> {
    u64s(numbers.map(|(name, number)| (name, number.into())))
}

fn task(pid: u32, tid: u32) -> impl Iterator<Item = (&'static str, Value)> {
    u32s([("pid", pid), ("tid", tid)])
}

fn family([pid, ppid, tid, ptid]: [u32; 4], time: u64) -> Fields {
    u32s([("pid", pid), ("ppid", ppid), ("tid", tid), ("ptid", ptid)]).chain(u64s([("time", time)])).collect()
}

fn file(file: &MappedFile<'_>) -> Fields {
    match *file {
        MappedFile::Inode { major, minor, inode, generation } => u32s([("maj", major), ("min", minor)])
            .chain(u64s([("ino", inode), ("ino_generation", generation)]))
            .collect(),
        MappedFile::BuildId(id) => vec![("build_id", id.into())],
    }
}

fn of_namespaces(record: &Namespaces<'_>) -> Fields {
    let links: Vec<Value> = record
        .namespaces
        .iter()
        .map(|link| Value::map(u64s([("dev", link.dev), ("ino", link.inode)]).collect()))
        .collect();
    task(record.pid, record.tid).chain([("namespaces", Value::List(links))]).collect()
}
