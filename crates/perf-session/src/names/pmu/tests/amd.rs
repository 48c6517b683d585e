//! An AMD server: cores, L3 caches, the data fabric, and instruction-based sampling.

use super::*;

fn tree() -> Tree {
    let tree = Tree::new();
    tree.pmu(
        "cpu",
        &[
            ("type", "4\n"),
            ("format/event", "config:0-7,32-35\n"),
            ("format/umask", "config:8-15\n"),
            ("format/edge", "config:18\n"),
            ("format/inv", "config:23\n"),
            ("format/cmask", "config:24-31\n"),
            ("caps/max_precise", "0\n"),
            ("events/cache-misses", "event=0x64,umask=0x09\n"),
            ("events/cpu-cycles", "event=0x76\n"),
        ],
    );
    tree.pmu(
        "amd_l3",
        &[
            ("type", "11\n"),
            ("cpumask", "0,8,16\n"),
            ("format/event", "config:0-7\n"),
            ("format/umask", "config:8-15\n"),
            ("format/coreid", "config:42-44\n"),
            ("format/enallcores", "config:47\n"),
            ("format/enallslices", "config:46\n"),
            ("format/sliceid", "config:48-50\n"),
            ("format/threadmask", "config:56-57\n"),
        ],
    );
    tree.pmu(
        "amd_df",
        &[
            ("type", "12\n"),
            ("cpumask", "0\n"),
            ("format/event", "config:0-7,32-35,59-60\n"),
            ("format/umask", "config:8-15\n"),
        ],
    );
    tree.pmu(
        "ibs_op",
        &[
            ("type", "9\n"),
            ("caps/zen4_ibs_extensions", "1\n"),
            ("format/cnt_ctl", "config:19\n"),
            ("format/rand_en", "config:57\n"),
            ("format/swfilt", "config2:0\n"),
        ],
    );
    tree
}

#[test]
fn event_number_is_spread_over_three_ranges() {
    let tree = tree();
    let fabric = named(&tree, "amd_df");
    // 14 bits: 0-7, 32-35, 59-60.
    assert_eq!(config(&fabric, "event=0x3fff"), 0x1800_000f_0000_00ff);
    assert_eq!(config(&fabric, "event=0x1007,umask=0x38"), 0x0800_0000_0000_3807);
    let message = "PMU amd_df: term `event=0x4000`: expected at most 0x3fff, found 0x4000";
    assert_eq!(error(&fabric, "umask=1,event=0x4000"), message);
}

#[test]
fn event_of_the_core_has_twelve_bits() {
    let tree = tree();
    let cpu = named(&tree, "cpu");
    assert_eq!(config(&cpu, "cache-misses"), 0x964);
    assert_eq!(config(&cpu, "event=0x1c0,cmask=255"), 0x1_ff00_00c0);
    assert_eq!(cpu.format("event").unwrap().unwrap().to_string(), "config:0-7,32-35");
}

#[test]
fn cache_and_fabric_are_for_cpus_only() {
    let tree = tree();
    let spec = spec(&named(&tree, "amd_l3"), "event=0x90,enallslices,enallcores,threadmask=3").unwrap();
    assert_eq!(spec.attr().config, 0x0300_c000_0000_0090);
    assert!(spec.is_cpu_only());
    assert_eq!(spec.cpus().unwrap().as_slice(), [0, 8, 16]);
}

#[test]
fn sampling_pmu_has_no_cpus_and_no_events() {
    let tree = tree();
    let ibs = named(&tree, "ibs_op");
    assert_eq!((ibs.cpus(), ibs.is_core(), ibs.is_cpu_only()), (None, false, false));
    let attr = spec(&ibs, "cnt_ctl,swfilt=1,period=100003").unwrap().attr();
    assert_eq!((attr.config, attr.config2, attr.sample_period), (1 << 19, 1, 100_003));
    assert_eq!(ibs.event_names().unwrap(), Vec::<String>::new());
}
