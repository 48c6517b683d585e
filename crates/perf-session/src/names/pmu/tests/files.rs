//! Files that no kernel writes.

use super::*;

fn tree(files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new();
    tree.pmu("test", &[("type", "77\n"), ("format/event", "config:0-7\n")]);
    tree.pmu("test", files);
    tree
}

/// Returns the error of the event `x`, without the directory of the PMU.
fn x(file: &str, content: &str) -> String {
    let tree = tree(&[("events/x", "event=1\n"), (file, content)]);
    let directory = format!("{}/", tree.system().path("/sys/bus/event_source/devices/test").display());
    error(&named(&tree, "test"), "x,event=1").replace(&directory, "")
}

#[test]
fn type_must_be_a_number() {
    for content in ["", "cpu\n", "-1\n", "4294967296\n"] {
        let tree = tree(&[("type", content)]);
        let PmuError::File(error) = Pmu::named(tree.system(), "test").unwrap_err() else { panic!("a file") };
        assert!(error.path().ends_with("test/type"));
        assert!(error.to_string().contains("expected the number of the PMU, found"), "{error}");
        assert!(Pmu::all(tree.system()).is_err());
    }
}

#[test]
fn pmu_without_a_type_is_an_error() {
    let tree = Tree::new();
    tree.pmu("test", &[("cpumask", "0\n")]);
    let PmuError::File(error) = Pmu::named(tree.system(), "test").unwrap_err() else { panic!("a file") };
    assert!(error.is_not_found() && error.path().ends_with("test/type"));
}

#[test]
fn pmu_whose_driver_was_unloaded_is_not_found() {
    let tree = tree(&[]);
    let link = tree.system().path("/sys/bus/event_source/devices/unloaded");
    std::os::unix::fs::symlink("../../../devices/unloaded", link).unwrap();
    assert_eq!(names(&Pmu::all(tree.system()).unwrap()), ["test"]);
    assert!(Pmu::named(tree.system(), "unloaded").is_err());
}

#[test]
fn malformed_lists_of_cpus_are_named() {
    for file in ["cpus", "cpumask"] {
        let tree = tree(&[(file, "0-zwei\n")]);
        let error = Pmu::named(tree.system(), "test").unwrap_err().to_string();
        assert!(error.contains(&format!("test/{file}: expected a list of CPUs")), "{error}");
    }
}

#[test]
fn malformed_formats_are_named() {
    for (content, found) in [("", "nothing"), ("config:64", "`config:64`"), ("\0\x01", r"`\x00\x01`")] {
        let expected = format!("format/event: expected bits such as `config:0-7,32-35`, found {found}");
        assert_eq!(x("format/event", content), expected);
    }
}

#[test]
fn malformed_events_are_named() {
    for (content, found) in [("", "nothing"), ("\n", "nothing"), ("event=", "`event=`"), ("a b", "`a b`")] {
        let expected = format!("events/x: expected terms such as `event=0x64,umask=0x09`, found {found}");
        assert_eq!(x("events/x", content), expected);
    }
    assert_eq!(x("events/x", "evnt=1"), "events/x: expected terms of the PMU, found `evnt=1`");
    let too_wide = "events/x: expected values that fit the terms of the PMU, found `event=0x100`";
    assert_eq!(x("events/x", "event=0x100"), too_wide);
    // An event can refer neither to another one nor to itself.
    assert_eq!(x("events/x", "x"), "events/x: expected terms of the PMU, found `x`");
}

#[test]
fn malformed_scales_are_named() {
    for content in ["", "x", "inf", "NaN", "0", "1,5"] {
        let message = x("events/x.scale", content);
        assert!(
            message.starts_with("events/x.scale: expected a number such as `2.3e-10`, not 0, found"),
            "{message}"
        );
    }
}

#[test]
fn binary_and_huge_files_are_named() {
    let tree = tree(&[]);
    let event = "/sys/bus/event_source/devices/test/events/x";
    for (content, expected) in
        [(vec![0xff; 9], "expected UTF-8 text"), (vec![b'1'; 5 << 20], "bytes, found more")]
    {
        tree.file(event, content);
        let message = error(&named(&tree, "test"), "x");
        assert!(message.contains("test/events/x: ") && message.contains(expected), "{message}");
    }
}

#[test]
fn properties_must_be_numbers() {
    let tree = tree(&[("rdpmc", "yes\n"), ("nr_addr_filters", ""), ("perf_event_mux_interval_ms", "-4\n")]);
    let pmu = named(&tree, "test");
    let errors = [pmu.user_access().err(), pmu.address_filters().err(), pmu.multiplex_interval().err()];
    assert!(errors.iter().all(Option::is_some), "{errors:?}");
}
