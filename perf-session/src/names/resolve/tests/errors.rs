//! Strings that name something that the machine does not have.

use super::machine::tree;
use super::*;
use crate::system::tree::Tree;

/// Asserts the place, the beginning of the message, and the nearest name.
#[track_caller]
fn fails(text: &str, found: &str, message: &str, nearest: Option<&str>) {
    let tree = tree();
    let error = parse(text, tree.system()).expect_err(text);
    assert_eq!(error.found(), found, "{error}");
    assert!(error.to_string().starts_with(message), "{error}");
    assert_eq!(error.nearest().first().map(String::as_str), nearest, "{error}");
}

#[test]
fn unknown_names_are_at_their_place_with_the_nearest() {
    fails("cs,slot", "slot", "unknown event `slot`", Some("slots"));
    fails("cpu_cor/event=1/", "cpu_cor", "unknown PMU `cpu_cor`", Some("cpu_core"));
    fails("sched_switch", "sched_switch", "unknown event `sched_switch`", Some("sched:sched_switch"));
    fails("sched_swich", "sched_swich", "unknown event `sched_swich`", Some("sched:sched_switch"));
    let has = "unknown PMU `xyz`; this machine has cpu_atom, cpu_core, uncore_imc_0, uncore_imc_1";
    fails("xyz/event=1/", "xyz", has, None);
    fails("cpu_core/evnt=1/", "evnt", "unknown term or event of the PMU `evnt`", Some("event"));
    fails("cpu_core/slotz/", "slotz", "unknown term or event", Some("slots"));
    fails("cpu_core/cycels/", "cycels", "unknown term or event", None);
    fails("sched:sched_swich", "sched:sched_swich", "unknown tracepoint", Some("sched:sched_switch"));
    fails("shed:sched_switch:u", "shed:sched_switch", "unknown tracepoint", Some("sched:sched_switch"));
    fails("sched:nothing*", "sched:nothing*", "unknown tracepoint", None);
}

#[test]
fn probe_that_cannot_be_is_at_its_part() {
    let tree = tree();
    tree.pmu("uprobe", &[("type", "7\n"), ("format/retprobe", "config:0\n")]);
    let file = std::env::current_exe().unwrap();
    let file = file.to_str().unwrap();
    let fails = |text: &str, found: &str, message: &str| {
        let error = parse(text, tree.system()).expect_err(text);
        assert!(error.found() == found && error.message().contains(message), "{error}");
        error
    };
    let error = fails(&format!("cs,uprobe:{file}:man"), "man", "no function of the file");
    assert!(error.nearest().contains(&"main".to_owned()), "{error}");
    fails("uprobe:/nonexistent:main", "/nonexistent", "No such file");
    fails("uprobe:/:main", "/", "not a file with symbols");
    fails("kprobe:do_exit", "kprobe:do_exit", "this kernel has no kprobes: they need CONFIG_KPROBE_EVENTS");
    let spec = &parse(&format!("uretprobe:{file}:main+4"), tree.system()).unwrap()[0].members()[0].specs()[0]
        .clone();
    assert_eq!((spec.attr().kind.0, spec.attr().config), (7, 1));
    assert_eq!(spec.label().to_string(), format!("uretprobe:{file}:main+4"));
}

#[test]
fn machine_without_a_hardware_pmu_says_so() {
    let tree = Tree::new();
    tree.pmu("software", &[("type", "1\n")]);
    let error = parse("cpu/event=1/", tree.system()).unwrap_err();
    let message = "unknown PMU `cpu`; this machine has software, none of them a hardware PMU";
    assert_eq!(error.message(), message);
}

#[test]
fn wrong_values_are_at_the_value() {
    fails("cpu_core/event=0x100/", "0x100", "`0x100`: ", None);
    fails("cpu_core/umask=1,event=x/", "x", "`x`: expected a number", None);
    fails("cs/period=x/", "x", "expected a number", None);
    fails("cpu_core/cycles,period=x/", "x", "expected a number", None);
}

#[test]
fn names_of_another_kind_say_so() {
    fails("cpu_core", "cpu_core", "`cpu_core`: a PMU, expected one of its events: `cpu_core/EVENT/`", None);
    fails("duration_time", "duration_time", "`duration_time`: a value that the perf tool computes", None);
    fails("iTLB-stores", "iTLB-stores", "`iTLB-stores`: the kernel has no WRITE for ITLB", None);
}

#[test]
fn missing_tracefs_is_named_with_the_command() {
    let error = parse("sched:sched_switch", &system()).unwrap_err();
    assert!(error.to_string().contains("tracefs is not mounted"), "{error}");
}

#[test]
fn file_that_cannot_be_used_is_the_cause() {
    let tree = tree();
    tree.pmu("broken", &[("type", "x\n")]);
    for text in ["cycles", "foo", "broken/event=1/"] {
        let error = parse(text, tree.system()).unwrap_err();
        let file = error.file_error().unwrap_or_else(|| panic!("{error}"));
        assert!(file.path().ends_with("broken/type"), "{error}");
    }
    assert!(parse("cs", tree.system()).is_ok());

    let tree = machine::tree();
    tree.pmu("without_type", &[("format/event", "config:0-7\n")]);
    assert!(parse("cycles", tree.system()).unwrap_err().file_error().is_some());
}
