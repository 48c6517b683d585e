//! The fields of records that tools write in their own form, as JSON.

use std::borrow::Cow;

use perf_abi::RecordType;
use perf_file::format::record_type;
use perf_file::record::{CpuMap, EventUpdate, IdIndex, Update};
use perf_file::{FileRecord, Result, UserRecord};
use serde_json::{Value as Json, json};

use super::feature;
use super::json::{Object, bytes, hex, lossy, task, text};

/// Generates `FIELDS`, the names of all fields, and the function `fields` from rows of a pattern
/// and the fields of matching records.
macro_rules! rows {
    (|$record:ident| $($pattern:pat $(if $condition:expr)? => { $($name:literal: $value:expr),* $(,)? })*) => {
        /// The names of the fields of these records, some of them several times.
        pub(super) const FIELDS: &[&str] = &[$($($name),*),*];

        /// Returns the fields of a record, none for a mark.
        ///
        /// # Errors
        ///
        /// The error of [`FileRecord::user`], or the content of a feature is malformed.
        pub(super) fn fields($record: &FileRecord<'_>) -> Result<Object> {
            Ok(match $record.user()? {
                $($pattern $(if $condition)? => {
                    Object::from_iter([$(($name.to_owned(), json!($value))),*])
                })*
                // Marks, and kinds that this program does not know.
                _ => Object::new(),
            })
        }
    };
}

rows! { |record|
    UserRecord::HeaderAttr(attr) => {
        "attr": bytes(attr.bytes), "ids": attr.ids.iter().collect::<Vec<_>>(),
    }
    UserRecord::HeaderEventType { event_id, name } => { "event_id": event_id, "name": text(name) }
    UserRecord::HeaderTracingData { size } => { "size": size }
    UserRecord::HeaderBuildId(id) => {
        "pid": id.pid, "build_id": bytes(id.build_id), "filename": text(id.filename),
    }
    UserRecord::IdIndex(index) => { "entries": id_index(&index) }
    UserRecord::AuxtraceInfo(info) => {
        "auxtrace_type": info.kind.0, "priv": info.private.iter().map(hex).collect::<Json>(),
    }
    UserRecord::Auxtrace(aux) => {
        "size": aux.size, "offset": aux.offset, "reference": hex(aux.reference), "idx": aux.index,
        "tid": task(aux.tid), "cpu": task(aux.cpu),
    }
    UserRecord::AuxtraceError(error) => {
        "error_type": error.kind, "code": error.code, "cpu": task(error.cpu), "pid": task(error.pid),
        "tid": task(error.tid), "ip": hex(error.ip), "time": error.time, "msg": text(error.message),
        "machine_pid": error.guest.map(|(pid, _)| pid), "vcpu": error.guest.map(|(_, vcpu)| vcpu),
    }
    UserRecord::ThreadMap(threads) => {
        "threads": threads.iter().map(|it| json!({"pid": signed(it.pid), "comm": text(it.comm)})).collect::<Json>(),
    }
    UserRecord::CpuMap(map) => { "cpus": cpus(&map) }
    UserRecord::StatConfig(options) => {
        "config": options.iter().map(|it| json!({"tag": it.tag.0, "val": it.value})).collect::<Json>(),
    }
    UserRecord::Stat(stat) => {
        "id": stat.id, "cpu": stat.cpu, "thread": stat.thread, "val": stat.value,
        "time_enabled": stat.time_enabled, "time_running": stat.time_running,
    }
    UserRecord::StatRound(round) => { "round_type": round.kind.0, "time": round.time }
    UserRecord::EventUpdate(EventUpdate { id, update: Update::Unit(unit), .. }) => { "id": id, "unit": text(unit) }
    UserRecord::EventUpdate(EventUpdate { id, update: Update::Scale(scale), .. }) => { "id": id, "scale": scale }
    UserRecord::EventUpdate(EventUpdate { id, update: Update::Name(name), .. }) => { "id": id, "name": text(name) }
    UserRecord::EventUpdate(EventUpdate { id, update: Update::Cpus(map), .. }) => { "id": id, "cpus": cpus(&map) }
    UserRecord::EventUpdate(EventUpdate { id, update: Update::Unknown { data, .. }, .. }) => {
        "id": id, "raw": bytes(data),
    }
    // A value that this program does not know.
    UserRecord::EventUpdate(EventUpdate { id, .. }) => { "id": id, "raw": Json::Null }
    UserRecord::TimeConv(time) => {
        "time_shift": time.time_shift, "time_mult": time.time_mult, "time_zero": time.time_zero,
        "time_cycles": time.short.map(|short| short.time_cycles),
        "time_mask": time.short.map(|short| hex(short.time_mask)),
        "cap_user_time_zero": time.short.map(|short| short.cap_user_time_zero),
        "cap_user_time_short": time.short.map(|short| short.cap_user_time_short),
    }
    // The mark after the last feature has a number that a newer tool uses for a feature, and no
    // content.
    UserRecord::HeaderFeature(section) if section.bytes.is_empty() => { "feature": section.feature.0 }
    UserRecord::HeaderFeature(section) => {
        "feature": section.feature.0, "feature_name": section.feature.to_string(),
        "content": feature::value(&section)?,
    }
    UserRecord::Compressed(data) if record.decompressed_len().is_none() => { "compressed_bytes": data.len() }
    UserRecord::Compressed(data) => {
        "compressed_bytes": data.len(), "decompressed_bytes": record.decompressed_len(),
    }
    UserRecord::BpfMetadata(program) => {
        "prog_name": text(program.program),
        "variables": program.variables.iter().map(|it| (lossy(it.name), text(it.value))).collect::<Object>(),
    }
    UserRecord::Schedstat(stat) => {
        "timestamp": stat.timestamp, "cpu": stat.cpu, "version": stat.version, "domain": stat.domain,
        "counters": bytes(stat.counters),
    }
    UserRecord::Unknown(data) => { "raw": bytes(data) }
}

/// Returns the name of a kind, of the kernel or of tools.
///
/// Kinds of tools have the names that `perf script -D` prints, if these are shorter.
pub(super) fn name(kind: RecordType) -> Cow<'static, str> {
    match kind {
        record_type::HEADER_TRACING_DATA => "TRACING_DATA".into(),
        record_type::HEADER_FEATURE => "FEATURE".into(),
        _ => record_type::name(kind).map_or_else(|| kind.to_string().into(), Cow::from),
    }
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
    index.entries.iter().map(entry).collect()
}

fn cpus(map: &CpuMap<'_>) -> Json {
    map.cpus().map(Json::from).collect()
}

/// Returns the id of a task or CPU; `u64::MAX` is -1.
#[expect(clippy::cast_possible_wrap, reason = "`u64::MAX` is -1")]
fn signed(id: u64) -> Json {
    (id as i64).into()
}
