//! The locks as one JSON object, as `docs/locks-json.md` describes it.

use perf_profile::read::ReadLocks;
use perf_profile::{Durations, LockId, Profile, StackId};
use serde_json::{Value, json};

use super::place;
use super::row::{Row, Subject};
use crate::report::json::{losses, recording};
use crate::sched::durations;

/// Version of the schema.
const VERSION: u32 = 1;

pub(super) fn locks(read: &ReadLocks, rows: &[Row]) -> Value {
    json!({
        "version": VERSION,
        "recording": recording(&read.metadata),
        "user": read.has_user,
        "kernel": read.has_kernel,
        "lost_records": read.locks.lost(),
        "broken_waits": read.locks.broken(),
        "late_records": read.late,
        "locks": rows.iter().map(|row| lock(&read.profile, row)).collect::<Vec<_>>(),
        "losses": losses(read.profile.losses()),
    })
}

fn lock(profile: &Profile, row: &Row) -> Value {
    let (kind, pid, address) = match &row.subject {
        Subject::Lock(LockId::User { pid, address }) => ("futex".to_owned(), Some(*pid), Some(*address)),
        Subject::Lock(LockId::Kernel { address, flags }) => (flags.to_string(), None, Some(*address)),
        Subject::Lock(_) => (String::new(), None, None),
        Subject::Function(flags, _) => (flags.to_string(), None, None),
    };
    json!({
        "kind": kind,
        "pid": pid,
        "address": address,
        "function": row.place,
        "waits": durations(&row.waits),
        "timeouts": row.timeouts,
        "unfinished": durations(&row.unfinished),
        "waiters": stacks(profile, &row.waiters),
        "wakers": stacks(profile, &row.wakers),
        "owners": row.owners.iter().map(|(tid, count)| json!({"tid": tid, "count": count})).collect::<Vec<_>>(),
    })
}

fn stacks(profile: &Profile, stacks: &[(Option<StackId>, Durations)]) -> Vec<Value> {
    let stack = |(stack, waits): &(Option<StackId>, Durations)| {
        let functions = place::functions(profile, *stack).into_iter();
        let functions: Vec<_> =
            functions.map(|(name, is_kernel)| json!({"function": name, "kernel": is_kernel})).collect();
        json!({"count": waits.count(), "total": waits.total(), "max": waits.max(), "stack": functions})
    };
    stacks.iter().map(stack).collect()
}
