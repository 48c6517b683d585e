//! The filters of samples, compared with the perf tool's on captured files.

use std::path::Path;
use std::process::Command;

use crate::support::recording::perfkit;

/// Returns the lines of `script` that begin with a thread and a time; `None` if the program is
/// missing.
fn script(mut program: Command, file: &str, options: &[&str]) -> Option<Vec<String>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-decode/tests/data");
    program.arg("script").arg("-i").arg(data.join(format!("{file}.data")));
    let output = program.args(["--ns", "-F", "tid,time"]).args(options).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_sample = |line: &&str| line.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
    Some(
        text.lines()
            .filter(is_sample)
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect(),
    )
}

#[test]
fn filters_choose_the_samples_that_the_perf_tool_does() {
    // A thread and a process with many samples, and an object.
    let files = [
        ("sched-raw", "26260", "26260", "[kernel.kallsyms]"),
        ("cpuclock-fp", "26166", "26166", "[kernel.kallsyms]"),
        ("regs-cpuwide", "27042", "27282", "libc.so.6"),
        ("irq-exc-tp", "28896", "28896", "[kernel.kallsyms]"),
    ];
    let mut compared = 0;
    for (file, tid, pid, dso) in files {
        let all: &[&[&str]] = &[
            &[],
            &["--time", "10%/2"],
            &["--time", "0%-30%"],
            &["--time", "10%/1,10%/3"],
            &["--time", "40%"],
            &["--time", "2999.9235,2999.9237 2999.925,"],
            &["--time", ",3070.25"],
            &["--comms", "sort,grep"],
            &["--comms", "swapper"],
            &["--cpu", "0"],
            &["-C", "1-1"],
            &["--tid", tid],
            &["--pid", pid],
            &["--dsos", dso],
            &["--comms", "sort", "--time", "2999.9,", "--tid", tid],
        ];
        for options in all {
            let Some(expected) = script(Command::new("perf"), file, options) else {
                eprintln!("skipped: no perf tool");
                return;
            };
            let found = script(perfkit(), file, options).unwrap();
            assert_eq!(found, expected, "{file} {options:?}");
            compared += found.len();
        }
    }
    println!("{compared} samples");
}
