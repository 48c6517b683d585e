//! The page as one JSON object, as `docs/explain-json.md` describes it.

use perf_profile::Profile;
use perf_profile::read::Metadata;
use serde_json::{Value, json};

use super::facts::Facts;
use crate::report::json as report;

/// Version of the schema.
const VERSION: u32 = 1;

/// Returns the facts.
pub(super) fn object(about: &Metadata, profile: &Profile, facts: &Facts<'_>) -> Value {
    let functions = facts.functions.iter().map(|row| {
        json!({
            "function": row.entry.function,
            "object": row.entry.object,
            "percent": facts.shares.of(row.cost(facts.event).self_value),
            "samples": row.cost(facts.event).self_count,
        })
    });
    let threads = facts.threads.iter().map(|row| {
        let percent = facts.shares.of(row.cost(facts.event).self_value);
        json!({"comm": row.entry.comm, "percent": percent})
    });
    let path = facts.path.iter().map(|node| {
        let percent = facts.shares.of(node.cost.total_value);
        json!({"function": node.entry.function, "percent": percent})
    });
    let next = facts.next.iter().map(|(command, reason)| json!({"command": command, "reason": reason}));
    let event = profile.event(facts.event);
    json!({
        "version": VERSION,
        "recording": report::recording(about),
        "event": event.map(|event| report::event_object(profile, facts.event, event)),
        "busy_cpus": facts.busy_cpus,
        "functions": functions.collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "path": path.collect::<Vec<_>>(),
        "unreliable": facts.unreliable,
        "next": next.collect::<Vec<_>>(),
    })
}
