//! An Intel CPU with two kinds of cores.

use std::time::Duration;

use super::*;

/// Performance cores 0 to 7 and efficiency cores 8 to 15, without a PMU `cpu`.
fn tree() -> Tree {
    let tree = Tree::new();
    tree.pmu(
        "cpu_core",
        &[
            ("type", "4\n"),
            ("cpus", "0-7\n"),
            ("rdpmc", "1\n"),
            ("perf_event_mux_interval_ms", "4\n"),
            ("caps/branches", "32\n"),
            ("caps/max_precise", "3\n"),
            ("caps/pmu_name", "alderlake_hybrid\n"),
            ("format/event", "config:0-7\n"),
            ("format/umask", "config:8-15\n"),
            ("format/edge", "config:18\n"),
            ("format/pc", "config:19\n"),
            ("format/any", "config:21\n"),
            ("format/inv", "config:23\n"),
            ("format/cmask", "config:24-31\n"),
            ("format/offcore_rsp", "config1:0-63\n"),
            ("format/ldlat", "config1:0-15\n"),
            ("format/frontend", "config1:0-23\n"),
            ("events/cpu-cycles", "event=0x3c\n"),
            ("events/instructions", "event=0xc0\n"),
            ("events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"),
            ("events/slots", "event=0x00,umask=0x4\n"),
        ],
    );
    tree.pmu(
        "cpu_atom",
        &[
            ("type", "10\n"),
            ("cpus", "8-15\n"),
            ("format/event", "config:0-7\n"),
            ("format/umask", "config:8-15\n"),
            ("events/cpu-cycles", "event=0x3c\n"),
        ],
    );
    tree.pmu("software", &[("type", "1\n")]);
    tree
}

#[test]
fn both_core_pmus_have_their_cpus() {
    let tree = tree();
    let core = Pmu::core(tree.system()).unwrap();
    assert_eq!(names(&core), ["cpu_atom", "cpu_core"]);
    let cpus: Vec<_> = core.iter().map(|pmu| pmu.cpus().unwrap().to_string()).collect();
    assert_eq!(cpus, ["8-15", "0-7"]);
    assert!(core.iter().all(|pmu| !pmu.is_cpu_only()));
    assert_eq!(core[0].kind(), EventType(10));
}

#[test]
fn event_of_a_core_pmu_may_count_tasks_on_its_cpus() {
    let tree = tree();
    let spec = spec(&named(&tree, "cpu_atom"), "cpu-cycles").unwrap();
    assert_eq!(spec.attr(), perf_ring::Attr::new(EventType(10), 0x3c));
    assert_eq!((spec.pmu(), spec.is_cpu_only()), (Some("cpu_atom"), false));
    assert_eq!(spec.cpus().unwrap().to_string(), "8-15");
    assert_eq!(spec.label().to_string(), "cpu_atom/cpu-cycles/");
}

#[test]
fn predefined_event_may_set_several_words() {
    let tree = tree();
    let attr = spec(&named(&tree, "cpu_core"), "mem-loads").unwrap().attr();
    assert_eq!((attr.config, attr.config1), (0x1cd, 3));
    let attr =
        spec(&named(&tree, "cpu_core"), "event=0xcd,umask=1,ldlat=0x1e,cmask=2,inv,edge").unwrap().attr();
    assert_eq!((attr.config, attr.config1), (0x0284_01cd, 0x1e));
}

#[test]
fn properties_are_those_of_its_files() {
    let tree = tree();
    let pmu = named(&tree, "cpu_core");
    assert_eq!(pmu.cap("max_precise").unwrap().as_deref(), Some("3"));
    assert_eq!(pmu.cap("pmu_name").unwrap().as_deref(), Some("alderlake_hybrid"));
    assert_eq!(pmu.cap("missing").unwrap(), None);
    assert_eq!(pmu.caps().unwrap().len(), 3);
    assert_eq!(pmu.user_access().unwrap(), Some(1));
    assert_eq!(pmu.multiplex_interval().unwrap(), Some(Duration::from_millis(4)));
    let atom = named(&tree, "cpu_atom");
    assert_eq!((atom.user_access().unwrap(), atom.multiplex_interval().unwrap()), (None, None));
    assert_eq!((atom.caps().unwrap(), atom.identifier().unwrap()), (vec![], None));
}

#[test]
fn pmu_is_found_by_its_number() {
    let tree = tree();
    let found = |kind| Pmu::with_kind(tree.system(), EventType(kind)).unwrap();
    assert_eq!(found(10).unwrap().name(), "cpu_atom");
    assert_eq!(found(1).unwrap().to_string(), "software");
    assert!(found(7).is_none());
}
