//! The fields of records that tools write in their own form, as JSON.

use std::borrow::Cow;

use perf_abi::RecordType;
use perf_file::format::record_type;
use perf_file::record::{AuxtraceError, CpuMap, EventUpdate, IdIndex, TimeConv, Update};
use perf_file::{FileAttr, FileRecord, Result, UserRecord};
use serde_json::{Value as Json, json};

use super::feature;
use super::json::{Object, bytes, hex, lossy, task, text};

/// The names of all fields of these records, sorted.
pub(super) const FIELDS: &[&str] = &[
    "attr",
    "auxtrace_type",
    "build_id",
    "cap_user_time_short",
    "cap_user_time_zero",
    "code",
    "compressed_bytes",
    "config",
    "content",
    "counters",
    "cpu",
    "cpus",
    "decompressed_bytes",
    "domain",
    "entries",
    "error_type",
    "event_id",
    "feature",
    "feature_name",
    "filename",
    "id",
    "ids",
    "idx",
    "ip",
    "machine_pid",
    "msg",
    "name",
    "offset",
    "pid",
    "priv",
    "prog_name",
    "raw",
    "reference",
    "round_type",
    "scale",
    "size",
    "thread",
    "threads",
    "tid",
    "time",
    "time_cycles",
    "time_enabled",
    "time_mask",
    "time_mult",
    "time_running",
    "time_shift",
    "time_zero",
    "timestamp",
    "unit",
    "val",
    "variables",
    "vcpu",
    "version",
];

/// Returns the name of a kind, of the kernel or of tools.
///
/// Those of tools are the names that `perf script -D` prints where they are shorter.
pub(super) fn name(kind: RecordType) -> Cow<'static, str> {
    match kind {
        record_type::HEADER_TRACING_DATA => "TRACING_DATA".into(),
        record_type::HEADER_FEATURE => "FEATURE".into(),
        _ => record_type::name(kind).map_or_else(|| kind.to_string().into(), Cow::from),
    }
}

/// Returns the fields of a record, none for a mark.
///
/// # Errors
///
/// Those of [`FileRecord::user`], and of the content of a feature.
pub(super) fn fields(record: &FileRecord<'_>) -> Result<Object> {
    let fields = match record.user()? {
        UserRecord::HeaderAttr(attr) => header_attr(&attr),
        UserRecord::HeaderEventType { event_id, name } => json!({"event_id": event_id, "name": text(name)}),
        UserRecord::HeaderTracingData { size } => json!({"size": size}),
        UserRecord::HeaderBuildId(id) => json!({
            "pid": id.pid, "build_id": bytes(id.build_id), "filename": text(id.filename),
        }),
        UserRecord::IdIndex(index) => id_index(&index),
        UserRecord::AuxtraceInfo(info) => json!({
            "auxtrace_type": info.kind.0, "priv": info.private.iter().map(hex).collect::<Json>(),
        }),
        UserRecord::Auxtrace(aux) => json!({
            "size": aux.size, "offset": aux.offset, "reference": hex(aux.reference), "idx": aux.index,
            "tid": task(aux.tid), "cpu": task(aux.cpu),
        }),
        UserRecord::AuxtraceError(error) => auxtrace_error(&error),
        UserRecord::ThreadMap(threads) => {
            let thread = |pid, comm| json!({"pid": signed(pid), "comm": text(comm)});
            json!({"threads": threads.iter().map(|entry| thread(entry.pid, entry.comm)).collect::<Json>()})
        }
        UserRecord::CpuMap(map) => json!({"cpus": cpus(&map)}),
        UserRecord::StatConfig(options) => {
            let option = |tag, value: u64| json!({"tag": tag, "val": value});
            json!({"config": options.iter().map(|entry| option(entry.tag.0, entry.value)).collect::<Json>()})
        }
        UserRecord::Stat(stat) => json!({
            "id": stat.id, "cpu": stat.cpu, "thread": stat.thread, "val": stat.value,
            "time_enabled": stat.time_enabled, "time_running": stat.time_running,
        }),
        UserRecord::StatRound(round) => json!({"round_type": round.kind.0, "time": round.time}),
        UserRecord::EventUpdate(update) => event_update(&update),
        UserRecord::TimeConv(time) => time_conv(&time),
        // The mark after the last feature has a number that a newer tool uses for a feature, and no content.
        UserRecord::HeaderFeature(section) if section.bytes.is_empty() => {
            json!({"feature": section.feature.0})
        }
        UserRecord::HeaderFeature(section) => json!({
            "feature": section.feature.0, "feature_name": section.feature.to_string(),
            "content": feature::value(&section)?,
        }),
        UserRecord::Compressed(data) => {
            let mut fields = Object::from_iter([("compressed_bytes".to_owned(), data.len().into())]);
            if let Some(len) = record.decompressed_len() {
                fields.insert("decompressed_bytes".to_owned(), len.into());
            }
            fields.into()
        }
        UserRecord::BpfMetadata(program) => {
            let variables = program.variables.iter();
            let variables: Object = variables.map(|one| (lossy(one.name), text(one.value))).collect();
            json!({"prog_name": text(program.program), "variables": variables})
        }
        UserRecord::Schedstat(stat) => json!({
            "timestamp": stat.timestamp, "cpu": stat.cpu, "version": stat.version, "domain": stat.domain,
            "counters": bytes(stat.counters),
        }),
        UserRecord::Unknown(data) => json!({"raw": bytes(data)}),
        // Marks, and kinds that this program does not know.
        _ => Json::Null,
    };
    Ok(match fields {
        Json::Object(fields) => fields,
        _ => Object::new(),
    })
}

fn header_attr(attr: &FileAttr<'_>) -> Json {
    json!({"attr": bytes(attr.bytes()), "ids": attr.ids().iter().map(Json::from).collect::<Json>()})
}

fn id_index(index: &IdIndex<'_>) -> Json {
    let mut guests = index.guests.iter();
    let entry = |entry: perf_file::record::IdIndexEntry| {
        let mut json = json!({
            "id": entry.id, "idx": entry.index, "cpu": signed(entry.cpu), "tid": signed(entry.tid),
        });
        if let (Some(guest), Some(json)) = (guests.next(), json.as_object_mut()) {
            json.insert("machine_pid".to_owned(), guest.machine_pid.into());
            json.insert("vcpu".to_owned(), guest.vcpu.into());
        }
        json
    };
    json!({"entries": index.entries.iter().map(entry).collect::<Json>()})
}

fn auxtrace_error(error: &AuxtraceError<'_>) -> Json {
    json!({
        "error_type": error.kind, "code": error.code, "cpu": task(error.cpu), "pid": task(error.pid),
        "tid": task(error.tid), "ip": hex(error.ip), "time": error.time, "msg": text(error.message),
        "machine_pid": error.guest.map(|(pid, _)| pid), "vcpu": error.guest.map(|(_, vcpu)| vcpu),
    })
}

fn event_update(update: &EventUpdate<'_>) -> Json {
    let (key, value) = match update.update {
        Update::Unit(unit) => ("unit", text(unit)),
        Update::Scale(scale) => ("scale", scale.into()),
        Update::Name(name) => ("name", text(name)),
        Update::Cpus(map) => ("cpus", cpus(&map)),
        Update::Unknown { data, .. } => ("raw", bytes(data)),
        // A value that this program does not know.
        _ => ("raw", Json::Null),
    };
    Object::from_iter([("id".to_owned(), update.id.into()), (key.to_owned(), value)]).into()
}

fn time_conv(time: &TimeConv) -> Json {
    let short = time.short;
    json!({
        "time_shift": time.time_shift, "time_mult": time.time_mult, "time_zero": time.time_zero,
        "time_cycles": short.map(|short| short.time_cycles),
        "time_mask": short.map(|short| hex(short.time_mask)),
        "cap_user_time_zero": short.map(|short| short.cap_user_time_zero),
        "cap_user_time_short": short.map(|short| short.cap_user_time_short),
    })
}

fn cpus(map: &CpuMap<'_>) -> Json {
    map.cpus().map(Json::from).collect()
}

/// Returns the id of a task or CPU; `u64::MAX` is -1.
#[expect(clippy::cast_possible_wrap, reason = "`u64::MAX` is -1")]
fn signed(id: u64) -> Json {
    (id as i64).into()
}
