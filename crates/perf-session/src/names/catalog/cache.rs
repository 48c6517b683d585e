//! Names of cache events.

use perf_ring::{Cache, CacheEvent, CacheOp, CacheResult};

/// The names of a cache, the printed one first.
const CACHES: [(Cache, &[&str]); 7] = [
    (Cache::L1D, &["L1-dcache", "l1-d", "l1d", "L1-data"]),
    (Cache::L1I, &["L1-icache", "l1-i", "l1i", "L1-instruction"]),
    (Cache::LL, &["LLC", "L2"]),
    (Cache::DTLB, &["dTLB", "d-tlb", "Data-TLB"]),
    (Cache::ITLB, &["iTLB", "i-tlb", "Instruction-TLB"]),
    (Cache::BPU, &["branch", "branches", "bpu", "btb", "bpc"]),
    (Cache::NODE, &["node"]),
];

/// The names of an operation: of its accesses, of one access, and the aliases.
const OPS: [(CacheOp, &[&str]); 3] = [
    (CacheOp::READ, &["loads", "load", "read"]),
    (CacheOp::WRITE, &["stores", "store", "write"]),
    (CacheOp::PREFETCH, &["prefetches", "prefetch", "speculative-read", "speculative-load"]),
];

/// The names of an outcome, the printed one first.
const RESULTS: [(CacheResult, &[&str]); 2] = [
    (CacheResult::ACCESS, &["refs", "Reference", "ops", "access"]),
    (CacheResult::MISS, &["misses", "miss"]),
];

/// Returns the perf tool's name of a cache event: `L1-dcache-loads`, `dTLB-store-misses`. `None` if
/// one of its three numbers has no name.
///
/// ```
/// use perf_session::catalog;
/// use perf_session::ring::{Cache, CacheEvent, CacheOp, CacheResult};
///
/// let event = CacheEvent { cache: Cache::LL, op: CacheOp::READ, result: CacheResult::MISS };
/// assert_eq!(catalog::cache_name(event).as_deref(), Some("LLC-load-misses"));
/// assert_eq!(catalog::cache_of("LLC-load-misses"), Some(event));
/// ```
pub fn cache_name(event: CacheEvent) -> Option<String> {
    let cache = names_of(&CACHES, event.cache)?.first()?;
    let ops = names_of(&OPS, event.op)?;
    let result = names_of(&RESULTS, event.result)?.first()?;
    match event.result {
        CacheResult::ACCESS => Some(format!("{cache}-{}", ops.first()?)),
        _ => Some(format!("{cache}-{}-{result}", ops.get(1)?)),
    }
}

/// Returns the cache event with this name: a cache, then at most one operation and one outcome in
/// any order. Without an operation it counts reads, without an outcome all accesses.
///
/// Every combination has a name, also those that no CPU has, such as stores to a TLB for
/// instructions. Letters of either case are equal, except in the name of the cache.
pub fn cache_of(name: &str) -> Option<CacheEvent> {
    let (cache, mut rest) = prefix(&CACHES, name)?;
    let (mut op, mut result) = (None, None);
    while !rest.is_empty() {
        rest = rest.strip_prefix('-')?;
        if let (Some((found, after)), None) = (prefix(&OPS, rest), op) {
            (op, rest) = (Some(found), after);
        } else if let (Some((found, after)), None) = (prefix(&RESULTS, rest), result) {
            (result, rest) = (Some(found), after);
        } else {
            return None;
        }
    }
    Some(CacheEvent { cache, op: op.unwrap_or(CacheOp::READ), result: result.unwrap_or(CacheResult::ACCESS) })
}

/// Returns `true` if the kernel has the operation for the cache: no cache for instructions is
/// written, and branches and the TLB for instructions are only read.
pub(in crate::names) fn is_possible(event: CacheEvent) -> bool {
    match event.cache {
        Cache::L1I => event.op != CacheOp::WRITE,
        Cache::ITLB | Cache::BPU => event.op == CacheOp::READ,
        _ => true,
    }
}

/// Returns the printed name of every cache event that the kernel can have.
pub(in crate::names) fn cache_names() -> impl Iterator<Item = String> {
    CacheEvent::all().filter(|event| is_possible(*event)).filter_map(cache_name)
}

fn names_of<T: Copy + PartialEq>(
    table: &[(T, &'static [&'static str])],
    wanted: T,
) -> Option<&'static [&'static str]> {
    table.iter().find(|(value, _)| *value == wanted).map(|(_, names)| *names)
}

/// Returns the value whose name the text starts with, and the text after it, which is empty or
/// starts with a hyphen.
fn prefix<'a, T: Copy>(table: &[(T, &[&str])], text: &'a str) -> Option<(T, &'a str)> {
    let pairs = table.iter().flat_map(|(value, names)| names.iter().map(move |name| (*value, *name)));
    pairs
        .filter_map(|(value, name)| {
            let rest = text.strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with('-')).then_some((value, rest))
        })
        .min_by_key(|(_, rest)| rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cache_event_is_found_by_its_name() {
        for event in CacheEvent::all() {
            let name = cache_name(event).unwrap();
            assert_eq!(cache_of(&name), Some(event), "{name}");
        }
    }

    #[test]
    fn every_alias_is_found() {
        for (cache, caches) in CACHES {
            for (op, ops) in OPS {
                for (result, results) in RESULTS {
                    let names = caches.iter().flat_map(|cache| ops.iter().map(move |op| (cache, op)));
                    for (cache_name, op_name) in names {
                        for result_name in results {
                            let event = Some(CacheEvent { cache, op, result });
                            assert_eq!(cache_of(&format!("{cache_name}-{op_name}-{result_name}")), event);
                            assert_eq!(cache_of(&format!("{cache_name}-{result_name}-{op_name}")), event);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn missing_parts_are_reads_and_accesses() {
        let event = |text| cache_of(text).map(|event| (event.op, event.result));
        assert_eq!(event("L1-dcache"), Some((CacheOp::READ, CacheResult::ACCESS)));
        assert_eq!(event("L1-dcache-misses"), Some((CacheOp::READ, CacheResult::MISS)));
        assert_eq!(event("l1d-write"), Some((CacheOp::WRITE, CacheResult::ACCESS)));
    }

    #[test]
    fn repeated_and_unknown_parts_are_no_name() {
        for text in ["", "L1", "L1-dcache-", "L1-dcache-loads-stores", "L1-dcache-misses-refs", "LLC-loadsx"]
        {
            assert_eq!(cache_of(text), None, "{text}");
        }
    }

    #[test]
    fn unknown_numbers_have_no_name() {
        let event = CacheEvent { cache: Cache(9), op: CacheOp::READ, result: CacheResult::MISS };
        assert_eq!(cache_name(event), None);
    }
}
