//! Compares the mappings of fresh recordings with the output of `perf script` for each sample.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use perf_decode::Record;
use perf_file::Reader;
use perf_symbols::{AddressSpaces, Location};

use crate::programs::Programs;

/// Programs that exec, fork, load libraries, and run in a separate mount namespace or root. `$D` is
/// the folder of [`Programs`].
const WORKLOADS: &[(&str, &str)] = &[
    (
        "processes",
        "for i in $(seq 60); do /bin/true; done; (exec /bin/ls -R /usr/share/doc) >/dev/null; seq 50000 | sort -r | wc -l",
    ),
    (
        "libraries",
        "for i in 1 2 3; do python3 -c 'import json, ctypes, hashlib, decimal, sqlite3' || perl -MPOSIX -e 1; done",
    ),
    (
        "namespace",
        "unshare -m sh -c 'mount -t tmpfs none /mnt && cp /bin/ls /mnt/listing && /mnt/listing -R /usr/share' || ls -R /usr/share",
    ),
    // dlopen and dlclose, MAP_FIXED over code, threads, deaths by signals, and reused process ids.
    ("history", "$D/history $D/first.so $D/second.so"),
    ("root", "chroot $D /static spin || $D/static spin"),
];

/// Returns the output of `perf script` for each sample: `TIME PID/TID IP OBJECT COMM`; `None`
/// without the perf tool.
fn objects_by_perf(file: &Path) -> Option<Vec<String>> {
    let output = Command::new("perf")
        .args(["script", "--ns", "-F", "comm,pid,tid,time,ip,dso", "-i"])
        .arg(file)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(lines.lines().filter(|line| !line.trim().is_empty()).map(normalized).collect())
}

/// Converts a line of `perf script` into the form of [`objects_by_records`].
fn normalized(line: &str) -> String {
    // The name of a thread can have spaces, and an object parentheses.
    let is_after_time = |(at, _): &(usize, &str)| {
        let time = line[..*at].rsplit(' ').next().and_then(|time| time.split_once('.'));
        time.is_some_and(|(seconds, ns)| seconds.parse::<u64>().is_ok() && ns.len() == 9)
    };
    let (at, _) = line.match_indices(": ").find(is_after_time).unwrap_or_else(|| panic!("no time: {line}"));
    let (head, place) = (&line[..at], &line[at + 2..]);
    let (ip, object) = place.trim().split_once(" (").expect("an object in parentheses");
    let object = object.strip_suffix(')').unwrap_or(object);
    let (head, time) = head.rsplit_once(' ').expect("a time");
    let (comm, tasks) = head.trim().rsplit_once(' ').expect("a process and a thread");
    let (time, comm) = (time.replace('.', ""), comm.trim());
    format!("{time} {tasks} {ip} {object} {comm}")
}

fn objects_by_records(file: &Path) -> (Vec<String>, AddressSpaces) {
    let mut spaces = AddressSpaces::new();
    let mut lines = Vec::new();
    let mut reader = Reader::open(file).expect("a recording").sorted();
    while let Some(record) = reader.next().expect("whole records") {
        if record.kernel().is_none() {
            continue;
        }
        let record = record.decode().expect("a valid record");
        spaces.update(&record);
        let Record::Sample(sample) = record else { continue };
        let (pid, tid) = (sample.pid().expect("pid"), sample.tid().expect("tid"));
        let (time, ip) = (sample.time().expect("time"), sample.ip().expect("ip"));
        let object = match spaces.find(pid, sample.misc().cpu_mode(), ip) {
            Ok(Location::User(mapping) | Location::Kernel(Some(mapping))) => {
                let deleted = if mapping.object().is_deleted() { " (deleted)" } else { "" };
                let path = String::from_utf8_lossy(mapping.object().path());
                // The tool appends the symbol that gives the offset of the kernel.
                format!(
                    "{}{deleted}",
                    path.strip_suffix("_text").filter(|path| path.starts_with('[')).unwrap_or(&path)
                )
            }
            Ok(Location::KernelSymbol(_)) => "(symbol)".to_string(),
            Ok(_) | Err(_) => "[unknown]".to_string(),
        };
        // As the tool prints them: seconds without leading zeros, and signed ids.
        #[allow(clippy::cast_possible_wrap, reason = "the tool prints -1 for a task without an id")]
        let (pid, id) = (pid as i32, tid as i32);
        let comm = match spaces.thread_name(tid) {
            Some(name) => String::from_utf8_lossy(name).into_owned(),
            None if tid == 0 => "swapper".to_string(),
            None => format!(":{id}"),
        };
        lines.push(format!("{time} {pid}/{id} {ip:x} {object} {comm}"));
    }
    (lines, spaces)
}

/// Records all CPUs while a shell runs `script`. Returns `None` if the tool or the permission is
/// missing.
pub(crate) fn record(programs: &Programs, name: &str, script: &str) -> Option<PathBuf> {
    let path = programs.path(name).with_extension("data");
    let status = Command::new("perf")
        .args(["record", "-q", "-a", "-e", "cpu-clock", "-F", "4999", "-o"])
        .arg(&path)
        .args(["--", "sh", "-c", script])
        .env("D", programs.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success()).then_some(path)
}

#[test]
fn every_sample_is_in_the_object_that_perf_script_prints() {
    let Some(programs) = Programs::new("perf-script") else { return };
    for (name, script) in WORKLOADS {
        let Some(recording) = record(&programs, name, script) else {
            eprintln!("skipped: the perf tool is missing, or may not record all CPUs");
            return;
        };
        let expected = objects_by_perf(&recording).expect("the perf tool, which has recorded");
        let (found, spaces) = objects_by_records(&recording);
        assert_eq!(spaces.late_records(), 0);
        assert_eq!(found.len(), expected.len());
        let user = expected.iter().filter(|line| line.contains(" /")).count();
        println!("{name}: {} samples, {user} in files", expected.len());
        assert!(user > 20, "{name}: {user} samples in user space");
        // Other tasks of this machine can have these. The tool uses another name for a program that
        // was loaded into the kernel, and the name of a perf map for memory without a file, where a
        // runtime may have written code.
        let has_no_path = |found: &str| found.contains(" (symbol) ") || found.contains(" //anon ");
        let pairs = found.iter().zip(&expected).filter(|(found, _)| !has_no_path(found));
        let differences: Vec<_> = pairs.filter(|(found, expected)| found != expected).collect();
        assert!(
            differences.is_empty(),
            "{name}, {} differences (ours, perf's): {:#?}",
            differences.len(),
            differences.iter().take(10).collect::<Vec<_>>()
        );
    }
}
