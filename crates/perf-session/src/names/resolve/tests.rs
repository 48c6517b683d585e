//! Events of a hybrid machine.

use perf_ring::abi::PMU_TYPE_SHIFT;
use perf_ring::{Attr, AttrFlags, BreakpointLen, BreakpointType, EventType, Hardware, Software};

use super::*;
use crate::system::tree::Tree;

fn system() -> System {
    System::at("/nonexistent")
}

fn groups(text: &str) -> Vec<EventGroup> {
    parse(text, &system()).unwrap_or_else(|error| panic!("{error}"))
}

fn attr(text: &str) -> Attr {
    let event = parse_event(text, &system()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(event.specs().len(), 1);
    event.specs()[0].attr()
}

/// The attr of the event in the host.
fn in_host(attr: Attr) -> Attr {
    attr.with_flags(AttrFlags::EXCLUDE_GUEST)
}

#[test]
fn generic_events_are_found_by_name() {
    assert_eq!(attr("cycles"), in_host(Attr::hardware(Hardware::CPU_CYCLES)));
    assert_eq!(attr("cs"), in_host(Attr::software(Software::CONTEXT_SWITCHES)));
    assert_eq!(attr("LLC-load-misses"), in_host(Attr::new(EventType::HW_CACHE, 0x1_0002)));
    assert_eq!(attr("r1a2"), in_host(Attr::raw(0x1a2)));
    // The PMU of type 7 may reject an exclusion.
    assert_eq!(attr("7:9"), Attr::new(EventType(7), 9));
}

#[test]
fn breakpoints_have_default_length_and_accesses() {
    let breakpoint = |kind, len| in_host(Attr::breakpoint(kind, 0x1000, len));
    assert_eq!(attr("mem:0x1000"), breakpoint(BreakpointType::READ_WRITE, BreakpointLen::FOUR));
    assert_eq!(attr("mem:0x1000/8:w"), breakpoint(BreakpointType::WRITE, BreakpointLen::EIGHT));
    assert_eq!(attr("mem:0x1000:x"), in_host(Attr::breakpoint_execute(0x1000)));
}

#[test]
fn guests_are_excluded_where_the_perf_tool_excludes_them() {
    let machines = AttrFlags::EXCLUDE_GUEST | AttrFlags::EXCLUDE_HOST;
    let excluded = |text: &str| {
        let groups = groups(text);
        let attrs = groups.iter().flat_map(EventGroup::members).map(|event| event.specs()[0].attr());
        attrs.map(|attr| (attr.flags & machines).to_string()).collect::<Vec<_>>().join(" ")
    };
    for text in
        ["cycles", "cs", "cs:", "cs:u", "cs:p", "cs:ku", "cs:H", "cs:uH", "r1", "mem:0x1000", "{cs:k}:u"]
    {
        assert_eq!(excluded(text), "EXCLUDE_GUEST", "{text}");
    }
    for text in ["cs:k", "cs:h", "cs:I", "cs:P", "cs:GH", "{cs:k}", "{cs:G}:H", "7:9"] {
        assert_eq!(excluded(text), "0x0", "{text}");
    }
    assert_eq!(excluded("{cs:G,faults}:u"), "EXCLUDE_HOST EXCLUDE_GUEST");
    assert_eq!(excluded("{cs,faults}:k"), "EXCLUDE_GUEST EXCLUDE_GUEST");
}

#[test]
fn modifiers_become_flags() {
    assert_eq!(
        attr("cycles:uppD").flags.to_string(),
        "PINNED|EXCLUDE_KERNEL|EXCLUDE_HV|EXCLUDE_GUEST|precise_ip=2"
    );
}

#[test]
fn group_modifiers_are_added_to_those_of_the_events() {
    let group = &groups("{cycles:u,cs:p}:kDpS")[0];
    let flags: Vec<_> =
        group.members().iter().map(|event| event.specs()[0].attr().flags.to_string()).collect();
    assert_eq!(
        flags,
        [
            "PINNED|EXCLUDE_HV|EXCLUDE_GUEST|precise_ip=1",
            "EXCLUDE_USER|EXCLUDE_HV|EXCLUDE_GUEST|precise_ip=2"
        ]
    );
    assert!(group.is_braced() && group.is_leader_sampling() && !group.is_weak());
}

#[test]
fn too_much_precision_of_event_and_group_is_an_error() {
    let error = parse("{cs,cycles:pp}:pp", &system()).unwrap_err();
    assert_eq!(error.found(), "cycles:pp");
}

#[test]
fn terms_set_fields_of_the_attr() {
    let attr = attr("r1/config1=2,config2=3,config3=4,config4=5,period=1000/");
    assert_eq!((attr.config1, attr.config2, attr.config3, attr.config4), (2, 3, 4, 5));
    assert_eq!(attr.sample_period, 1000);
    let attr = self::attr("cs/period=5,freq=99/");
    assert_eq!((attr.sample_period, attr.flags), (99, AttrFlags::FREQ | AttrFlags::EXCLUDE_GUEST));
}

#[test]
fn name_is_the_text_of_the_event_or_its_term() {
    let groups = groups("cycles:u,{cs/name=mine/,r1}:k");
    let names: Vec<_> = groups.iter().flat_map(EventGroup::members).map(NamedEvent::name).collect();
    assert_eq!(names, ["cycles:u", "mine", "r1"]);
    assert_eq!(groups[1].members()[0].specs()[0].label().to_string(), "mine");
}

#[test]
fn unknown_names_list_the_nearest() {
    let error = parse("cs,cyclse:u", &system()).unwrap_err();
    assert_eq!((error.offset(), error.nearest()[0].as_str()), (3, "cycles"));
    let error = parse("L1-dcache-lod-misses", &system()).unwrap_err();
    assert_eq!(error.nearest()[0], "L1-dcache-load-misses");
    let error = parse("cs/perod=1/", &system()).unwrap_err();
    assert_eq!((error.offset(), error.nearest()), (3, &["period".to_owned()][..]));
}

#[test]
fn one_event_is_not_several() {
    assert!(parse_event("cs,cs", &system()).unwrap_err().to_string().contains("expected one event, found 2"));
    assert!(parse_event("{cs}", &system()).is_ok());
}

#[test]
fn number_of_a_tracepoint_is_named_as_written() {
    assert_eq!(parse_event("2:0x17", &system()).unwrap().name(), "2:0x17");
}

/// Returns a machine with two core PMUs, two memory controllers and a tracepoint.
fn tree() -> Tree {
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

    let tree = self::tree();
    tree.pmu("without_type", &[("format/event", "config:0-7\n")]);
    assert!(parse("cycles", tree.system()).unwrap_err().file_error().is_some());
}
