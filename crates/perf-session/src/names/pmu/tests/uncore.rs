//! Memory controllers, power and other PMUs outside the cores of an Intel server.

use super::*;

fn tree() -> Tree {
    let tree = Tree::new();
    tree.pmu("cpu", &[("type", "4\n"), ("format/event", "config:0-7\n")]);
    for (index, number) in ["0", "1", "2", "9", "10", "11"].into_iter().enumerate() {
        tree.pmu(
            &format!("uncore_imc_{number}"),
            &[
                ("type", &format!("{}\n", 20 + index)),
                ("cpumask", "0,28\n"),
                ("identifier", "0x12ab\n"),
                ("format/event", "config:0-7\n"),
                ("format/umask", "config:8-15\n"),
                ("format/thresh", "config:24-31\n"),
                ("events/cas_count_read", "event=0x04,umask=0x03\n"),
                ("events/cas_count_read.scale", "6.103515625e-5\n"),
                ("events/cas_count_read.unit", "MiB\n"),
                ("events/clockticks", "event=0x00\n"),
            ],
        );
    }
    tree.pmu("uncore_imc_free_running_0", &[("type", "40\n"), ("cpumask", "0\n")]);
    tree.pmu("uncore_cha_87e1b", &[("type", "41\n"), ("cpumask", "0\n")]);
    tree.pmu("uncore_cha_87e2b", &[("type", "42\n"), ("cpumask", "0\n")]);
    tree.pmu(
        "power",
        &[
            ("type", "43\n"),
            ("cpumask", "\n"),
            ("format/event", "config:0-7\n"),
            ("events/energy-pkg", "event=0x02"),
            ("events/energy-pkg.scale", "2.3283064365386962890625e-10"),
            ("events/energy-pkg.unit", "Joules"),
            ("events/energy-pkg.per-pkg", "1\n"),
            ("events/energy-pkg.snapshot", "1\n"),
        ],
    );
    tree
}

#[test]
fn unit_stands_for_its_instances_by_number() {
    let tree = tree();
    let matching = |name: &str| {
        let pmus = Pmu::matching(tree.system(), name).unwrap();
        names(&pmus).join(" ").replace("uncore_imc_", "")
    };
    assert_eq!(matching("uncore_imc"), "0 1 2 9 10 11");
    assert_eq!(matching("imc"), "0 1 2 9 10 11");
    assert_eq!(matching("uncore_imc_10"), "10");
    assert_eq!(matching("imc_[01]*"), "0 1 10 11");
    assert_eq!(matching("*imc*"), "0 1 2 9 10 11 free_running_0");
    assert_eq!(matching("uncore_cha"), "uncore_cha_87e1b uncore_cha_87e2b");
    assert_eq!(named(&tree, "uncore_imc_10").unit_name(), "uncore_imc");
}

#[test]
fn name_without_a_pmu_is_an_error_with_all_names() {
    let tree = tree();
    for error in
        [Pmu::matching(tree.system(), "uncore_im"), Pmu::named(tree.system(), "uncore_im").map(|it| vec![it])]
    {
        let error = error.unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("PMU `uncore_im`: not on this machine, which has cpu, power, uncore_")
        );
        assert!(matches!(error, PmuError::NotFound { has, .. } if has.contains(&"power".to_owned())));
    }
    // A name is not a path.
    for name in ["", ".", "..", "../devices/cpu", "cpu/", "/"] {
        assert!(matches!(Pmu::named(tree.system(), name), Err(PmuError::NotFound { .. })), "{name}");
    }
}

#[test]
fn event_is_for_the_cpus_of_the_mask_only() {
    let tree = tree();
    let spec = spec(&named(&tree, "uncore_imc_1"), "cas_count_read").unwrap();
    assert_eq!(spec.attr(), perf_ring::Attr::new(EventType(21), 0x304));
    assert_eq!((spec.cpus().unwrap().to_string().as_str(), spec.is_cpu_only()), ("0,28", true));
    assert_eq!((spec.scale(), spec.unit()), (6.103_515_625e-5, "MiB"));
    assert!(!spec.is_per_package() && !spec.is_snapshot());
}

#[test]
fn event_without_scale_counts_events() {
    let tree = tree();
    let pmu = named(&tree, "uncore_imc_0");
    let spec = spec(&pmu, "clockticks,thresh=1").unwrap();
    assert_eq!((spec.attr().config, spec.scale(), spec.unit()), (0x0100_0000, 1.0, ""));
    assert_eq!(pmu.event_names().unwrap(), ["cas_count_read", "clockticks"]);
    assert_eq!(pmu.identifier().unwrap().as_deref(), Some("0x12ab"));
}

#[test]
fn energy_is_a_snapshot_for_each_package() {
    let tree = tree();
    let power = named(&tree, "power");
    let spec = spec(&power, "energy-pkg").unwrap();
    assert_eq!((spec.scale(), spec.unit()), (2.328_306_436_538_696_3e-10, "Joules"));
    assert!(spec.is_per_package() && spec.is_snapshot() && spec.is_cpu_only());
    assert!(power.cpus().unwrap().is_empty());
    let [event] = &power.events().unwrap()[..] else { panic!("one event") };
    assert_eq!((&*event.name, &*event.terms), ("energy-pkg", "event=0x02"));
}

#[test]
fn only_the_pmu_of_the_cores_is_a_core_pmu() {
    let tree = tree();
    assert_eq!(names(&Pmu::core(tree.system()).unwrap()), ["cpu"]);
    assert_eq!(named(&tree, "cpu").cpus(), None);
    assert_eq!(Pmu::all(tree.system()).unwrap().len(), 11);
}
