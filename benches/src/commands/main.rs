//! Commands that criterion lacks: ratios on a noisy machine, instructions without a PMU, and a
//! record of the results.

mod costs;
mod instructions;
mod ratios;
mod record;

use perfkit_benches::Result;

const HELP: &str = "\
Usage: cargo run --release -- COMMAND [ARGUMENT...]

  record                       runs `cargo bench`, writes record/CPU/DATE.csv, prints its tables
  record ARGUMENT...           runs `cargo bench -- ARGUMENT...`, and writes below target/criterion-record
  ratios [--large] [--event=EVENT] [PASSES] [WORD...]
                               ratios of time, or of the counts of an event, to the code by hand, by interleaved passes
                               (default 41); input of 512 KiB, with --large 8 MiB
  instructions [WORD...]       instructions a record, counted by callgrind
  instructions --gate          fails above the limits of instructions a record

WORD is the name of a loop, a workload or a touch of `cargo bench`: `ratios question few` (default all).
";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((command, arguments)) => match &command[..] {
            "record" => record::record(arguments),
            "ratios" => ratios::ratios(arguments),
            "instructions" => instructions::instructions(arguments),
            instructions::ONE => instructions::run_one(arguments),
            other => Err(format!("no command {other}\n\n{HELP}").into()),
        },
        None => {
            print!("{HELP}");
            Ok(())
        }
    }
}
