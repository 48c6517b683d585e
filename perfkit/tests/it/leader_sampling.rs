//! Groups of which only the leader samples: `{a,b}:S`.

use std::path::Path;
use std::process::Command;

use perf_abi::Software;
use serde_json::Value;

use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit, record};

const CLOCK: (&str, Software) = ("cpu-clock", Software::CPU_CLOCK);
const FAULTS: (&str, Software) = ("page-faults", Software::PAGE_FAULTS);

/// Runs a command on `perf.data` of a folder, and returns its output.
fn run(folder: &Path, words: &[&str]) -> String {
    let output = perfkit().args(words).current_dir(folder).output();
    assert!(output.as_ref().is_ok_and(|output| output.status.success()), "{words:?}: {output:?}");
    output.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn members_have_their_counts_in_every_view() {
    let folder = Folder::new();
    let mut made = Made::with_group(&[CLOCK, FAULTS, ("context-switches", Software::CONTEXT_SWITCHES)]);
    made.comm(7, b"group");
    made.map(7, 0x1000, b"/no/such/one", None);
    made.map(7, 0x2000, b"/no/such/two", None);
    // The first count is the count since the start.
    made.sample_with_counts(7, 0x1010, &[1000, 5, 0]);
    made.sample_with_counts(7, 0x2010, &[3000, 5, 2]);
    made.sample_with_counts(7, 0x2010, &[3500, 12, 3]);
    made.write(&folder.path("perf.data"));
    let folder = folder.path("");

    let report = run(&folder, &["report", "--no-children", "-s", "dso", "-n"]);
    for line in [
        "# event 1 page-faults: sampled with the leader of its group, id 2",
        "# cpu-clock: 3 samples, 0.000 s",
        "# page-faults: 2 samples, 12 events",
        "# context-switches: 2 samples, 3 events",
    ] {
        assert!(report.contains(line), "{report}");
    }
    let json: Value = serde_json::from_str(&run(&folder, &["report", "--json", "-s", "dso"])).unwrap();
    let own = |row: usize, event: usize| json["rows"][row]["events"][event]["self"].as_u64().unwrap();
    assert_eq!([0, 1, 2].map(|event| [own(0, event), own(1, event)]), [[2500, 1000], [7, 5], [3, 0]]);

    assert_eq!(
        run(&folder, &["export", "-f", "folded", "-e", "page-faults"]),
        "group;[one] 5\ngroup;[two] 7\n"
    );
    let lines = run(&folder, &["export", "-f", "json"]);
    let samples: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let samples: Vec<_> =
        samples.iter().map(|sample| (sample["event"].as_str(), sample["value"].as_u64())).collect();
    let [clock, faults, switches] = ["cpu-clock", "page-faults", "context-switches"].map(Some);
    let expected =
        [(clock, 1000), (faults, 5), (clock, 2000), (switches, 2), (clock, 500), (faults, 7), (switches, 1)];
    assert_eq!(samples, expected.map(|(event, value)| (event, Some(value))));

    let script = run(&folder, &["script", "-F", "event,period"]);
    let lines: Vec<_> =
        script.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = expected.map(|(event, value)| format!("{value} {}:", event.unwrap()));
    assert_eq!(lines, expected);

    let diff = run(&folder, &["diff", "-e", "page-faults", "perf.data", "perf.data"]);
    assert!(diff.contains("# total: 12 -> 12"), "{diff}");
}

#[test]
fn samples_that_a_filter_leaves_out_count_for_the_next_ones() {
    let folder = Folder::new();
    let mut made = Made::with_group(&[CLOCK, FAULTS]);
    made.comm(7, b"one");
    made.comm(8, b"two");
    made.sample_with_counts(7, 0x1010, &[1000, 5]);
    made.sample_with_counts(8, 0x1010, &[2000, 6]);
    made.write(&folder.path("perf.data"));
    let folded = run(&folder.path(""), &["export", "-f", "folded", "-e", "page-faults", "--comm", "two"]);
    assert!(folded.ends_with(" 1\n"), "{folded}");
}

#[test]
fn recorded_group_has_the_counts_of_its_members_as_the_perf_tool_has_them() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let arguments = ["-q", "-F", "1999", "-e", "{cpu-clock,page-faults}:S", "-o", file.to_str().unwrap()];
    // One process, because perf before 6.12 takes the counts of all threads for one.
    let program = ["--", "sort", "-R", "--parallel=1", "/etc/services", "/etc/services", "/etc/services"];
    if record(&[&arguments[..], &program].concat()).is_none() {
        return;
    }
    let fields = ["script", "-G", "-F", "comm,tid,time,event,period"];
    let found = run(&folder.path(""), &fields);
    assert!(found.contains(" page-faults: "), "{found}");
    let Ok(expected) = Command::new("perf").args(fields).arg("-i").arg(&file).output() else {
        eprintln!("skipped: no perf tool");
        return;
    };
    assert_eq!(found, String::from_utf8_lossy(&expected.stdout));
}
