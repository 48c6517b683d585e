//! Why a filter would fail.

use perf_ring::{Attr, Errno, EventType, Target};

use super::case::Case;
use super::pmu::pmu_of;
use super::rules::{Found, certain};
use super::{Cause, Diagnosis, Field};
use crate::system::System;

/// Returns the reason why [`Event::set_filter`](perf_ring::Event::set_filter) would fail, without
/// the call: the event takes no filter, or the PMU has fewer address filters (`nr_addr_filters`)
/// than the text has entries. `None` if nothing is wrong; a file that cannot be read is
/// [`Cause::Unchecked`].
///
/// Tracepoints and probes take a filter expression, whose syntax is not checked here.
pub fn check_filter(system: &System, attr: &Attr, filter: &str) -> Option<Diagnosis> {
    let case = Case::new(system, attr, Target::calling_thread(), false);
    certain(address_filters(&case, filter), Some(Errno::EINVAL))
}

fn address_filters(case: &Case<'_>, filter: &str) -> Found {
    let pmu = if case.is_of_dynamic_pmu() { pmu_of(case.system, case.attr)? } else { None };
    let slots = match &pmu {
        _ if case.is(EventType::TRACEPOINT) => return Ok(None),
        Some(pmu) if ["kprobe", "uprobe"].contains(&pmu.name()) => return Ok(None),
        Some(pmu) => pmu.address_filters()?.unwrap_or(0),
        None => 0,
    };
    let name = pmu.map_or(format!("type {}", case.attr.kind), |pmu| format!("PMU {pmu}"));
    // An entry begins with its action; offsets, sizes and files have no spaces.
    let entries = filter.split([' ', ',', '\n']);
    let count = entries.filter(|word| ["filter", "start", "stop"].contains(word)).count();
    Ok((slots == 0 || count as u64 > u64::from(slots)).then(|| {
        let text = match slots {
            0 => format!("an event of {name} takes no filter"),
            slots => format!("at most {slots} address filters (nr_addr_filters of {name})"),
        };
        let remedy = "filter a tracepoint or a trace unit, by fewer entries";
        Diagnosis::new(Cause::Rule, text, remedy).on(Field::FILTER, format_args!("{count} address filters"))
    }))
}

#[cfg(test)]
mod tests {
    use perf_ring::Software;

    use super::*;
    use crate::system::tree::Tree;

    #[test]
    fn filters_are_counted_against_the_slots_of_the_pmu() {
        let tree = Tree::new();
        tree.pmu("intel_pt", &[("type", "8\n"), ("nr_addr_filters", "2\n")]);
        tree.pmu("uprobe", &[("type", "9\n")]);
        let check = |attr: Attr, filter: &str| check_filter(tree.system(), &attr, filter);
        let trace = Attr::new(EventType(8), 0);
        assert_eq!(check(trace, "filter 0x10/8@/bin/x,stop 0x20@/bin/x"), None);
        let found = check(trace, "start 1 start 2\nfilter 3/4").unwrap();
        assert_eq!((found.field, found.errno), (Some(Field::FILTER), Some(Errno::EINVAL)));
        assert_eq!(found.evidence[0].value, "3 address filters");
        assert!(found.text.contains("at most 2 address filters"), "{found}");
        let found = check(Attr::software(Software::CPU_CLOCK), "a == 1").unwrap();
        assert!(found.text.contains("type SOFTWARE takes no filter"), "{found}");
        for attr in [Attr::tracepoint(1), Attr::new(EventType(9), 0)] {
            assert_eq!(check(attr, "a == 1"), None);
        }
    }

    #[test]
    fn unreadable_number_of_slots_is_unchecked() {
        let tree = Tree::new();
        tree.pmu("intel_pt", &[("type", "8\n"), ("nr_addr_filters", "\n")]);
        let found = check_filter(tree.system(), &Attr::new(EventType(8), 0), "start 1").unwrap();
        assert_eq!(found.cause, Cause::Unchecked);
    }
}
