//! Tracepoints of made-up machines.

use std::os::unix::fs::symlink;

use super::*;
use crate::system::tree::Tree;

/// Returns the format of a tracepoint with one field after the common ones.
fn format(name: &str, id: u32) -> String {
    format!(
        "name: {name}
ID: {id}
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;

print fmt: \"pid=%d\", REC->pid
"
    )
}

fn tree_at(mount: &str) -> Tree {
    let tree = Tree::new();
    let names = [
        ("sched", "sched_switch"),
        ("sched", "sched_process_fork"),
        ("sched", "sched_process_exit"),
        ("task", "task_rename"),
    ];
    for ((category, name), id) in names.into_iter().zip(314..) {
        let directory = format!("{mount}/events/{category}");
        tree.file(format!("{directory}/{name}/id"), format!("{id}\n"));
        tree.file(format!("{directory}/{name}/format"), format(name, id));
        tree.file(format!("{directory}/enable"), "0\n");
    }
    tree.file(format!("{mount}/events/header_page"), "");
    tree
}

fn tracefs(tree: &Tree) -> Tracefs {
    Tracefs::find(tree.system()).unwrap()
}

#[test]
fn either_mount_point_is_found() {
    for mount in TRACEFS {
        let tree = tree_at(mount);
        assert_eq!(tracefs(&tree).path(), tree.system().path(mount));
        assert_eq!(tracefs(&tree).tracepoint("sched", "sched_switch").unwrap().id(), 314);
    }
}

#[test]
fn empty_mount_point_is_an_error_with_the_command() {
    let tree = Tree::new();
    tree.file("/sys/kernel/tracing/x", "");
    let error = Tracefs::find(tree.system()).unwrap_err();
    assert!(matches!(error, TracefsError::NotMounted));
    assert_eq!(error.to_string(), "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing");
}

#[test]
fn mount_point_that_is_no_directory_is_named() {
    let tree = Tree::new();
    tree.file("/sys/kernel/tracing", "");
    let error = Tracefs::find(tree.system()).unwrap_err();
    assert!(matches!(error, TracefsError::File(_)), "{error:?}");
    assert!(error.to_string().contains("/sys/kernel/tracing/events"), "{error}");
}

#[test]
fn missing_permission_is_named_with_the_remedy() {
    let path: PathBuf = "/sys/kernel/tracing/events".into();
    let error = FileError::io(path.clone(), ErrorKind::PermissionDenied.into()).into();
    assert!(matches!(&error, TracefsError::PermissionDenied { path: found } if *found == path));
    let TracefsError::PermissionDenied { .. } = error else { panic!("{error}") };
    assert!(error.to_string().starts_with("/sys/kernel/tracing/events: permission denied; run as root"));
}

#[test]
fn tracepoint_has_its_names_id_and_format() {
    let tree = tree_at(TRACEFS[0]);
    let fork = tracefs(&tree).tracepoint("sched", "sched_process_fork").unwrap();
    assert_eq!((fork.category(), fork.name(), fork.id()), ("sched", "sched_process_fork", 315));
    assert_eq!(fork.to_string(), "sched:sched_process_fork");
    let pid = fork.format().unwrap().integer("pid").unwrap();
    assert_eq!(pid.read_i64(&[0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 7, 7]), Some(0x0707_0707));
    let spec = fork.event_spec();
    assert_eq!(spec.attr(), Attr::tracepoint(315));
    assert_eq!(
        (spec.label().to_string().as_str(), spec.pmu()),
        ("sched:sched_process_fork", Some("tracepoint"))
    );
}

#[test]
fn categories_and_names_are_directories() {
    let tree = tree_at(TRACEFS[0]);
    let tracefs = tracefs(&tree);
    assert_eq!(tracefs.categories().unwrap(), ["sched", "task"]);
    assert_eq!(tracefs.names("sched").unwrap(), ["sched_process_exit", "sched_process_fork", "sched_switch"]);
}

#[test]
fn patterns_match_both_parts() {
    let tree = tree_at(TRACEFS[0]);
    let matching = |pattern: &str| {
        let found = tracefs(&tree).matching(pattern).unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(matching("sched:sched_switch"), "sched:sched_switch");
    assert_eq!(matching("sched:*_fork"), "sched:sched_process_fork");
    assert_eq!(matching("sched:sched_process_*"), "sched:sched_process_exit sched:sched_process_fork");
    assert_eq!(matching("t*:*"), "task:task_rename");
    assert_eq!(matching("task_rename"), "task:task_rename");
    assert_eq!(matching("*:*").split(' ').count(), 4);
}

#[test]
fn missing_name_is_an_error_with_those_in_its_place() {
    let tree = tree_at(TRACEFS[0]);
    let missing = |pattern: &str| match tracefs(&tree).matching(pattern) {
        Err(TracefsError::NotFound { wanted, has }) => (wanted, has.join(" ")),
        other => panic!("{other:?}"),
    };
    let schedule = "sched_process_exit sched_process_fork sched_switch";
    assert_eq!(missing("sched:switch"), ("sched:switch".into(), schedule.into()));
    assert_eq!(missing("sched:nothing*"), ("sched:nothing*".into(), schedule.into()));
    assert_eq!(missing("shed:sched_switch"), ("shed".into(), "sched task".into()));
    assert_eq!(missing("shed:*"), ("shed:*".into(), "sched task".into()));
    assert_eq!(missing("nothing"), ("nothing".into(), "sched task".into()));
    for path in ["sched:../task/task_rename", "..:events", ":", "sched:", "./sched:sched_switch"] {
        missing(path);
    }
    let message = tracefs(&tree).tracepoint("sched", "x\n").unwrap_err().to_string();
    assert_eq!(
        message,
        format!("tracepoint `sched:x`: not on this machine, which has {}", schedule.replace(' ', ", "))
    );
}

#[test]
fn format_that_is_malformed_is_named_with_the_line() {
    let tree = tree_at(TRACEFS[0]);
    let path = tree.file("/sys/kernel/tracing/events/task/task_rename/format", "name: task_rename\nID: x\n");
    let error = tracefs(&tree).tracepoint("task", "task_rename").unwrap_err();
    assert!(matches!(error, TracefsError::Format { .. }), "{error:?}");
    assert!(error.to_string().starts_with(&format!("{}: line 2: ", path.display())), "{error}");
    tree.file("/sys/kernel/tracing/events/task/task_rename/format", b"\xff");
    assert!(tracefs(&tree).matching("task:*").is_err());
}

#[test]
fn linked_directories_are_no_categories() {
    let tree = tree_at(TRACEFS[0]);
    symlink(tree.system().path("/"), tree.system().path("/sys/kernel/tracing/events/root")).unwrap();
    assert_eq!(tracefs(&tree).categories().unwrap(), ["sched", "task"]);
}

#[test]
fn error_has_the_nearest_names_and_not_the_first() {
    let has: Vec<String> = (0..700).map(|n| format!("a{n}")).chain(["sys_enter_getpid".to_owned()]).collect();
    let error = TracefsError::NotFound { wanted: "syscalls:sys_enter_getpidd".to_owned(), has: has.clone() };
    assert_eq!(
        error.to_string(),
        "tracepoint `syscalls:sys_enter_getpidd`: not on this machine, the nearest name is sys_enter_getpid"
    );
    let error = TracefsError::NotFound { wanted: "syscalls:zzz".to_owned(), has };
    assert!(error.to_string().contains("which has a0, a1"), "{error}");
}
