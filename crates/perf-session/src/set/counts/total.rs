//! Sums of counts over CPUs, threads and PMUs.

use std::collections::BTreeMap;

use perf_ring::Count;
use perf_ring::decode::Scaled;

use super::ScopeCount;

/// Returns the sum of two counts of one event.
pub(super) fn add(one: &Count, other: &Count) -> Count {
    let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
    let mut count = Count::new(one.value.wrapping_add(other.value));
    count.time_enabled = sum(one.time_enabled, other.time_enabled);
    count.time_running = sum(one.time_running, other.time_running);
    count.lost = sum(one.lost, other.lost);
    count
}

/// Returns one count for each CPU, and one for each thread. Unknown counts are left out.
///
/// A thread that has an event for each CPU or for each PMU runs on one of them at a time, while the
/// time enabled of all advances. So the time enabled of one event counts, and the times running are
/// summed.
fn parts<'p>(counts: impl IntoIterator<Item = &'p ScopeCount>) -> Vec<Count> {
    let mut cpus = Vec::new();
    let mut threads: BTreeMap<u32, Count> = BTreeMap::new();
    for ScopeCount { scope, count, .. } in counts.into_iter().filter(|count| !count.is_failed) {
        let Some(tid) = scope.thread_id() else {
            cpus.push(*count);
            continue;
        };
        threads
            .entry(tid)
            .and_modify(|sum| {
                let enabled = sum.time_enabled.max(count.time_enabled);
                *sum = add(sum, count);
                sum.time_enabled = enabled;
            })
            .or_insert(*count);
    }
    cpus.extend(threads.into_values());
    cpus
}

/// Returns the sum of the counts. Its times are the sums over the parts.
pub(super) fn sum<'p>(counts: impl IntoIterator<Item = &'p ScopeCount>) -> Count {
    let parts = parts(counts).into_iter();
    let mut sum = parts.reduce(|sum, part| add(&sum, &part)).unwrap_or_default();
    sum.id = None;
    sum
}

/// Returns the sum of the counts, each scaled by its own times. A part that was never enabled adds
/// nothing.
pub(super) fn scaled<'p>(counts: impl Iterator<Item = &'p ScopeCount> + Clone) -> Scaled {
    let has_unknown = counts.clone().any(|count| count.is_failed);
    let parts = parts(counts).into_iter().filter(|part| part.time_enabled != Some(0));
    let parts = parts.map(|part| part.scaled()).chain(has_unknown.then_some(Scaled::NeverRan));
    parts.reduce(add_scaled).unwrap_or(Scaled::NeverRan)
}

/// Returns the sum of two scaled values, which is an estimate if either is.
fn add_scaled(one: Scaled, other: Scaled) -> Scaled {
    use Scaled::{Estimate, Exact, NeverRan, Unscaled};
    let sum = |one: u64, other: u64| one.saturating_add(other);
    match (one, other) {
        (NeverRan, NeverRan) => NeverRan,
        // One part is unknown.
        (NeverRan, Exact(value) | Estimate(value) | Unscaled(value))
        | (Exact(value) | Estimate(value) | Unscaled(value), NeverRan) => Estimate(value),
        (Exact(one), Exact(other)) => Exact(sum(one, other)),
        (Unscaled(one), Exact(other) | Unscaled(other)) | (Exact(one), Unscaled(other)) => {
            Unscaled(sum(one, other))
        }
        (Estimate(one), Exact(other) | Estimate(other) | Unscaled(other))
        | (Exact(one) | Unscaled(one), Estimate(other)) => Estimate(sum(one, other)),
    }
}
