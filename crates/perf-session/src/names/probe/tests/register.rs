//! The lines in tracefs.

use super::*;

fn line(probe: &Probe) -> String {
    probe.line("perf_session_7", "probe_0").unwrap()
}

#[test]
fn line_has_the_kind_the_name_and_the_place() {
    let name = "perf_session_7/probe_0";
    let function = Probe::kernel_function("do_sys_open").unwrap();
    assert_eq!(line(&function), format!("p:{name} do_sys_open+0"));
    assert_eq!(line(&function.on_return()), format!("r:{name} do_sys_open+0"));
    assert_eq!(line(&Probe::kernel_address(0xff00)), format!("p:{name} 0xff00"));
    let file = Probe::file_offset("/bin/a:b", 0x10).unwrap();
    assert_eq!(line(&file), format!("p:{name} /bin/a:b:0x10"));
    assert_eq!(line(&file.with_ref_counter(0x20)), format!("p:{name} /bin/a:b:0x10(0x20)"));
}

#[test]
fn path_with_a_blank_is_an_error() {
    let probe = Probe::file_offset("/bin/a b", 0).unwrap();
    let message = error(probe.line("c", "n"));
    assert!(message.starts_with("/bin/a b: expected the path of a file"), "{message}");
}

#[test]
fn kernel_without_probes_is_an_error_that_names_the_option() {
    let tree = Tree::new();
    tree.pmu("software", &[("type", "1\n")]);
    tree.file("/sys/kernel/tracing/events/header_page", "");
    let message = error(Probe::kernel_address(1).event(tree.system()));
    assert_eq!(message, "this kernel has no kprobes: it needs CONFIG_KPROBE_EVENTS");
    assert!(matches!(Probe::kernel_address(1).event_spec(tree.system()), Err(ProbeError::Pmu(_))));
}

#[test]
fn kernel_without_tracefs_is_an_error_that_names_the_command() {
    let tree = Tree::new();
    tree.pmu("software", &[("type", "1\n")]);
    let message = error(Probe::kernel_address(1).event(tree.system()));
    assert_eq!(message, "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing");
}

#[test]
fn line_is_appended_and_taken_away() {
    // A plain file stands for the kernel's, which lists the tracepoint of the line at once.
    let tree = Tree::new();
    let lines = tree.file("/sys/kernel/tracing/uprobe_events", "p:other/probe /bin/true:0x1\n");
    tree.pmu("software", &[("type", "1\n")]);
    let category = format!("perf_session_{}", std::process::id());
    for number in 0..50 {
        let format = format!("name: probe_{number}\nID: {}\nformat:\n\n", 2000 + number);
        tree.file(format!("/sys/kernel/tracing/events/{category}/probe_{number}/format"), format);
    }
    let event = Probe::file_offset("/bin/true", 0x10).unwrap().event(tree.system()).unwrap();
    assert!(event.is_in_tracefs());
    let spec = event.spec();
    let name = format!("{category}/probe_{}", spec.attr().config - 2000);
    assert_eq!(spec.label().to_string(), "uprobe:/bin/true:0x10");
    let text = std::fs::read_to_string(&lines).unwrap();
    assert_eq!(text, format!("p:other/probe /bin/true:0x1\np:{name} /bin/true:0x10\n"));
    event.remove().unwrap();
    let text = std::fs::read_to_string(&lines).unwrap();
    assert!(text.ends_with(&format!("\n-:{name}\n")) && text.matches("-:").count() == 1, "{text}");
}
