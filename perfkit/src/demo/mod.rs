//! `perfkit demo`: samples a workload that it starts and prints a summary of the records.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::Args;
use perf_session::System;

mod capture;
mod chart;
mod failure;
mod functions;
mod keep;
mod kept;
mod mappings;
mod open;
mod plan;
mod progress;
mod sampler;
mod stopwatch;
mod summary;
mod tally;
mod threads;
pub(crate) mod workload;

use crate::cli::help;
use plan::{Plan, Scope, Source};
use progress::Progress;
use sampler::Sampler;
use tally::Tally;
use workload::Workload;

/// Time between two rounds over the rings.
const ROUND: Duration = Duration::from_millis(100);

/// Options of `perfkit demo`.
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "Where the kernel permits no sampling, it prints the reason and replays a built-in recording.",
    &[
        ("perfkit demo", "sample for two seconds"),
        ("perfkit demo --keep", "leave the recording in this folder, to look at it"),
        ("perfkit demo --capture", "replay the built-in recording, which needs no permission"),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    /// Replay the built-in recording instead of sampling
    #[arg(long)]
    capture: bool,
    /// Seconds to sample, 1 to 60
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Event to sample [default: cycles, or cpu-clock if cycles fail]
    #[arg(long, value_enum)]
    event: Option<Source>,
    #[arg(long, help = keep::HELP)]
    keep: bool,
}

/// Runs the demo. If live sampling fails, prints the causes and replays the recording.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    if options.capture {
        writeln!(out, "Live sampling was not attempted (--capture).")?;
        return replay(out, options);
    }
    match Sampler::open(&Plan::ladder(options.event), ROUND) {
        Ok(sampler) => sample(out, sampler, options),
        Err(failure) => {
            failure::explain(out, &failure, &System::new())?;
            writeln!(out)?;
            replay(out, options)
        }
    }
}

fn sample(out: &mut dyn Write, mut sampler: Sampler, options: &Options) -> io::Result<()> {
    let time = Duration::from_secs(options.seconds);
    introduce(out, &sampler)?;
    out.flush()?;
    let (mut tally, mut progress) = (Tally::default(), Progress::new(time));
    let start = Instant::now();
    let mut workload = Workload::start(time)?;
    while workload.runs()? {
        sampler.wait()?;
        sampler.drain(&mut tally)?;
        progress.show(out, start.elapsed(), &tally)?;
    }
    let kept = sampler.finish(&mut tally)?;
    progress.finish(out)?;
    summary::print(out, &tally)?;
    out.flush()?;
    let profile = kept.profile()?;
    functions::print(out, &profile)?;
    if options.keep { keep::write(out, &kept.file()?, &profile) } else { Ok(()) }
}

fn introduce(out: &mut dyn Write, sampler: &Sampler) -> io::Result<()> {
    let plan = sampler.plan();
    let (rings, pages) = sampler.rings();
    writeln!(
        out,
        "Live sampling of a workload: {} threads and {} child processes",
        workload::THREADS,
        workload::CHILDREN
    )?;
    writeln!(out, "  event    {}", plan.period())?;
    writeln!(out, "  scope    {}", plan.scope)?;
    writeln!(out, "  rings    {rings}, one per CPU, {pages} data pages in total")?;
    failure::list(out, sampler.failed(), &System::new())?;
    if plan.scope == Scope::UserOnly {
        writeln!(out, "  try      {}", failure::kernel_scope(&System::new()))?;
    }
    Ok(())
}

fn replay(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let recording = capture::open()?;
    writeln!(
        out,
        "Replay of the built-in recording: made earlier, NOT on this kernel, and decoded by the same code"
    )?;
    writeln!(out, "  file     perf.data of {}", chart::bytes(capture::Recording::SIZE))?;
    for event in recording.events() {
        writeln!(out, "  event    {event}")?;
    }
    let mut tally = Tally::default();
    recording.replay(&mut tally)?;
    summary::print(out, &tally)?;
    let profile = capture::Recording::profile()?;
    functions::print(out, &profile)?;
    if options.keep { keep::write(out, capture::Recording::BYTES, &profile) } else { Ok(()) }
}
