//! Events of a hybrid machine.

use perf_sys::abi::PMU_TYPE_SHIFT;

use super::*;
use crate::system::tree::Tree;

/// Returns a machine with two core PMUs, two memory controllers and a tracepoint.
pub(super) fn tree() -> Tree {
    let tree = Tree::new();
    let core = |name, kind, cpus| {
        tree.pmu(
            name,
            &[
                ("type", kind),
                ("cpus", cpus),
                ("format/event", "config:0-7\n"),
                ("format/umask", "config:8-15\n"),
                ("events/slots", "event=0x00,umask=0x4\n"),
            ],
        );
    };
    core("cpu_core", "4\n", "0-3\n");
    core("cpu_atom", "10\n", "4-7\n");
    for (name, kind) in [("uncore_imc_0", "20\n"), ("uncore_imc_1", "21\n")] {
        tree.pmu(
            name,
            &[
                ("type", kind),
                ("cpumask", "0\n"),
                ("format/event", "config:0-7\n"),
                ("events/reads", "event=0x4\n"),
                ("events/reads.scale", "0.5\n"),
                ("events/reads.unit", "MiB\n"),
            ],
        );
    }
    let fields = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
    for (name, id) in [("sched_switch", 314), ("sched_wakeup", 315)] {
        let text = format!("name: {name}\nID: {id}\nformat:\n{fields}\nprint fmt: \"\"\n");
        tree.file(format!("/sys/kernel/tracing/events/sched/{name}/format"), text);
    }
    tree
}

fn specs(text: &str) -> Vec<crate::EventSpec> {
    let tree = tree();
    parse_event(text, tree.system()).unwrap_or_else(|error| panic!("{error}")).specs().to_vec()
}

#[test]
fn generic_event_is_one_for_each_core_pmu_with_its_cpus() {
    let specs = specs("cycles:u");
    let found: Vec<_> = specs
        .iter()
        .map(|spec| {
            (spec.label().to_string(), spec.attr().config >> PMU_TYPE_SHIFT, spec.cpus().unwrap().to_string())
        })
        .collect();
    let expected = [("cpu_atom/cycles:u/", 10, "4-7"), ("cpu_core/cycles:u/", 4, "0-3")];
    assert_eq!(found, expected.map(|(label, kind, cpus)| (label.to_owned(), kind, cpus.to_owned())));
    assert!(specs.iter().all(|spec| spec.attr().kind == EventType::HARDWARE && !spec.is_cpu_only()));
}

#[test]
fn raw_event_has_the_type_of_each_core_pmu() {
    let attrs: Vec<_> = specs("r1a2").iter().map(|spec| (spec.attr().kind.0, spec.attr().config)).collect();
    assert_eq!(attrs, [(10, 0x1a2), (4, 0x1a2)]);
}

#[test]
fn event_with_a_pmu_in_its_number_is_one() {
    assert_eq!(specs("0:0xa00000001")[0].attr().config, 0xa_0000_0001);
    assert_eq!(specs("0:0xa00000001").len(), 1);
    assert_eq!(specs("page-faults").len(), 1);
}

#[test]
fn generic_event_can_be_that_of_one_core_pmu() {
    let specs = specs("cpu_core/cycles,period=5/u");
    assert_eq!(specs.len(), 1);
    let attr = specs[0].attr();
    assert_eq!((attr.kind, attr.config, attr.sample_period), (EventType::HARDWARE, 4 << PMU_TYPE_SHIFT, 5));
    assert_eq!(
        (specs[0].pmu(), specs[0].label().to_string().as_str()),
        (Some("cpu_core"), "cpu_core/cycles,period=5/u")
    );
}

#[test]
fn event_of_a_unit_is_one_for_each_instance_with_unit_and_scale() {
    for text in ["uncore_imc/reads/", "imc/reads/", "reads", "uncore_imc_?/reads/"] {
        let specs = specs(text);
        let kinds: Vec<_> = specs.iter().map(|spec| spec.attr().kind.0).collect();
        assert_eq!(kinds, [20, 21], "{text}");
        assert!(specs.iter().all(|spec| spec.unit() == "MiB" && spec.is_cpu_only()), "{text}");
        assert!(specs.iter().all(|spec| (spec.scale() - 0.5).abs() < 1e-9), "{text}");
    }
}

#[test]
fn tracepoints_are_named_one_by_one() {
    let tree = tree();
    let groups = parse("sched:sched_*:u,{sched:*}", tree.system()).unwrap();
    let names: Vec<Vec<_>> =
        groups.iter().map(|group| group.members().iter().map(NamedEvent::name).collect()).collect();
    let expected = [
        vec!["sched:sched_switch:u"],
        vec!["sched:sched_wakeup:u"],
        vec!["sched:sched_switch", "sched:sched_wakeup"],
    ];
    assert_eq!(names, expected);
    assert_eq!(groups[0].members()[0].specs()[0].attr().config, 314);
}

#[test]
fn name_of_a_term_is_that_of_every_pmu() {
    let tree = tree();
    let event = parse_event("imc/event=4,name=mine/", tree.system()).unwrap();
    let labels: Vec<_> = event.specs().iter().map(|spec| spec.label().to_string()).collect();
    assert_eq!(
        (event.name(), labels),
        ("mine", vec!["uncore_imc_0/mine/".to_owned(), "uncore_imc_1/mine/".to_owned()])
    );
}
