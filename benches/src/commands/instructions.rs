//! Counts instructions by callgrind, which is immune to noise and needs no PMU, and checks their
//! limits.

use std::hint::black_box;
use std::process::Command;
use std::thread;

use perfkit_benches::Result;
use perfkit_benches::consumers::{Case, Consumer, cases};

use crate::costs::{Costs, measure, print, retain};

/// Option of a run under Valgrind, followed by passes, loop, workload, touch and consumer.
pub const ONE: &str = "--one";

/// Size of an input in bytes, small enough to be built under Valgrind.
const SMALL: usize = 64 << 10;

/// The loop that has limits.
const LIMITED: &str = "question";
/// The consumers that have limits.
const NAMES: [&str; 2] = ["run-time", "constant"];
/// Workload, touch, and the most instructions per record. The limits are slightly above the counted
/// values, because compilers differ.
const LIMITS: [(&str, &str, [f64; 2]); 6] = [
    ("fixed", "few", [31.0, 25.0]),
    ("fixed", "all", [49.0, 33.0]),
    ("raw", "all", [193.0, 165.0]),
    ("group", "all", [138.0, 105.0]),
    ("side-band", "all", [146.0, 136.0]),
    ("stack", "few", [110.0, 86.0]),
];

fn limits(case: &Case) -> Option<[f64; 2]> {
    let limit = LIMITS.iter().find(|(workload, touch, _)| (case.workload, case.touch) == (*workload, *touch));
    limit.filter(|_| case.shape == LIMITED).map(|limit| limit.2)
}

/// Prints the instructions per record. With `--gate`, fails above [`LIMITS`]. Without Valgrind,
/// prints that and succeeds.
pub fn instructions(arguments: &[String]) -> Result<()> {
    if !Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no valgrind, which counts the instructions");
        return Ok(());
    }
    let gate = arguments.iter().any(|argument| argument == "--gate");
    let keeps = |case: &mut Case| {
        if gate {
            retain(case, &NAMES);
        }
        !gate || limits(case).is_some()
    };
    let costs = measure(arguments, SMALL, keeps, |case, _| count(case))?;
    if gate {
        return compare(&costs);
    }
    print(&costs, Costs::of);
    Ok(())
}

/// Returns the instructions of one pass, for each consumer.
fn count(case: &Case) -> Result<Vec<f64>> {
    let mut counts = Vec::new();
    // Runs two at a time, because each is a separate process.
    for pair in case.consumers.chunks(2) {
        counts.extend(thread::scope(|scope| {
            let counting = |one| scope.spawn(move || by_valgrind(case, one));
            let running: Vec<_> = pair.iter().map(counting).collect();
            running.into_iter().map(|one| one.join().ok().flatten()).collect::<Vec<_>>()
        }));
    }
    counts.into_iter().collect::<Option<_>>().ok_or("valgrind counted nothing".into())
}

fn compare(all: &[Costs]) -> Result<()> {
    let mut exceeded = all.len() != LIMITS.len();
    for cost in all {
        for (name, limit) in NAMES.into_iter().zip(limits(&cost.case).into_iter().flatten()) {
            let (case, found) = (&cost.case, cost.of(name));
            let verdict = if found <= limit { "kept" } else { "EXCEEDED" };
            exceeded |= found.is_nan() || found > limit;
            let (group, workload) = (case.group(), case.workload);
            println!("{group}/{workload}/{name}: expected at most {limit}, found {found:.1}: {verdict}");
        }
    }
    if exceeded { Err("more instructions than the gate allows".into()) } else { Ok(()) }
}

/// Returns the instructions of one pass of a consumer, as the difference of two runs of this
/// program with different numbers of passes. `main` calls [`run_one`] in these runs.
fn by_valgrind(case: &Case, consumer: &Consumer) -> Option<f64> {
    let run = |passes: u64| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().ok()?)
            .args([ONE, &passes.to_string(), case.shape, case.workload, case.touch, consumer.name])
            .output()
            .ok()?;
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        let count = report.lines().find_map(|line| line.split_once("Collected : "))?.1;
        count.trim().parse::<u64>().ok()
    };
    let (few, more) = (run(1)?, run(5)?);
    Some(more.saturating_sub(few) as f64 / 4.0)
}

/// Runs one consumer, for [`by_valgrind`].
pub fn run_one(arguments: &[String]) -> Result<()> {
    let [passes, shape, workload, touch, consumer] = arguments else { return Err("not by hand".into()) };
    let same = |case: &Case| (case.shape, case.workload, case.touch) == (shape, workload, touch);
    let case = cases().into_iter().find(same).ok_or("no such case")?;
    let consumer = case.consumers.iter().find(|one| one.name == consumer).ok_or("no such consumer")?;
    let mut input = (case.input)(SMALL);
    for _ in 0..passes.parse()? {
        black_box((consumer.run)(&mut input));
    }
    Ok(())
}
