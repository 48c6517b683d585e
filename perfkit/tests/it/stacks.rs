//! Incomplete stacks, in the outputs of all commands that print stacks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit, record};

const PID: u32 = 7;
/// Addresses of code.
const MAIN: u64 = 0x40_0100;
const WORK: u64 = 0x40_0200;

/// Runs a command on a recording, and returns its output.
fn run(command: &str, recording: &Path, options: &[&str]) -> String {
    let mut perfkit = perfkit();
    let perfkit = perfkit.arg(command).arg("-i").arg(recording).args(options).stdin(Stdio::null());
    let output = perfkit.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the height of the flame graph in pixels.
fn height(recording: &Path) -> u32 {
    let svg = run("flamegraph", recording, &["-o", "-"]);
    let (_, height) = svg.split_once(" height=\"").unwrap();
    height.split_once('"').unwrap().0.parse().unwrap()
}

/// Returns the lines of the heading about losses, and the rows of the call tree.
fn report(recording: &Path) -> (Vec<String>, Vec<String>) {
    let report = run("report", recording, &["-g", "caller", "--percent-limit", "0"]);
    let (heading, rows): (Vec<_>, Vec<_>) = report.lines().partition(|line| line.starts_with('#'));
    let is_loss = |line: &&str| !line.contains(" 0.") && !line.contains("event 0") && line.len() > 2;
    let heading = heading.into_iter().filter(is_loss).map(str::to_owned);
    (
        heading.take_while(|line| !line.contains("Children")).collect(),
        rows.into_iter().map(str::to_owned).collect(),
    )
}

/// Writes a recording of some usual callchains, and one more.
fn recording(folder: &Folder, name: &str, last: &[u64]) -> PathBuf {
    let mut made = Made::with_callchains();
    made.comm(PID, b"a");
    made.map(PID, 0x40_0000, b"/no/such/program", None);
    for _ in 0..9 {
        made.callchain(PID, &[WORK, MAIN]);
    }
    made.callchain(PID, last);
    let path = folder.path(name);
    made.write(&path);
    path
}

#[test]
fn loop_of_frame_pointers_is_not_drawn_and_a_recursion_is() {
    let folder = Folder::new();
    let usual = recording(&folder, "usual", &[WORK, MAIN]);
    // As when a thread starts: the frame pointer points to the thread, whose first word does, too.
    let heap = 0x5500_1234_0000;
    let looping = recording(&folder, "loop", &[&[WORK][..], &[heap; 126]].concat());
    let recursion = recording(&folder, "recursion", &[&[WORK][..], &[MAIN; 126]].concat());
    let (usual_lines, usual_rows) = report(&usual);
    assert!(!usual_lines.iter().any(|line| line.contains("incomplete stack")), "{usual_lines:?}");

    assert!(height(&looping) <= height(&usual), "{} pixels", height(&looping));
    let (lines, rows) = report(&looping);
    assert!(rows.len() <= usual_rows.len() + 1, "{rows:#?}");
    let line = "# 1 incomplete stack of 10: the frame pointers loop, as where a thread starts";
    assert!(lines.iter().any(|found| found == line), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("perf_event_max_stack")), "{lines:#?}");
    // Only the address of the file has no name.
    assert!(!lines.iter().any(|line| line.contains("nothing was mapped")), "{lines:#?}");

    assert!(height(&recursion) > height(&usual) + 100 * 16, "{} pixels", height(&recursion));
    let (lines, rows) = report(&recursion);
    assert!(rows.len() > 120, "{rows:#?}");
    assert!(lines.iter().any(|line| line.contains("raise kernel.perf_event_max_stack")), "{lines:#?}");
}

#[test]
fn program_without_frame_pointers_has_the_hint_and_its_share() {
    let folder = Folder::new();
    let mut made = Made::with_callchains();
    made.comm(PID, b"a");
    made.map(PID, 0x40_0000, b"/no/such/program", None);
    for index in 0..100 {
        made.callchain(PID, if index < 92 { &[WORK, 0x7fff_0000, 0x1234] } else { &[WORK, MAIN] });
    }
    let path = folder.path("perf.data");
    made.write(&path);
    let (lines, rows) = report(&path);
    let line = "# 92 incomplete stacks of 100: the frame pointers lead out of the code, as in code that keeps none; record \
                with --call-graph dwarf";
    assert!(lines.iter().any(|found| found == line), "{lines:#?}");
    let json: serde_json::Value = serde_json::from_str(&run("report", &path, &["--json"])).unwrap();
    let losses = &json["losses"];
    assert_eq!((&losses["left_out_addresses"], &losses["unverified_stacks"]), (&184.into(), &8.into()));
    // The tree has the thread, the two functions, and nothing around them.
    assert!(rows.len() <= 6, "{rows:#?}");
    // The text of the perf tool has each address.
    assert_eq!(run("script", &path, &[]).matches("7fff0000 [unknown] ([unknown])").count(), 92);
}

/// Compiles a program; `None`, and says so, without a compiler.
fn compile(folder: &Folder, name: &str, code: &str, options: &[&str]) -> Option<PathBuf> {
    let (source, program) = (folder.path(&format!("{name}.c")), folder.path(name));
    std::fs::write(&source, code).unwrap();
    let mut compiler = Command::new("cc");
    let compiler = compiler.arg("-o").arg(&program).arg(&source).args(options).stderr(Stdio::null());
    if compiler.status().is_ok_and(|status| status.success()) {
        return Some(program);
    }
    eprintln!("skipped: cc cannot compile {name}.c");
    None
}

#[test]
fn picture_of_a_program_with_threads_is_as_tall_as_its_calls() {
    let folder = Folder::new();
    let code = "#include <pthread.h>
        static volatile unsigned long s;
        static void *w(void *a) { for (unsigned long i = 0; i < 100000; i++) s += i; return a; }
        int main(void) {
            for (int round = 0; round < 1000; round++) {
                pthread_t t[4];
                for (int i = 0; i < 4; i++) pthread_create(t + i, 0, w, 0);
                for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
            }
        }";
    let Some(program) = compile(&folder, "threads", code, &["-O1", "-fno-omit-frame-pointer", "-pthread"])
    else {
        return;
    };
    let data = folder.path("perf.data");
    // User space alone, so that the height does not depend on the kernel.
    let arguments = ["-q", "-e", "cpu-clock:u", "-c", "20000", "-g", "-o", data.to_str().unwrap()];
    let Some(output) = record(&[&arguments[..], &["--", program.to_str().unwrap()]].concat()) else { return };
    assert!(output.status.success(), "{output:?}");
    let (lines, rows) = report(&data);
    println!("{lines:#?}");
    // A loop was 127 frames of 16 pixels.
    assert!(height(&data) < 800, "{} pixels", height(&data));
    let unknown = rows.iter().filter(|row| row.contains("[unknown]")).count();
    assert!(unknown < 20, "{unknown} rows");
    assert!(!lines.iter().any(|line| line.contains("perf_event_max_stack")), "{lines:#?}");
}

#[test]
fn function_that_keeps_no_frame_pointer_is_the_reason_for_its_missing_caller() {
    let folder = Folder::new();
    // The innermost function calls none, so that compilers give it no frame if they optimize.
    let code = "static volatile unsigned long s;
        __attribute__((noinline)) static void inner(unsigned long n) { for (unsigned long i = 0; i < n; i++) s += i; }
        __attribute__((noinline)) static void hot(unsigned long n) { inner(n); s++; }
        int main(void) { for (int i = 0; i < 40; i++) hot(2000000); }";
    for (name, optimization, lacks_caller) in [("leaf", "-O1", true), ("whole", "-O0", false)] {
        let options = [optimization, "-fno-omit-frame-pointer"];
        let Some(program) = compile(&folder, name, code, &options) else { return };
        let data = folder.path(&format!("{name}.data"));
        let arguments = ["-q", "-e", "cpu-clock:u", "-F", "999", "-g", "-o", data.to_str().unwrap()];
        let Some(output) = record(&[&arguments[..], &["--", program.to_str().unwrap()]].concat()) else {
            return;
        };
        assert!(output.status.success(), "{output:?}");
        let json: serde_json::Value = serde_json::from_str(&run("report", &data, &["--json"])).unwrap();
        let incomplete = json["losses"]["incomplete_stacks"].as_array().unwrap();
        let reasons = incomplete.iter().filter(|reason| {
            reason["reason"]
                .as_str()
                .is_some_and(|text| text.contains("innermost function has no frame pointer"))
        });
        let missing: u64 = reasons.map(|reason| reason["count"].as_u64().unwrap()).sum();
        let samples = json["events"][0]["samples"].as_u64().unwrap();
        let has_hot = json["rows"].as_array().unwrap().iter().any(|row| row["function"] == "hot");
        println!("{name}: {missing} of {samples}");
        // Few samples are of the start of the program.
        assert_eq!(
            (missing * 2 > samples, has_hot),
            (lacks_caller, !lacks_caller),
            "{missing} of {samples}, {json}"
        );
    }
}
