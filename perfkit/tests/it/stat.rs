//! `perfkit stat` on the running kernel.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::recording::Folder;

fn perfkit() -> Command {
    Command::new(env!("CARGO_BIN_EXE_perfkit"))
}

/// Runs `perfkit stat` and returns its output. Skips the test if the kernel permits no event.
pub(crate) fn stat(arguments: &[&str]) -> Option<Output> {
    let output = perfkit().arg("stat").args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_refused = errors.contains("perf_event_open") && !output.status.success();
    if is_refused {
        let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
        assert!(!required, "{errors}");
        eprintln!("skipped: {errors}");
        return None;
    }
    Some(output)
}

/// Returns the objects that were printed, one a line.
fn objects(text: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// Returns the objects of the events that were asked for, without the times at the end.
fn events(text: &[u8]) -> Vec<Value> {
    let mut events = objects(text);
    events.retain(|event| !event["event"].as_str().unwrap().ends_with("_time"));
    events
}

#[test]
fn counts_of_a_command_are_on_standard_error_with_the_keys_of_the_perf_tool() {
    let Some(output) = stat(&["--json", "-e", "page-faults:u,task-clock:u", "--", "echo", "text"]) else {
        return;
    };
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"text\n"[..]));
    let [faults, clock, elapsed, user, system] = &objects(&output.stderr)[..] else { panic!("{output:?}") };
    assert!(faults["event"].as_str().unwrap().starts_with("page-faults"));
    assert!(faults["counter-value"].as_str().unwrap().parse::<f64>().unwrap() > 5.0, "{faults}");
    assert_eq!((&clock["unit"], &clock["pcnt-running"]), (&Value::from("msec"), &Value::from(100.0)));
    assert!(clock["counter-value"].as_str().unwrap().parse::<f64>().unwrap() > 0.0, "{clock}");
    let times = ["duration_time", "user_time", "system_time"];
    assert_eq!([elapsed, user, system].map(|time| time["event"].as_str().unwrap()), times);
    assert_eq!([elapsed, user, system].map(|time| time["unit"].as_str().unwrap()), ["ns"; 3]);
}

#[test]
fn times_of_the_command_follow_its_counts() {
    let spin = ["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"];
    let Some(output) = stat(&[&["-r", "2", "-e", "page-faults"], &spin[..]].concat()) else { return };
    let text = String::from_utf8(output.stderr).unwrap();
    let seconds = |name: &str| -> f64 {
        let line = text.lines().find(|line| line.contains(&format!(" seconds {name}  +- "))).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let cpu = seconds("user") + seconds("sys");
    assert!(cpu > 0.0 && cpu < seconds("elapsed") * 1.5, "{text}");
    // Only the elapsed time is known for other tasks.
    let own = std::process::id().to_string();
    let other = stat(&["-p", &own, "-e", "page-faults", "true"]).unwrap();
    let text = String::from_utf8(other.stderr).unwrap();
    assert!(text.contains("seconds elapsed") && !text.contains("seconds user"), "{text}");
}

#[test]
fn summary_follows_the_intervals() {
    let sleep = ["--summary", "-e", "page-faults", "sleep", "0.1"];
    let Some(rows) = fields(&[&["-I", "40"], &sleep[..]].concat()) else { return };
    let (summary, intervals) = rows.split_last().unwrap();
    assert_eq!((&*summary[0], summary.len()), ("         summary", intervals[0].len()));
    let sum = |rows: &[Vec<String>]| rows.iter().map(|row| row[1].parse::<u64>().unwrap_or(0)).sum::<u64>();
    assert_eq!(sum(intervals), sum(std::slice::from_ref(summary)), "{rows:?}");
    let output = stat(&[&["-I", "40", "--json"], &sleep[..]].concat()).unwrap();
    let last = objects(&output.stderr).into_iter().rfind(|row| row["event"] == "page-faults").unwrap();
    assert!(last.get("interval").is_none(), "{last}");
    let alone = perfkit().args(["stat", "--summary", "true"]).output().unwrap();
    assert_eq!(alone.status.code(), Some(2), "--summary is for intervals");
}

#[test]
fn command_runs_without_an_event_that_the_machine_has() {
    let output = perfkit().args(["stat", "-e", "armv8_pmuv3/cpu_cycles/", "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let listed = perfkit().args(["list", "cycles", "--check", "--json"]).output().unwrap();
    let cycles = objects(&listed.stdout).into_iter().find(|event| event["name"] == "cycles").unwrap();
    for event in ["cycles", "cycles:u", "r00c0"] {
        let Some(counted) = stat(&["-e", event, "sh", "-c", "echo ran; exit 5"]) else { return };
        let text = String::from_utf8_lossy(&counted.stderr).into_owned();
        assert_eq!((counted.status.code(), &*counted.stdout), (Some(5), &b"ran\n"[..]), "{text}");
        assert_eq!(text.contains("<not supported>"), cycles["opens"] == false, "{text}");
    }
}

/// Returns the line of text above the counts.
fn heading(arguments: &[&str]) -> Option<String> {
    let output = stat(&[&["-e", "page-faults:u"], arguments].concat())?;
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    text.lines().find(|line| line.contains("Counts of")).map(str::to_owned)
}

#[test]
fn heading_names_the_tasks_and_cpus_that_were_counted() {
    let Some(command) = heading(&["sh", "-c", "exit"]) else { return };
    assert_eq!(command, " Counts of `sh -c exit`:");
    let own = std::process::id().to_string();
    assert_eq!(heading(&["-p", &own, "--", "true"]).unwrap(), format!(" Counts of process {own}:"));
    assert_eq!(heading(&["-t", &own, "true"]).unwrap(), format!(" Counts of thread {own}:"));
    for (option, expected) in [("-C0", " Counts of CPU 0:"), ("-a", " Counts of all CPUs:")] {
        // Whole CPUs need more permission.
        if let Some(found) = heading(&[option, "true"]) {
            assert_eq!(found, expected);
        }
    }
    let mut sleep = Command::new("sleep").arg("1000").spawn().unwrap();
    let both = format!("{own},{}", sleep.id());
    let found = heading(&["-p", &both, "true"]).unwrap();
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    assert_eq!(found, format!(" Counts of processes {own}, {}:", both.split(',').nth(1).unwrap()));
}

#[test]
fn counts_of_several_processes_are_one_sum_until_all_have_exited() {
    let sleep = || Command::new("sh").args(["-c", "sleep 0.3; ls / >/dev/null"]).spawn().unwrap();
    let mut tasks = [sleep(), sleep()];
    let ids = tasks.each_ref().map(|task| task.id().to_string()).join(",");
    let counted = stat(&["-x,", "-e", "page-faults", "-p", &ids]);
    for task in &mut tasks {
        assert!(task.wait().unwrap().success());
    }
    let Some(counted) = counted else { return };
    let text = String::from_utf8(counted.stdout).unwrap();
    let faults: u64 = text.split(',').next().unwrap().parse().unwrap();
    // Each starts two programs.
    assert!(faults > 100, "{text}");
}

#[test]
fn intervals_have_a_heading_and_name_a_missing_event_once() {
    let Some(output) = stat(&["-I", "30", "-e", "page-faults,cycles", "sleep", "0.2"]) else { return };
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("# `sleep 0.2`:"), "{text}");
    assert!(text.matches("page-faults").count() > 2, "{text}");
    assert!(text.matches("supported").count() <= 1, "{text}");
}

#[test]
fn fields_are_separated_as_by_the_perf_tool() {
    let Some(output) = stat(&["-x", ";", "-e", "page-faults:u,armv7/x/", "true"]) else { return };
    assert!(!output.status.success(), "{output:?}");
    let output = stat(&["-x", ";", "-e", "page-faults:u,r00c0:u", "true"]).unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let fields: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
    let [faults, raw] = &fields[..] else { panic!("{text}") };
    assert!(faults[0].parse::<u64>().unwrap() > 0, "{text}");
    assert_eq!((faults[2], faults[4], raw[2], raw.len()), ("page-faults:u", "100.00", "r00c0:u", 7));
}

/// Returns the fields of each line that is printed with `-x,`.
pub(crate) fn fields(arguments: &[&str]) -> Option<Vec<Vec<String>>> {
    let output = stat(&[&["-x,"], arguments].concat())?;
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    Some(text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect())
}

#[test]
fn counts_of_each_cpu_and_thread_have_rows() {
    let Some(cpus) = fields(&["-A", "-a", "-e", "page-faults", "true"]) else { return };
    assert!(cpus.iter().any(|row| row[0] == "CPU0" && row[3] == "page-faults"), "{cpus:?}");
    let same = fields(&["--per-cpu", "-C", "0", "-e", "page-faults", "true"]).unwrap();
    assert_eq!((same.len(), &*same[0][0]), (1, "CPU0"));
    let own = std::process::id().to_string();
    let threads = fields(&["--per-thread", "-p", &own, "-e", "page-faults", "true"]).unwrap();
    let is_own = |row: &Vec<String>| row[0].ends_with(&format!("-{own}")) && row[3] == "page-faults";
    assert!(threads.iter().any(is_own) && threads.len() > 1, "{threads:?}");
}

#[test]
fn counts_of_cores_and_sockets_have_their_number_of_cpus() {
    let Some(cores) = fields(&["--per-core", "-a", "-e", "cpu-clock,r00c0", "true"]) else { return };
    let sockets = fields(&["--per-socket", "-a", "-e", "cpu-clock", "true"]).unwrap();
    let dies = fields(&["--per-die", "-a", "-e", "cpu-clock", "true"]).unwrap();
    let cpus = |rows: &[Vec<String>]| {
        let clocks = rows.iter().filter(|row| row[4] == "cpu-clock");
        clocks.map(|row| row[1].parse::<usize>().unwrap()).sum::<usize>()
    };
    let [cores_name, dies_name, sockets_name] = [&cores, &dies, &sockets].map(|rows| rows[0][0].as_str());
    assert!(
        cores_name.starts_with("S0-D0-C") && dies_name == "S0-D0" && sockets_name == "S0",
        "{cores_name}"
    );
    assert_eq!(cpus(&cores), cpus(&sockets));
    assert_eq!(cpus(&cores), cpus(&dies));
    assert!(
        cores.iter().any(|row| row[4] == "r00c0"),
        "an event that is not supported has rows too: {cores:?}"
    );
}

#[test]
fn parts_that_the_target_does_not_have_are_wrong_arguments() {
    for (options, expected) in [
        (&["-A"][..], "--no-aggr is for whole CPUs: -a, -C or -G"),
        (&["--per-core", "-p", "1"], "--per-core is for whole CPUs"),
        (&["--per-thread", "-a"], "--per-thread is for processes or threads: -p or -t"),
        (&["--per-core", "--per-socket", "-a"], "cannot be used with"),
        (&["-i"], "--no-inherit is for processes or threads: -p or -t"),
        (&["--append"], "--output"),
        (&["--interval-count", "1"], "--interval"),
        (&["-D", "-1"], "expected milliseconds, at least 0, found `-1`"),
        (&["-C", "7-3"], "not below the first of the range"),
        (&["-p", "burn"], "expected the id of a process"),
    ] {
        let output = perfkit().arg("stat").args(options).arg("true").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(expected), "{options:?}: {text}");
    }
}

#[test]
fn target_that_does_not_exist_is_one_clear_line() {
    if fields(&["-C", "0", "-e", "cpu-clock", "true"]).is_none() {
        return;
    }
    for (options, expected) in [
        (["-C", "0,9999"], "perfkit: CPUs 9999: this machine does not have them"),
        (["-p", "2147483647"], "perfkit: process or thread 2147483647: it has exited, or never existed"),
        (["-t", "2147483647"], "perfkit: process or thread 2147483647: it has exited, or never existed"),
        (["-G", "no-such-cgroup"], "perfkit: cgroup no-such-cgroup: "),
    ] {
        let output = stat(&[&options[..], &["-e", "page-faults", "true"]].concat()).unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn default_events_of_whole_cpus_have_the_clock_of_the_cpu() {
    let Some(command) = fields(&["true"]) else { return };
    assert_eq!((command.len(), &*command[0][2], &*command[0][6]), (8, "task-clock", "CPUs utilized"));
    assert!(command[3][6].ends_with("/sec"), "{command:?}");
    let all = fields(&["-a", "true"]).unwrap();
    assert_eq!(&*all[0][2], "cpu-clock");
}

#[test]
fn measurement_ends_after_its_time_or_number_of_intervals() {
    let events = ["-e", "page-faults", "sleep", "100"];
    let Some(output) = stat(&[&["-x,", "--timeout", "30"], &events[..]].concat()) else { return };
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(0) && text.contains("page-faults"), "{text}");
    let intervals = fields(&[&["-I", "20", "--interval-count", "3"], &events[..]].concat()).unwrap();
    assert_eq!(intervals.len(), 3, "{intervals:?}");
    assert!(intervals.iter().all(|row| row.len() == 8 && row[3] == "page-faults"), "{intervals:?}");
    // Without a command too.
    let own = std::process::id().to_string();
    assert_eq!(fields(&["-p", &own, "--timeout", "10", "-e", "page-faults"]).unwrap().len(), 1);
}

#[test]
fn delay_leaves_out_what_was_counted_before() {
    let script = "for i in 1 2 3 4 5; do /bin/true; done; exec sleep 100";
    let arguments = ["-D", "1500", "--timeout", "10", "-e", "page-faults", "sh", "-c", script];
    let Some(rows) = fields(&arguments) else { return };
    // The program only sleeps by then.
    assert!(["0", "<not counted>"].contains(&&*rows[0][0]), "{rows:?}");
    let exited = fields(&["-D", "60000", "-e", "page-faults", "true"]).unwrap();
    assert_eq!(exited[0][0], "<not counted>", "the command exits during the delay");
}

#[test]
fn counts_are_appended_to_the_output() {
    let path = std::env::temp_dir().join(format!("perfkit-stat-append-{}", std::process::id()));
    let path_text = path.to_str().unwrap();
    let run = |options: &[&str]| {
        stat(&[&["-x,", "-e", "page-faults", "-o", path_text], options, &["true"]].concat())
    };
    let is_skipped = run(&[]).is_none();
    if !is_skipped {
        run(&["--append"]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
        run(&[]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
        fs::remove_file(&path).unwrap();
    }
}

/// A new cgroup, removed on drop.
pub(crate) struct NewCgroup {
    pub(crate) name: String,
    pub(crate) path: std::path::PathBuf,
}

impl NewCgroup {
    /// Makes a cgroup, or prints why the test is skipped.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let mount = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
        let name = format!("perfkit-{name}-{}", std::process::id());
        let path = mount
            .and_then(|line| line.split(' ').nth(1))
            .map(|mount| std::path::Path::new(mount).join(&name));
        let made = path.filter(|path| fs::create_dir(path).is_ok());
        if made.is_none() {
            eprintln!("skipped: no cgroup can be made");
        }
        made.map(|path| Self { name, path })
    }
}

impl Drop for NewCgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

#[test]
fn cgroups_have_a_column() {
    let [Some(one), Some(other)] = ["stat-one", "stat-two"].map(NewCgroup::new) else { return };
    let row = |value: &str, event: &str, cgroup: &str| {
        [value, "", event, cgroup, "0", "100.00", "", ""].map(str::to_owned)
    };
    let Some(rows) = fields(&["-G", &one.name, "-e", "page-faults,faults", "true"]) else { return };
    let never = "<not counted>";
    assert_eq!(rows, [row(never, "page-faults", &one.name), row(never, "faults", &one.name)]);
    let lists = [format!("{},{}", one.name, other.name), format!("{},", one.name)];
    let rows = fields(&["-G", &lists[0], "-e", "page-faults,faults", "true"]).unwrap();
    assert_eq!(rows, [row(never, "page-faults", &one.name), row(never, "faults", &other.name)]);
    let rows = fields(&["--for-each-cgroup", &lists[0], "-e", "page-faults,faults", "true"]).unwrap();
    let expected =
        [&one, &other].map(|cgroup| ["page-faults", "faults"].map(|event| row(never, event, &cgroup.name)));
    assert_eq!(rows, expected.concat());
    // An event without a cgroup counts all tasks, by an empty name or after the option.
    for options in [
        &["-e", "page-faults,cpu-clock", "-G", &lists[1]][..],
        &["-e", "page-faults", "-G", &one.name, "-a", "-e", "cpu-clock"],
    ] {
        let rows = fields(&[options, &["true"]].concat()).unwrap();
        assert_eq!((rows[0][3].as_str(), rows[1][3].as_str()), (&*one.name, ""), "{rows:?}");
        assert!(rows[1][0].parse::<f64>().unwrap() > 0.0, "{rows:?}");
    }
    let table = stat(&["--for-each-cgroup", &lists[0], "-e", "page-faults", "true"]).unwrap();
    let text = String::from_utf8(table.stderr).unwrap();
    assert!(text.contains(&format!(" Counts of cgroups {}, {}:", one.name, other.name)), "{text}");
    assert!(text.contains(&format!("page-faults  {}\n", other.name)), "{text}");
}

#[test]
fn cgroups_that_do_not_fit_the_events_are_one_clear_line() {
    for (options, expected) in [
        (&["-G", "a,b,c", "-e", "faults"][..], "3 cgroups for 1 event: "),
        (&["-G", "a,b", "-e", "{faults,cpu-clock}"], "the events of a group `{...}` have one cgroup"),
        (&["--for-each-cgroup", "no-such-cgroup"], "cgroup no-such-cgroup: "),
    ] {
        let output = perfkit().arg("stat").args(options).arg("true").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
        assert!(text.starts_with(&format!("perfkit: {expected}")), "{text}");
    }
    for options in [["--for-each-cgroup", "a", "-G", "b"], ["--for-each-cgroup", "a", "-p", "1"]] {
        let output = perfkit().arg("stat").args(options).arg("true").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    let record = perfkit().args(["record", "-o", "/dev/null", "-G", "a,b", "true"]).output().unwrap();
    let text = String::from_utf8_lossy(&record.stderr).into_owned();
    assert!(!record.status.success() && text.contains("several are for `perfkit stat`"), "{text}");
}

/// Returns the output of `perf stat`, or `None` without perf 6.1, whose columns this program has.
pub(crate) fn output_of_perf(arguments: &[&str]) -> Option<Output> {
    let version = Command::new("perf").arg("version").output().ok()?;
    let is_known = String::from_utf8_lossy(&version.stdout).starts_with("perf version 6.1.");
    is_known.then(|| Command::new("perf").arg("stat").args(arguments).output().unwrap())
}

/// Returns the fields of each line of `perf stat -x,`, or `None` without perf 6.1.
pub(crate) fn fields_of_perf(arguments: &[&str]) -> Option<Vec<Vec<String>>> {
    let output = output_of_perf(&[&["-x,"], arguments].concat())?;
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    Some(text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect())
}

#[test]
fn columns_are_those_of_the_perf_tool() {
    // The texts, without numbers and without the power of a rate.
    let texts = |rows: Vec<Vec<String>>| -> Vec<Vec<String>> {
        let text = |field: String| match field.trim().trim_end_matches('%').parse::<f64>() {
            Ok(_) => "number".to_owned(),
            Err(_) if field.ends_with("/sec") => "/sec".to_owned(),
            Err(_) => field,
        };
        rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
    };
    let events = ["-e", "cpu-clock,page-faults,context-switches,r00c0", "sleep", "0.01"];
    for options in [
        &[][..],
        &["-r", "2"],
        &["-a"],
        &["-a", "-A"],
        &["-a", "--per-core"],
        &["-a", "--per-die"],
        &["-a", "--per-socket"],
        &["-a", "-r", "2", "-A"],
        &["-a", "-I", "1000"],
        &["-a", "-A", "-I", "1000"],
        &["-a", "--per-core", "-I", "1000"],
        &["-I", "1000", "--summary"],
        &["-a", "--for-each-cgroup", "/"],
    ] {
        let arguments = [options, &events].concat();
        let Some(expected) = fields_of_perf(&arguments) else {
            return eprintln!("skipped: perf 6.1 is not installed");
        };
        let Some(found) = fields(&arguments) else { return };
        assert_eq!(texts(found), texts(expected), "{options:?}");
    }
}

#[test]
fn rows_of_zero_are_left_out() {
    let Some(output) = stat(&["--no-zero", "-x,", "-e", "page-faults,emulation-faults", "true"]) else {
        return;
    };
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("page-faults") && !text.contains("emulation-faults"), "{text}");
}

#[test]
fn filter_applies_to_the_tracepoints_of_the_event_option_before_it() {
    let dd = ["dd", "if=/dev/zero", "of=/dev/null", "bs=13", "count=100", "status=none"];
    let events =
        ["-e", "syscalls:sys_enter_write", "--filter", "count == 13", "-e", "syscalls:sys_enter_read"];
    let Some(output) =
        stat(&[&["-x,"], &events[..], &["--filter", "count == 13", "--filter", "fd != 0"], &dd[..]].concat())
    else {
        return;
    };
    if !output.status.success() {
        return eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stderr).unwrap();
    let counts: Vec<&str> = text.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(counts, ["100", "0"]);
    let wrong = stat(&["-e", "syscalls:sys_enter_write", "--filter", "nofield == 3", "true"]).unwrap();
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert!(wrong.status.code() == Some(1) && text.contains("nofield == 3"), "{text}");
    let clock = stat(&["-e", "task-clock", "--filter", "x == 3", "true"]).unwrap();
    assert!(String::from_utf8(clock.stderr).unwrap().contains("for tracepoints only"));
}

#[test]
fn exit_status_of_the_command_is_passed_on() {
    let Some(output) = stat(&["-e", "page-faults", "--", "sh", "-c", "exit 7"]) else { return };
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let killed = stat(&["-e", "page-faults", "--", "sh", "-c", "kill -KILL $$"]).unwrap();
    assert_eq!(killed.status.code(), Some(128 + 9));
    let missing = stat(&["-e", "page-faults", "--", "/no/such/command"]).unwrap();
    assert_eq!(missing.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/no/such/command"), "{missing:?}");
}

#[test]
fn repeated_runs_have_a_mean_and_its_spread() {
    let Some(output) = stat(&["-r", "3", "--json", "-e", "page-faults:u", "--", "true"]) else { return };
    let [faults] = &events(&output.stderr)[..] else { panic!("{output:?}") };
    assert!(faults["variance"].is_number(), "{faults}");
    let text = stat(&["-r", "2", "-e", "page-faults:u", "--", "true"]).unwrap();
    let text = String::from_utf8_lossy(&text.stderr).into_owned();
    assert!(text.contains("(2 runs)") && text.contains("+- "), "{text}");
}

#[test]
fn intervals_add_up_to_the_whole() {
    let script = "i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); sleep 0.01; done";
    let arguments = ["-I", "50", "--json", "-e", "page-faults:u", "--", "sh", "-c", script];
    let Some(output) = stat(&arguments) else { return };
    let intervals = objects(&output.stderr);
    let times: Vec<f64> = intervals.iter().map(|interval| interval["interval"].as_f64().unwrap()).collect();
    assert!(!times.is_empty() && times.is_sorted(), "{times:?}");
    // `<not counted>` if all tasks slept.
    let count = |interval: &Value| interval["counter-value"].as_str().unwrap().parse::<f64>().unwrap_or(0.0);
    let sum: f64 = intervals.iter().map(count).sum();
    assert!(sum > 20.0 * 10.0, "{sum} page faults of more than 20 processes");
}

#[test]
fn event_that_does_not_exist_is_an_error_that_points_at_it() {
    let output = perfkit().args(["stat", "-e", "page-fautls", "--", "true"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("page-faults") && text.contains('^'), "{text}");
}

#[test]
fn interrupted_measurement_prints_its_counts() {
    let mut measuring = perfkit();
    measuring.args(["stat", "-e", "page-faults", "-I", "20", "-p", &std::process::id().to_string()]);
    measuring.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = measuring.spawn().unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    // The first interval shows that the signal has a handler.
    if std::io::BufRead::read_line(&mut out, &mut line).unwrap() == 0 {
        let output = child.wait_with_output().unwrap();
        let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
        assert!(!required, "{output:?}");
        return eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
    }
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut out, &mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(rest.contains("page-faults"), "{line}{rest}");
}

#[test]
fn second_interrupt_kills_a_command_that_does_not_end() {
    if fields(&["-e", "page-faults", "true"]).is_none() {
        return;
    }
    let mut measuring = perfkit();
    measuring.args(["stat", "-e", "page-faults", "sh", "-c", "trap '' INT TERM; exec sleep 100"]);
    let mut child = measuring.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
    let start = std::time::Instant::now();
    // Before the first signal, the handler and the trap must be there.
    std::thread::sleep(std::time::Duration::from_millis(300));
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "the command is not killed");
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("page-faults"), "{text}");
}

#[test]
fn event_of_the_kernel_is_refused_and_not_counted_in_user_space() {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if !rustix::process::geteuid().is_root() || level.trim().parse::<i32>().unwrap() < 2 {
        return eprintln!("skipped: needs root, to become nobody, and perf_event_paranoid of 2");
    }
    let as_nobody = |events: &str| {
        let mut command = perfkit();
        command.args(["stat", "-e", events, "--", "true"]).uid(65534).gid(65534).output().ok()
    };
    let (Some(kernel), Some(both)) = (as_nobody("page-faults:k"), as_nobody("page-faults")) else {
        return eprintln!("skipped: nobody cannot execute the program");
    };
    let text = String::from_utf8_lossy(&kernel.stderr).into_owned();
    assert!(!kernel.status.success() && text.contains("page-faults:k: perf_event_open failed"), "{text}");
    let text = String::from_utf8_lossy(&both.stderr).into_owned();
    assert!(both.status.success() && text.contains("page-faults:u"), "{text}");
    assert!(text.contains("user space only"), "{text}");
}

#[test]
fn levels_of_all_events_are_those_of_the_option() {
    for (option, level) in [("--all-user", "user"), ("--all-kernel", "kernel")] {
        let Some(output) = stat(&["--json", "-e", "page-faults:k,page-faults:u", option, "true"]) else {
            return;
        };
        let counts: Vec<String> = events(&output.stderr)
            .iter()
            .map(|event| event["counter-value"].as_str().unwrap().to_owned())
            .collect();
        let [first, second] = &counts[..] else { panic!("{output:?}") };
        assert_eq!(first, second, "{level}");
        assert_ne!(first, "0.000000", "{level}");
    }
}

#[test]
fn details_add_events_of_the_caches() {
    let names = |options: &[&str]| {
        let output = stat(&[&["--json", "-e", "page-faults"], options, &["true"]].concat())?;
        let names =
            events(&output.stderr).into_iter().map(|event| event["event"].as_str().unwrap().to_owned());
        Some(names.collect::<Vec<_>>())
    };
    let Some(plain) = names(&[]) else { return };
    assert_eq!(plain.len(), 1);
    assert!(names(&["-d"]).unwrap().iter().any(|name| name.starts_with("L1-dcache-loads")));
    assert_eq!(names(&["-dd"]).unwrap().len(), 11);
    assert_eq!(names(&["-d", "-d", "-d"]).unwrap().len(), 13);
}

#[test]
fn counts_are_compared_with_those_of_a_file() {
    let folder = Folder::new();
    let base = folder.path("base.json");
    let counted = |more: &[&str]| stat(&[&["-e", "page-faults:u", "-r", "3"], more, &["true"]].concat());
    let path = base.to_str().unwrap();
    let Some(output) = counted(&["-j", "-o", path]) else { return };
    assert!(output.status.success(), "{output:?}");
    let same = counted(&["--baseline", path, "--fail-above", "1000"]).unwrap();
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    let fewer = fs::read_to_string(&base).unwrap();
    let value = fewer.split_once("\"counter-value\":\"").unwrap().1.split_once('"').unwrap().0;
    fs::write(&base, fewer.replacen(value, "1.000000", 1)).unwrap();
    let grown = counted(&["--baseline", path, "--fail-above", "5"]).unwrap();
    let errors = String::from_utf8_lossy(&grown.stderr).into_owned();
    assert_eq!(grown.status.code(), Some(3), "{errors}");
    assert!(
        errors.contains("perfkit: page-faults:u: 1 -> ") && errors.contains("grew by more than 5 %"),
        "{errors}"
    );
    fs::write(&base, "no counts").unwrap();
    let none = counted(&["--baseline", path]).unwrap();
    assert_eq!(none.status.code(), Some(1), "{none:?}");
}
