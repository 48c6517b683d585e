//! The attr and the name of a probe.

use perf_ring::EventType;

use super::*;
use crate::names::pmu::PmuError;

/// Returns the text at the address in `config1`.
fn probe_text(probe: &Probe, system: &System) -> (u64, bool) {
    let spec = probe.event_spec(system).unwrap();
    let (Location::Function { name: text, .. } | Location::File { path: text, .. }) = &probe.location else {
        return (spec.attr().config1, false);
    };
    (spec.attr().config1, spec.attr().config1 == text.as_ptr().addr() as u64)
}

#[test]
fn kernel_function_is_passed_by_its_name() {
    let tree = tree();
    let probe = Probe::kernel_function("do_sys_openat2").unwrap().with_offset(4);
    let spec = probe.event_spec(tree.system()).unwrap();
    let attr = spec.attr();
    assert_eq!((attr.kind, attr.config, attr.config2), (EventType(6), 0, 4));
    assert!(probe_text(&probe, tree.system()).1);
    assert_eq!(
        (spec.pmu(), spec.label().to_string().as_str()),
        (Some("kprobe"), "kprobe:do_sys_openat2+0x4")
    );
    let probe = Probe::kernel_function("do_sys_openat2").unwrap().on_return();
    assert_eq!(probe.event_spec(tree.system()).unwrap().attr().config, 1);
    assert_eq!(probe.to_string(), "kretprobe:do_sys_openat2");
}

#[test]
fn kernel_address_has_no_name() {
    let tree = tree();
    let probe = Probe::kernel_address(0xffff_ffff_8123_4560);
    assert_eq!(probe_text(&probe, tree.system()), (0, false));
    assert_eq!(probe.event_spec(tree.system()).unwrap().attr().config2, 0xffff_ffff_8123_4560);
    assert_eq!(probe.to_string(), "kprobe:0xffffffff81234560");
}

#[test]
fn file_is_passed_by_its_absolute_path() {
    let tree = tree();
    let probe = Probe::file_offset("/bin/bash", 0x1230).unwrap().with_offset(4);
    let attr = probe.event_spec(tree.system()).unwrap().attr();
    assert_eq!((attr.kind, attr.config, attr.config2), (EventType(7), 0, 0x1234));
    assert!(probe_text(&probe, tree.system()).1);
    assert_eq!(probe.to_string(), "uprobe:/bin/bash:0x1234");
    let Location::File { path, .. } = Probe::file_offset("a.out", 0).unwrap().location else {
        panic!("a file")
    };
    assert_eq!(path_of(&path), std::env::current_dir().unwrap().join("a.out"));
}

#[test]
fn reference_counter_is_in_the_upper_half_of_the_config() {
    let tree = tree();
    let probe = Probe::file_offset("/bin/bash", 0).unwrap().with_ref_counter(0x5678).on_return();
    assert_eq!(probe.event_spec(tree.system()).unwrap().attr().config, 0x5678_0000_0001);
    assert_eq!(probe.to_string(), "uretprobe:/bin/bash:0x0");
    let message = error(
        Probe::file_offset("/bin/bash", 0).unwrap().with_ref_counter(1 << 32).event_spec(tree.system()),
    );
    assert!(message.contains("`ref_ctr_offset=0x100000000`: expected at most 0xffffffff"), "{message}");
    // Before Linux 4.20.
    std::fs::remove_file(tree.system().path("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset"))
        .unwrap();
    assert!(matches!(probe.event_spec(tree.system()), Err(ProbeError::Pmu(PmuError::Term(_)))));
}

#[test]
fn kernel_has_no_reference_counters() {
    let tree = tree();
    let probe = Probe::kernel_function("f").unwrap();
    let with_counter = probe.clone().with_ref_counter(0);
    assert!(matches!(with_counter.event_spec(tree.system()), Err(ProbeError::KernelRefCounter)));
    assert!(matches!(with_counter.line("c", "n"), Err(ProbeError::KernelRefCounter)));
    assert!(matches!(probe.with_ref_counter_symbol("s"), Err(ProbeError::KernelRefCounter)));
}

#[test]
fn names_that_the_kernel_cannot_take_are_errors() {
    for name in ["", "a b", "a\0b", "a\n", &"f".repeat(512)] {
        let message = error(Probe::kernel_function(name));
        assert!(message.starts_with("kernel function: expected 1 to 511 bytes"), "{message}");
    }
    assert!(Probe::kernel_function(&"f".repeat(511)).is_ok());
    for path in ["", "a\0b"] {
        assert!(matches!(Probe::file_offset(path, 0), Err(ProbeError::Path { .. })));
    }
}
