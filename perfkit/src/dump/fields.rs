//! The fields of every kind of record, by the names that the kernel's header gives them.

use perf_abi::ReadFormat;
use perf_decode::{Count, MappedFile, ReadValues, Record, SampleId};

use super::json::{Json, Object};
use super::sample;

/// All fields of a record and of its trailer.
pub(super) fn fields<'a>(record: &Record<'a>, trailer: Option<&SampleId<'a>>) -> Object<'a> {
    let mut fields = body(record);
    let trailer = trailer.filter(|trailer| !trailer.is_empty());
    fields.extend(trailer.map(|trailer| ("sample_id", Json::Object(sample_id(trailer)))));
    fields
}

fn body<'a>(record: &Record<'a>) -> Object<'a> {
    match record {
        Record::Sample(sample) => sample::fields(sample),
        Record::Mmap(map) => {
            let mut fields = mapping(map.pid, map.tid, [map.addr, map.len, map.pgoff]);
            fields.extend([("filename", Json::text(map.filename))]);
            fields
        }
        Record::Mmap2(map) => {
            let mut fields = mapping(map.pid, map.tid, [map.addr, map.len, map.pgoff]);
            fields.append(file(map.file));
            fields.extend([
                ("prot", map.prot.into()),
                ("flags", map.flags.into()),
                ("filename", Json::text(map.filename)),
            ]);
            fields
        }
        Record::Lost(lost) => [("id", lost.id.into()), ("lost", lost.lost.into())].into(),
        Record::LostSamples(lost) => [("lost", lost.lost.into())].into(),
        Record::Comm(comm) => with_task(comm.pid, comm.tid, [("comm", Json::text(comm.comm))]),
        Record::Exit(exit) => family([exit.pid, exit.ppid, exit.tid, exit.ptid], exit.time),
        Record::Fork(fork) => family([fork.pid, fork.ppid, fork.tid, fork.ptid], fork.time),
        Record::Throttle(throttle) | Record::Unthrottle(throttle) => [
            ("time", throttle.time.into()),
            ("id", throttle.id.into()),
            ("stream_id", throttle.stream_id.into()),
        ]
        .into(),
        Record::Read(read) => with_task(read.pid, read.tid, [("read", Json::Object(counts(&read.values)))]),
        Record::ItraceStart(start) => with_task(start.pid, start.tid, []),
        // The direction is in `misc`.
        Record::Switch(_) => [].into(),
        Record::SwitchCpuWide(switch) => [
            ("next_prev_pid", Json::Task(switch.next_prev_pid)),
            ("next_prev_tid", Json::Task(switch.next_prev_tid)),
        ]
        .into(),
        Record::Namespaces(record) => {
            let link = |link: &perf_abi::NamespaceLink| {
                Json::Object([("dev", link.dev.into()), ("ino", link.inode.into())].into())
            };
            let links = record.namespaces.iter().map(link).collect();
            with_task(record.pid, record.tid, [("namespaces", Json::List(links))])
        }
        other => rare(other),
    }
}

/// The kinds that few programs ask for.
fn rare<'a>(record: &Record<'a>) -> Object<'a> {
    match *record {
        Record::Ksymbol(symbol) => [
            ("len", symbol.len.into()),
            ("ksym_type", u64::from(symbol.kind.0).into()),
            ("flags", u64::from(symbol.flags.bits()).into()),
            ("addr", Json::Hex(symbol.addr)),
            ("name", Json::text(symbol.name)),
        ]
        .into(),
        Record::BpfEvent(event) => [
            ("bpf_type", u64::from(event.kind.0).into()),
            ("flags", u64::from(event.flags).into()),
            ("id", event.id.into()),
            ("tag", Json::Bytes(event.tag.to_vec().into())),
        ]
        .into(),
        Record::Cgroup(cgroup) => [("id", cgroup.id.into()), ("path", Json::text(cgroup.path))].into(),
        Record::TextPoke(poke) => [
            ("addr", Json::Hex(poke.addr)),
            ("old_len", (poke.old.len() as u64).into()),
            ("new_len", (poke.new.len() as u64).into()),
            ("bytes", Json::Bytes([poke.old, poke.new].concat().into())),
        ]
        .into(),
        Record::Aux(aux) => [
            ("aux_offset", aux.aux_offset.into()),
            ("aux_size", aux.aux_size.into()),
            ("flags", Json::Hex(aux.flags.bits())),
        ]
        .into(),
        Record::AuxOutputHwId(id) => [("hw_id", Json::Hex(id.hw_id))].into(),
        Record::CallchainDeferred(chain) => {
            [("cookie", Json::Hex(chain.cookie)), ("ips", Json::addresses(chain.ips))].into()
        }
        Record::Unknown(raw) => [("raw", Json::bytes(raw.bytes().get(8..).unwrap_or_default()))].into(),
        // A kind newer than this program is better printed than left out.
        other => [("text", Json::Text(other.to_string().into()))].into(),
    }
}

/// What most bodies start with.
fn with_task<'a, const N: usize>(pid: u32, tid: u32, more: [(&'static str, Json<'a>); N]) -> Object<'a> {
    [("pid", Json::Task(pid)), ("tid", Json::Task(tid))].into_iter().chain(more).collect()
}

fn family<'a>([pid, ppid, tid, ptid]: [u32; 4], time: u64) -> Object<'a> {
    [
        ("pid", Json::Task(pid)),
        ("ppid", Json::Task(ppid)),
        ("tid", Json::Task(tid)),
        ("ptid", Json::Task(ptid)),
        ("time", time.into()),
    ]
    .into()
}

fn mapping<'a>(pid: u32, tid: u32, [addr, len, pgoff]: [u64; 3]) -> Object<'a> {
    with_task(pid, tid, [("addr", Json::Hex(addr)), ("len", Json::Hex(len)), ("pgoff", Json::Hex(pgoff))])
}

fn file(file: MappedFile<'_>) -> Object<'_> {
    match file {
        MappedFile::Inode { major, minor, inode, generation } => [
            ("maj", major.into()),
            ("min", minor.into()),
            ("ino", inode.into()),
            ("ino_generation", generation.into()),
        ]
        .into(),
        MappedFile::BuildId(id) => [("build_id", Json::bytes(id))].into(),
    }
}

fn sample_id<'a>(trailer: &SampleId<'_>) -> Object<'a> {
    let number = |name, value: Option<u64>| value.map(|value| (name, Json::Number(value)));
    [
        trailer.pid().map(|pid| ("pid", Json::Task(pid))),
        trailer.tid().map(|tid| ("tid", Json::Task(tid))),
        number("time", trailer.time()),
        number("id", trailer.id()),
        number("stream_id", trailer.stream_id()),
        number("cpu", trailer.cpu().map(u64::from)),
        number("identifier", trailer.identifier()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The counts of one event, or of a group with its members in a list.
pub(super) fn counts<'a>(values: &ReadValues<'_>) -> Object<'a> {
    let times = [("time_enabled", values.time_enabled()), ("time_running", values.time_running())];
    let times = times.into_iter().filter_map(|(name, time)| Some((name, Json::Number(time?))));
    if values.format().contains(ReadFormat::GROUP) {
        let members = values.iter().map(|member| Json::Object(count(member).collect())).collect();
        return times.chain([("values", Json::List(members))]).collect();
    }
    let mut entries = values.iter().take(1).flat_map(count);
    entries.next().into_iter().chain(times).chain(entries).collect()
}

fn count<'a>(Count { value, id, lost }: Count) -> impl Iterator<Item = (&'static str, Json<'a>)> {
    let entries = [("value", Some(value)), ("id", id), ("lost", lost)];
    entries.into_iter().filter_map(|(name, number)| Some((name, Json::Number(number?))))
}
