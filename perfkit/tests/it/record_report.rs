//! A recording by `perfkit record` and one by the perf tool of the same program have the same
//! hottest functions in `perf report`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::recording::{Folder, record};

/// One sample for each ms of CPU time.
const EVENTS: [&str; 4] = ["-e", "task-clock", "-c", "1000000"];

/// The option of the perf tool without which it aborts while another program records build ids of
/// all processes, as other tests do: see "MMAP2 with the build-id bit but without a build id" in
/// the kernel errata.
const BUILD_IDS: &str = "--buildid-mmap";

/// The functions, the hottest first, and how often each runs. Their weights differ so much that a
/// few hundred samples have the same order each time.
const FUNCTIONS: [(&str, fn(), usize); 3] =
    [("takes_most", takes_most, 9), ("takes_some", takes_some, 4), ("takes_least", takes_least, 1)];

/// Declares functions that differ in their names only. They use operators alone, because a call
/// would be a function in the report if the build is not optimized.
macro_rules! functions {
    ($($name:ident)*) => {$(
        #[inline(never)]
        fn $name() {
            let mut random = black_box(stringify!($name).len() as u64);
            let mut round = 0;
            while round < 30_000_000 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                round += 1;
            }
            black_box(random);
        }
    )*};
}

functions!(takes_most takes_some takes_least);

#[test]
#[ignore = "the program that the other test records"]
fn workload() {
    for (_, function, times) in FUNCTIONS {
        for _ in 0..times {
            function();
        }
    }
}

/// Returns the symbols with the most samples, the hottest first.
fn hottest(folder: &Folder, file: &Path) -> Vec<String> {
    let mut perf = Command::new("perf");
    perf.args(["report", "--stdio", "--sort", "symbol", "-i"]).arg(file);
    let output = perf.env("HOME", folder.path("")).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report = String::from_utf8(output.stdout).unwrap();
    // `    64.29%  [.] record_report::takes_most   -      -`, aligned in columns
    let symbol =
        |line: &str| Some(line.split_once("%  [")?.1.split_once("] ")?.1.split("  ").next()?.to_owned());
    let symbols: Vec<String> = report.lines().filter_map(symbol).take(FUNCTIONS.len()).collect();
    assert_eq!(symbols.len(), FUNCTIONS.len(), "{report}");
    symbols
}

#[test]
fn hottest_functions_are_those_of_the_perf_tool() {
    // Some distributions install a script, which fails if it has no tool for this kernel.
    match Command::new("perf").arg("version").output() {
        Ok(version) if version.status.success() => {}
        other => return eprintln!("skipped: no perf tool: {other:?}"),
    }
    let folder = Folder::new();
    let (ours, theirs) = (folder.path("ours.data"), folder.path("theirs.data"));
    let program = std::env::current_exe().unwrap();
    let program = [program.to_str().unwrap(), "--ignored", "--exact", "record_report::workload"];
    let output = ["-o", ours.to_str().unwrap(), "--"];
    if record(&[&EVENTS[..], &output, &program].concat()).is_none() {
        return;
    }
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", BUILD_IDS, "-o"]).arg(&theirs).args(EVENTS).arg("--").args(program);
    let recorded = perf.env("HOME", folder.path("")).stdin(Stdio::null()).output().unwrap();
    assert!(recorded.status.success(), "{recorded:?}");

    let found = hottest(&folder, &ours);
    assert_eq!(found, hottest(&folder, &theirs));
    for (symbol, (name, ..)) in found.iter().zip(FUNCTIONS) {
        assert!(symbol.contains(name), "{found:?}");
    }
}

/// Returns the number of frames that `perf script` prints for a recording.
fn frames(folder: &Folder, file: &Path) -> usize {
    let mut perf = Command::new("perf");
    perf.args(["script", "-F", "ip", "-i"]).arg(file).env("HOME", folder.path("")).stdin(Stdio::null());
    let output = perf.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().filter(|line| !line.trim().is_empty()).count()
}

#[test]
fn perf_tool_unwinds_the_stacks_of_a_recording_as_its_own() {
    match Command::new("perf").arg("version").output() {
        Ok(version) if version.status.success() => {}
        other => return eprintln!("skipped: no perf tool: {other:?}"),
    }
    let folder = Folder::new();
    let (ours, theirs) = (folder.path("ours.data"), folder.path("theirs.data"));
    let options = ["-e", "task-clock", "-c", "2000000", "--call-graph", "dwarf,16384"];
    let burn = ["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"];
    let Some(output) = record(&[&options[..], &["-o", ours.to_str().unwrap()], &burn].concat()) else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", BUILD_IDS, "-o"]).arg(&theirs).args(options).args(burn);
    let recorded = perf.env("HOME", folder.path("")).stdin(Stdio::null()).output().unwrap();
    assert!(recorded.status.success(), "{recorded:?}");
    let (ours, theirs) = (frames(&folder, &ours), frames(&folder, &theirs));
    // The shell takes a different time each run.
    assert!(ours * 2 > theirs, "{ours} frames, {theirs} in the recording of the perf tool");
}
