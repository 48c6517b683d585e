//! Runs the examples on a real program.

#[allow(dead_code)] // its `main`
#[path = "../../examples/addresses.rs"]
mod addresses;

use std::path::Path;
use std::process::Command;

use crate::programs::Programs;
use crate::unwind::CXX;

/// Runs an example and returns its output. Returns `None`, with a message, if cargo built only this
/// test.
fn run(example: &str, arguments: &[&Path]) -> Option<String> {
    let (lines, error) = end(example, arguments)?;
    assert_eq!(error, None, "{example}");
    Some(lines)
}

/// Runs an example and returns its output, with its error message if it fails.
fn end(example: &str, arguments: &[&Path]) -> Option<(String, Option<String>)> {
    let test = std::env::current_exe().expect("a path");
    let target = test.ancestors().nth(2).expect("the folder of the target");
    let program = target.join("examples").join(example);
    if !program.exists() {
        eprintln!("skipped: the example {example} was not built");
        return None;
    }
    let mut command = Command::new(program);
    let output = command.args(arguments).output().expect("an example that starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    println!("{example}: {errors}");
    let error = (!output.status.success()).then_some(errors);
    Some((String::from_utf8(output.stdout).expect("UTF-8"), error))
}

/// Asserts that samples in the hottest function are called from `main` or from the thread.
fn assert_is_folded(lines: &str) {
    let (mut all, mut whole) = (0, 0);
    for line in lines.lines() {
        let (stack, count) = line.rsplit_once(' ').expect("a count");
        let functions: Vec<_> = stack.split(';').collect();
        if !functions.contains(&"spin") {
            continue;
        }
        let count: u64 = count.parse().expect("a number");
        all += count;
        let is_from = |first: &str| {
            let first = functions.iter().position(|function| function.starts_with(first));
            let work = functions.iter().position(|&function| function == "work");
            first.zip(work).is_some_and(|(first, work)| first < work)
        };
        // The thread's start function in libc has a name only if its debug information is
        // installed.
        let is_thread = functions.get(1).is_some_and(|&function| function != "_start");
        if is_from("main") || is_thread && is_from("") {
            whole += count;
        }
    }
    assert!(all > 20 && whole * 100 >= all * 99, "{whole} of {all}:\n{lines}");
}

#[test]
fn examples_print_the_stacks_of_a_program() {
    let folder = Programs::empty("examples");
    let Some(program) = folder.compile("folded", "stacks.cpp", &CXX) else { return };
    let file = folder.path("perf.data");
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf,16384", "-o"])
        .arg(&file)
        .arg(&program);
    if perf.output().is_ok_and(|output| output.status.success()) {
        if let Some(lines) = run("stacks", &[&file]) {
            assert_is_folded(&lines);
        }
        // The records before the end of a truncated file are printed before the error.
        let bytes = std::fs::read(&file).expect("a file");
        let truncated = folder.path("truncated.data");
        std::fs::write(&truncated, &bytes[..bytes.len() * 7 / 10]).expect("a file");
        if let Some((lines, error)) = end("stacks", &[&truncated]) {
            assert_is_folded(&lines);
            assert!(error.is_some_and(|error| error.contains("the file is truncated")));
        }
    } else {
        eprintln!("skipped: the perf tool is missing, or may not record");
        return;
    }
    if let Some(lines) = run("live", &[&program]) {
        assert_is_folded(&lines);
    }
}

/// A function that has a name.
#[inline(never)]
fn function_of_this_test(number: u64) -> u64 {
    std::hint::black_box(number) + 1
}

#[test]
fn addresses_of_a_running_process_have_names() {
    let address = (function_of_this_test as fn(u64) -> u64 as usize) as u64;
    let names = addresses::names(std::process::id(), &[address, 8]).expect("names");
    let [function, nothing] = &names[..] else { panic!("{names:?}") };
    assert!(function.contains("function_of_this_test"), "{function}");
    assert!(nothing.starts_with('['), "{nothing}");
}
