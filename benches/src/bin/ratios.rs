//! Prints the CPU time a record that each decoder takes in each shape of loop.
//!
//! `ratios [--large] [--peers] [--valgrind] [PASSES] [WORD...]`
//!
//! * `--large`: an input of 8 MiB, by default of 512 KiB.
//! * `--peers`: the other crates too.
//! * `--valgrind`: instructions a record as well, counted by callgrind where the machine has no counter (slow).
//! * `PASSES`: passes of each decoder, by default 41; the median counts.
//! * `WORD`: the letter of a shape, a workload or a touch; only these are measured.

use perfkit_benches::counter::run_one;
use perfkit_benches::report::{Options, instructions, nanoseconds, print};
use perfkit_benches::{FITS_L2, LARGE, SMALL};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if run_one(&arguments) {
        return;
    }
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let mut options = Options {
        bytes: if has("--large") { LARGE } else { FITS_L2 },
        peers: has("--peers"),
        passes: arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(41),
        selection: arguments.iter().filter(|argument| !argument.starts_with('-')).cloned().collect(),
    };
    println!("ns a record, {} KiB, median of {} interleaved passes\n", options.bytes >> 10, options.passes);
    match nanoseconds(&options) {
        Some(costs) => print(&costs),
        None => println!("no task clock"),
    }
    if has("--valgrind") {
        options.bytes = SMALL;
        println!("\ninstructions a record, {} KiB\n", SMALL >> 10);
        match instructions(&options) {
            Some(costs) => print(&costs),
            None => println!("neither a counter of instructions nor valgrind"),
        }
    }
}
