//! Speed of perf-decode, perf-ring, perf-file and perf-bpf beside code by hand and the other crates of crates.io.

mod allocations;
#[cfg(feature = "bpf")]
mod bpf;
mod counter;
mod decode;
mod file;
mod live;
mod random;
mod table;

const HELP: &str = "\
Usage: cargo run --release -- COMMAND [ARGUMENT...]

perf-decode, of records in memory. WORD is the letter of a loop, a workload or a touch (default all):
  ratios [--large] [--peers] [--event=EVENT] [PASSES] [WORD...]
                                                  ns or counts of an event a record, and the ratios to code by hand
                                                  and to a plan of offsets; 512 KiB, with --large 8 MiB; 41 passes
  instructions [--peers] [WORD...]                the same in instructions, counted by callgrind
  instructions --gate                             fails above the limits of instructions a record

perf-ring, live:
  drain [PASSES]        reading rings, beside perf-event-open
  count [PASSES]        reading and opening counters, beside perf-event2
  read [PASSES]         ways to read a ring, and two rings in order of time

perf-file:
  file [MEGABYTES]      reading a perf.data, beside linux-perf-data (default 100 MB)
  write [MEGABYTES [PASSES]]    writing a perf.data, beside a copy as cat makes it (default 500 MB)

perf-bpf, as root, built with --features bpf, which needs a C compiler, libelf-dev and zlib1g-dev:
  bpf [PAYLOAD...]      reading records that are in the ring, beside aya and libbpf-rs
";

fn main() -> table::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if decode::run_one(&arguments) {
        return Ok(());
    }
    let Some((command, arguments)) = arguments.split_first() else {
        print!("{HELP}");
        return Ok(());
    };
    match &command[..] {
        "ratios" => decode::ratios(arguments),
        "instructions" => decode::instructions(arguments),
        "drain" => live::drain(arguments),
        "count" => live::count(arguments),
        "read" => live::read(arguments),
        "file" => file::read(arguments),
        "write" => file::write(arguments),
        #[cfg(feature = "bpf")]
        "bpf" => bpf::ready(arguments),
        other => Err(format!("no command {other}\n\n{HELP}").into()),
    }
}

/// Returns the number at an index of the arguments, or the default.
fn number<N: std::str::FromStr<Err = std::num::ParseIntError>>(
    arguments: &[String],
    index: usize,
    default: N,
) -> table::Result<N> {
    Ok(arguments.get(index).map_or(Ok(default), |number| number.parse())?)
}
