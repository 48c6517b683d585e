//! The report as one JSON object, as `docs/report-json.md` describes it.

use perf_profile::read::Metadata;
use perf_profile::{CallTree, Cost, Entry, Event, EventId, Losses, Profile, Table};
use serde_json::{Value, json};

use super::sort::{self, SortKey};

/// Version of the schemas of report and diff.
pub(crate) const VERSION: u32 = 1;

/// Returns a report with all rows and, on demand, the nodes of the trees by event.
pub(super) fn report(
    about: &Metadata,
    profile: &Profile,
    keys: &[SortKey],
    table: &Table<'_>,
    trees: &[(EventId, CallTree<'_>)],
) -> Value {
    let events = || profile.event_ids();
    let rows = table.rows.iter().map(|row| {
        let costs: Vec<_> = events().map(|(id, _)| cost(row.cost(id))).collect();
        entry(&row.entry, [("events", costs.into())])
    });
    let nodes = trees.iter().flat_map(|(id, tree)| {
        tree.nodes.iter().map(|node| {
            let (event, depth) = (id.index().into(), node.depth.into());
            entry(&node.entry, [("event", event), ("depth", depth), ("cost", cost(node.cost))])
        })
    });
    json!({
        "version": VERSION,
        "recording": recording(about),
        "events": events().map(|(id, event)| event_object(profile, id, event)).collect::<Vec<_>>(),
        "sort": keys.iter().map(|key| key.name).collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
        "tree": nodes.collect::<Vec<_>>(),
        "losses": losses(profile.losses()),
    })
}

/// Returns the machine and the program that recorded.
pub(crate) fn recording(about: &Metadata) -> Value {
    json!({
        "host": about.host,
        "release": about.release,
        "arch": about.arch,
        "cpu": about.cpu,
        "command": about.command,
        "version": about.version,
    })
}

pub(crate) fn event_object(profile: &Profile, id: EventId, event: &Event) -> Value {
    json!({
        "name": event.name,
        "unit": event.unit.as_str(),
        "samples": profile.sample_count(id),
        "value": profile.total(id),
    })
}

/// Returns the subject of a row and its values. Unknown names and columns that were not requested
/// are null.
pub(crate) fn entry<const N: usize>(entry: &Entry<'_>, values: [(&str, Value); N]) -> Value {
    sort::fields(entry).into_iter().chain(values).map(|(key, value)| (key.to_owned(), value)).collect()
}

pub(crate) fn cost(cost: Cost) -> Value {
    json!({
        "self": cost.self_value,
        "self_samples": cost.self_count,
        "total": cost.total_value,
        "total_samples": cost.total_count,
    })
}

/// Returns the losses of a profile.
pub(crate) fn losses(losses: &Losses) -> Value {
    let counts = [
        ("lost_records", losses.lost.records()),
        ("lost_samples", losses.lost.samples()),
        ("late_records", losses.late_records),
        ("broken_waits", losses.broken_waits),
        ("waits_without_stack", losses.waits_without_stack),
        ("waits_without_wakeup", losses.waits_without_wakeup),
        ("complete_stacks", losses.complete_stacks),
        ("unverified_stacks", losses.unverified_stacks),
        ("left_out_addresses", losses.left_out_addresses),
        ("needed_stack_bytes", losses.needed_stack_bytes),
        ("unnamed_samples", losses.unnamed_samples),
        ("reused_addresses", losses.reused_addresses),
    ];
    let counts = counts.into_iter().map(|(key, count)| (key, count.into()));
    let reasons = losses.reasons().map(|reasons| {
        let list = reasons.list.iter().map(|(count, reason)| json!({"count": count, "reason": reason}));
        (reasons.key, list.collect())
    });
    let files = ("missing_files", losses.missing_files.clone().into());
    let all = counts.chain(reasons).chain([files]);
    all.map(|(key, value): (&str, Value)| (key.to_owned(), value)).collect()
}
