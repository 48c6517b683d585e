use perf_sys::{Attr, EventType};

use super::{Checked, Violation, pmu_of};
use crate::system::System;

/// Returns the rules that [`Event::set_filter`](perf_sys::Event::set_filter) would fail for, without the
/// call: whether the event takes a filter, and whether the PMU has as many address filters
/// (`nr_addr_filters`) as the text has entries.
///
/// Tracepoints and probes take a filter expression, whose syntax is not checked here.
pub fn check_filter(system: &System, attr: &Attr, filter: &str) -> Checked {
    let mut checked = Checked::default();
    if attr.kind != EventType::TRACEPOINT {
        checked.add(address_filters(system, attr, filter));
    }
    checked
}

fn address_filters(
    system: &System,
    attr: &Attr,
    filter: &str,
) -> Result<Option<Violation>, crate::system::FileError> {
    let pmu = if attr.kind > EventType::BREAKPOINT { pmu_of(system, attr)? } else { None };
    let slots = match &pmu {
        Some(pmu) if ["kprobe", "uprobe"].contains(&pmu.name()) => return Ok(None),
        Some(pmu) => pmu.address_filters()?.unwrap_or(0),
        None => 0,
    };
    let name = pmu.map_or(format!("type {}", attr.kind), |pmu| format!("PMU {pmu}"));
    // An entry begins with its action; offsets, sizes and files have no spaces.
    let entries = filter.split([' ', ',', '\n']);
    let count = entries.filter(|word| ["filter", "start", "stop"].contains(word)).count();
    Ok((slots == 0 || count as u64 > u64::from(slots)).then(|| {
        let rule = match slots {
            0 => format!("an event that takes a filter, which {name} does not"),
            slots => format!("at most {slots} address filters (nr_addr_filters of {name})"),
        };
        let remedy = "filter a tracepoint or a trace unit, by fewer entries";
        Violation::new("filter", format_args!("{count} address filters"), rule, remedy)
    }))
}

#[cfg(test)]
mod tests {
    use perf_sys::Software;

    use super::*;
    use crate::system::tree::Tree;

    #[test]
    fn filters_are_counted_against_the_slots_of_the_pmu() {
        let tree = Tree::new();
        tree.pmu("intel_pt", &[("type", "8\n"), ("nr_addr_filters", "2\n")]);
        tree.pmu("uprobe", &[("type", "9\n")]);
        let check = |attr: Attr, filter: &str| check_filter(tree.system(), &attr, filter);
        let trace = Attr::new(EventType(8), 0);
        assert!(check(trace, "filter 0x10/8@/bin/x,stop 0x20@/bin/x").is_clean());
        let found = check(trace, "start 1 start 2\nfilter 3/4").violations;
        assert_eq!(found[0].found(), "3 address filters");
        assert!(found[0].to_string().contains("at most 2 address filters"), "{}", found[0]);
        let found = check(Attr::software(Software::CPU_CLOCK), "a == 1").violations;
        assert!(found[0].expected().contains("type SOFTWARE does not"), "{}", found[0]);
        for attr in [Attr::tracepoint(1), Attr::new(EventType(9), 0)] {
            assert!(check(attr, "a == 1").is_clean());
        }
    }

    #[test]
    fn unreadable_number_of_slots_is_unchecked() {
        let tree = Tree::new();
        tree.pmu("intel_pt", &[("type", "8\n"), ("nr_addr_filters", "\n")]);
        let checked = check_filter(tree.system(), &Attr::new(EventType(8), 0), "start 1");
        assert_eq!((checked.violations.len(), checked.unchecked.len()), (0, 1));
    }
}
