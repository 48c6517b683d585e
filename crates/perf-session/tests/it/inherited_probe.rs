//! Probes that new tasks inherit.

use std::process::{Command, Stdio};

use perf_session::{EventSetOptions, EventSetTarget, System, parse};

use crate::support::{skip, skip_in_any_case};

#[test]
fn probe_counts_a_command_whose_tasks_fork() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let Some(libc) = maps.split_ascii_whitespace().find(|word| word.contains("/libc.so")) else {
        return skip_in_any_case("no libc.so in this program");
    };
    for _ in 0..6 {
        let groups = parse(&format!("uprobe:{libc}:malloc"), &System::new()).unwrap();
        let options = EventSetOptions::new().groups(groups).target(EventSetTarget::command());
        let mut set = match options.open() {
            Ok(set) => set,
            Err(error) => return skip(error),
        };
        let mut command = Command::new("sh");
        command.args(["-c", "ls / && ls / && exit 7"]).stdout(Stdio::null());
        let status = set.spawn(&mut command).unwrap().wait().unwrap();
        assert_eq!(status.code(), Some(7), "a fork of the command failed");
        let count = set.counts().unwrap().get(0).unwrap().total().value;
        assert!(count > 20, "{count}");
        set.close().unwrap();
    }
    let category = format!("perf_session_{}/", std::process::id());
    let listed = std::fs::read_to_string("/sys/kernel/tracing/uprobe_events").unwrap_or_default();
    assert!(!listed.contains(&category), "{listed}");
}
