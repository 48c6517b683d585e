//! Ratios that hold on a busy machine, because the consumers of a case run in turn, pass by pass.

use std::hint::black_box;

use criterion::measurement::Measurement;
use criterion_perf::{PerfMeasurement, PerfMeasurementOptions};
use perfkit_benches::Result;
use perfkit_benches::consumers::{Case, FITS_L2, Input, LARGE};
use perfkit_benches::workloads::Random;

use crate::costs::{measure, print_ratios};

pub fn ratios(arguments: &[String]) -> Result<()> {
    let bytes = if arguments.iter().any(|argument| argument == "--large") { LARGE } else { FITS_L2 };
    let passes = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(41);
    // The task clock stops while another thread has the CPU.
    let event =
        arguments.iter().find_map(|argument| argument.strip_prefix("--event=")).unwrap_or("task-clock");
    let counter = PerfMeasurementOptions::new(event).clock_if_refused().open()?;
    println!("{}, {} KiB, medians of {passes} interleaved passes\n", counter.event(), bytes >> 10);
    let costs =
        measure(arguments, bytes, |_| true, |case, input| Ok(medians(&counter, case, input, passes)))?;
    print_ratios(&costs);
    Ok(())
}

/// Returns the cost of each consumer. Passes are interleaved, so that a noisy moment affects all
/// consumers, in a new random order each time, because a fixed predecessor would always leave the
/// caches in the same state.
fn medians(counter: &PerfMeasurement, case: &Case, input: &mut Input, passes: usize) -> Vec<f64> {
    // Repeats a pass of a few hundred records, because its time would be dominated by the counter.
    let repeats = (20_000 / input.records()).max(1);
    let mut costs = vec![Vec::with_capacity(passes); case.consumers.len()];
    let mut random = Random::new(0);
    for _ in 0..passes {
        for index in random.order(case.consumers.len()) {
            let start = counter.start();
            for _ in 0..repeats {
                black_box((case.consumers[index].run)(input));
            }
            costs[index].push(counter.end(start).unwrap_or(0));
        }
    }
    let median = |mut costs: Vec<u64>| {
        costs.sort_unstable();
        costs[costs.len() / 2] as f64
    };
    costs.into_iter().map(median).collect()
}
