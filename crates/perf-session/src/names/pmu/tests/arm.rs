//! An arm64 board with two kinds of cores.

use super::*;

fn tree() -> Tree {
    let tree = Tree::new();
    for (name, kind, cpus) in [("armv8_cortex_a53", "7\n", "0-3\n"), ("armv8_cortex_a72", "8\n", "4-5\n")] {
        tree.pmu(
            name,
            &[
                ("type", kind),
                ("cpus", cpus),
                ("format/event", "config:0-15\n"),
                ("format/long", "config1:0\n"),
                ("format/rdpmc", "config1:1\n"),
                ("events/cpu_cycles", "event=0x0011\n"),
                ("events/l1d_cache_refill", "event=0x0003\n"),
                ("caps/slots", "0x00000000\n"),
            ],
        );
    }
    tree.pmu("arm_dsu_0", &[("type", "9\n"), ("cpumask", "0\n"), ("associated_cpus", "0-5\n")]);
    tree.pmu(
        "arm_spe_0",
        &[
            ("type", "10\n"),
            ("cpumask", "4-5\n"),
            ("format/ts_enable", "config:0\n"),
            ("format/min_latency", "config2:0-11\n"),
            ("nr_addr_filters", "0\n"),
        ],
    );
    tree
}

#[test]
fn each_kind_of_core_has_its_pmu() {
    let tree = tree();
    let core = Pmu::core(tree.system()).unwrap();
    assert_eq!(names(&core), ["armv8_cortex_a53", "armv8_cortex_a72"]);
    let specs: Vec<_> = core.iter().map(|pmu| spec(pmu, "cpu_cycles").unwrap()).collect();
    let places: Vec<_> =
        specs.iter().map(|spec| (spec.attr().kind.0, spec.cpus().unwrap().to_string())).collect();
    assert_eq!(places, [(7, "0-3".to_owned()), (8, "4-5".to_owned())]);
    assert!(specs.iter().all(|spec| spec.attr().config == 0x11 && !spec.is_cpu_only()));
}

#[test]
fn name_of_a_core_is_not_that_of_an_instance() {
    let tree = tree();
    assert_eq!(named(&tree, "armv8_cortex_a53").unit_name(), "armv8_cortex_a53");
    assert!(Pmu::matching(tree.system(), "armv8_cortex").is_err());
    assert_eq!(names(&Pmu::matching(tree.system(), "armv8_*").unwrap()).len(), 2);
    assert_eq!(names(&Pmu::matching(tree.system(), "arm_dsu").unwrap()), ["arm_dsu_0"]);
}

#[test]
fn statistical_profiling_takes_tasks_in_spite_of_its_mask() {
    let tree = tree();
    let spe = named(&tree, "arm_spe_0");
    assert_eq!((spe.is_cpu_only(), spe.is_core()), (false, false));
    assert_eq!(spe.cpus().unwrap().to_string(), "4-5");
    assert_eq!(spe.address_filters().unwrap(), Some(0));
    let attr = spec(&spe, "ts_enable,min_latency=0xfff").unwrap().attr();
    assert_eq!((attr.config, attr.config2), (1, 0xfff));
    assert!(named(&tree, "arm_dsu_0").is_cpu_only());
}
