//! Counts the instructions a record by callgrind, which noise does not move.
//!
//! `instructions --gate`: fails if a sample of fixed length costs more than the limits below.
//! `instructions [WORD...]`: a table, as `ratios --valgrind` prints it.
//!
//! Without valgrind it says so and succeeds.

use std::process::ExitCode;

use perfkit_benches::SMALL;
use perfkit_benches::counter::{has_valgrind, run_one};
use perfkit_benches::report::{Costs, Options, instructions, print};

/// Touch, layout, and at most how many instructions a record: workload `fixed`, shape b.
const LIMITS: [(&str, &str, f64); 4] =
    [("few", "ours const", 28.0), ("all", "ours const", 45.0), ("few", "ours", 32.0), ("all", "ours", 72.0)];

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if run_one(&arguments) {
        return ExitCode::SUCCESS;
    }
    let gate = arguments.iter().any(|argument| argument == "--gate");
    if gate {
        arguments = ["b", "fixed"].map(String::from).to_vec();
    }
    if !has_valgrind() {
        println!("skipped: no valgrind, by which instructions are counted");
        return ExitCode::SUCCESS;
    }
    let options = Options { bytes: SMALL, selection: arguments, ..Options::default() };
    let Some(costs) = instructions(&options) else {
        println!("valgrind counted nothing");
        return ExitCode::FAILURE;
    };
    print(&costs);
    if gate && LIMITS.into_iter().filter(|limit| !is_kept(&costs, *limit)).count() > 0 {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn is_kept(costs: &[Costs], (touch, name, limit): (&str, &str, f64)) -> bool {
    let cost = costs.iter().find(|cost| cost.touch == touch).and_then(|cost| cost.of(name));
    let kept = cost.is_some_and(|cost| cost <= limit);
    let found = cost.map_or("none".into(), |cost| format!("{cost:.1}"));
    let verdict = if kept { "kept" } else { "EXCEEDED" };
    println!("{touch}, {name}: expected at most {limit} instructions a record, found {found}: {verdict}");
    kept
}
