//! The conditions after a run: readable files, true counts, a reason for each failure.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::errno::Errno;
use nix::sys::signal::Signal;

use crate::calls::Fault;
use crate::cases::{CALLS, Case, Product};
use crate::tracer::{End, Outcome};

/// The files and messages that a run has left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Result {
    pub stdout: String,
    pub stderr: String,
    /// Features and numbers of records of the recordings, whose equality says that nothing is
    /// missing.
    pub content: BTreeMap<String, usize>,
    /// Samples and losses, where they can be counted.
    pub counted: Option<usize>,
    faults: Vec<String>,
}

/// Reads what a run has left in the folders `out` and `log`.
pub fn read(case: &Case, perfkit: &Path, out: &Path, log: &Path) -> Result {
    let text = |name| String::from_utf8_lossy(&fs::read(log.join(name)).unwrap_or_default()).into_owned();
    let mut result = Result { stdout: text("stdout"), stderr: text("stderr"), ..Result::default() };
    let files = files(out);
    match case.product {
        Product::Recording | Product::Recordings => {
            let mut counted = 0;
            for file in &files {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let expected = if case.product == Product::Recording {
                    name == "perf.data"
                } else {
                    // `perf.data.2026112821304149`, and the last of them until it has its name.
                    name.strip_prefix("perf.data")
                        .is_some_and(|end| end.chars().all(|c| c == '.' || c.is_ascii_digit()))
                };
                if !expected {
                    result.faults.push(format!("the file {name} is left"));
                }
                counted += recording(&mut result, perfkit, file);
            }
            result.counted = Some(counted);
        }
        Product::Profiles => {
            for file in &files {
                let name = file.to_string_lossy();
                if !name.ends_with(".pb.gz") {
                    result.faults.push(format!("the file {name} is left"));
                }
                if !Command::new("gzip").arg("-t").arg(file).status().is_ok_and(|status| status.success()) {
                    result.faults.push(format!("{name} is damaged"));
                }
            }
            result.counted = summary(&result.stderr);
        }
        Product::Count => {
            let line = result.stderr.lines().find(|line| line.contains("sys_enter_getsid"));
            result.counted = line.and_then(|line| line.split(',').next()?.parse().ok());
        }
        Product::Lines => {
            let lines = result.stderr.lines();
            result.counted = Some(lines.filter(|line| line.contains("getsid(pid: ")).count());
        }
        Product::Tables => {}
    }
    result
}

/// The regular files under a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The samples of the line `perfkit: 20 samples in 3 profiles, none lost`.
fn summary(stderr: &str) -> Option<usize> {
    let words: Vec<&str> = stderr.lines().find(|line| line.contains(" samples in "))?.split(' ').collect();
    let at = words.iter().position(|word| *word == "samples")?;
    words.get(at.checked_sub(1)?)?.parse().ok()
}

/// Reads a recording with two commands, and returns its samples with those that it says are lost.
fn recording(result: &mut Result, perfkit: &Path, file: &Path) -> usize {
    let mut run = |arguments: &[&str]| {
        let output = Command::new(perfkit).args(arguments).arg("-i").arg(file).output();
        let Ok(output) = output else {
            result.faults.push("perfkit cannot be run".to_string());
            return String::new();
        };
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            result.faults.push(format!("{} cannot read the file: {}", arguments.join(" "), error.trim()));
        }
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let records = run(&["dump"]);
    let features = run(&["dump", "--features"]);
    let report = run(&["report", "--json"]);
    for record in records.lines().filter(|line| line.starts_with("0x")) {
        let kind = record.split(' ').find(|word| {
            word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c == '2')
        });
        *result.content.entry(kind.unwrap_or("?").to_string()).or_default() += 1;
    }
    for feature in features.lines() {
        let name = feature.split(':').next().unwrap_or_default();
        *result.content.entry(format!("feature {name}")).or_default() += 1;
    }
    number(&report, "\"samples\":")
        + number(&report, "\"lost_samples\":")
        + number(&report, "\"lost_records\":")
}

/// The first number after a name.
fn number(json: &str, name: &str) -> usize {
    let Some((_, rest)) = json.split_once(name) else { return 0 };
    rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Numbers in a message differ from run to run.
fn form(text: &str) -> String {
    let mut form: String = text.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    form = form.replace("sample ", "samples ");
    form
}

/// Returns what is wrong after a run with a failed call, beside the run without one.
pub fn faults(
    case: &Case,
    fault: Option<Fault>,
    good: &Result,
    outcome: &Outcome,
    result: &Result,
) -> Vec<String> {
    // What the standard library does without memory, and with no memory for the stack that a new
    // thread uses for signals. No program can prevent it, nor what is half written then.
    let out_of_memory = ["memory allocation of", "failed to allocate an alternative stack"]
        .iter()
        .any(|text| result.stderr.contains(text));
    // What cannot be removed is left.
    let is_not_removed = outcome.failed.as_ref().is_some_and(|(kind, _)| kind.name.starts_with("unlink"));
    let mut faults = if out_of_memory || is_not_removed { Vec::new() } else { result.faults.clone() };
    let mut add = |text: String| faults.push(text);
    match outcome.end {
        End::Hang => add("it does not end".to_string()),
        End::Signal(Signal::SIGABRT) if out_of_memory => {}
        End::Signal(signal) => add(format!("{signal} ends it")),
        End::Exit(_) => {}
    }
    if !out_of_memory && result.stderr.contains("panicked") {
        add("it panics".to_string());
    }
    if outcome.left > 0 {
        add(format!("{} processes are left", outcome.left));
    }
    let quiet = form(&result.stderr) == form(&good.stderr);
    if matches!(outcome.end, End::Exit(status) if status != 0) && (result.stderr.trim().is_empty() || quiet) {
        add("it fails without a reason".to_string());
    }
    // A part of the recording before the failure can be complete.
    let says_none_lost = result.stderr.replace("none lost before", "").contains("none lost");
    if matches!(outcome.end, End::Exit(status) if status != 0)
        && says_none_lost
        && result.counted.is_none_or(|counted| counted < CALLS)
        && case.product != Product::Tables
    {
        add("it says that nothing is lost".to_string());
    }
    // Without standard error there is nowhere to report a number.
    let is_about_stderr = outcome.failed.as_ref().is_some_and(|(_, place)| place.ends_with("/stderr"));
    if outcome.end == End::Exit(0) {
        if case.product == Product::Tables {
            if !result.stdout.contains("perfkit top:") {
                add("it succeeds without a table".to_string());
            }
        } else if result.counted != Some(CALLS) && !(is_about_stderr && case.product == Product::Profiles) {
            add(format!("it succeeds, and {:?} of {CALLS} events are accounted for", result.counted));
        }
        // Another kernel may not have the file.
        let is_absent = fault == Some(Fault::Errno(Errno::ENOENT));
        if quiet && !is_absent {
            let missing: Vec<&str> = good
                .content
                .iter()
                .filter(|(name, _)| !name.starts_with("FINISHED") && !result.content.contains_key(*name))
                .map(|(name, _)| name.as_str())
                .collect();
            if !missing.is_empty() {
                add(format!("it succeeds silently without {}", missing.join(", ")));
            }
            for name in ["MMAP2", "COMM", "EXIT", "FORK"] {
                let (expected, found) = (good.content.get(name), result.content.get(name));
                if case.name == "record" && found < expected {
                    add(format!("it succeeds silently with {found:?} of {expected:?} {name}"));
                }
            }
        }
    }
    faults
}
