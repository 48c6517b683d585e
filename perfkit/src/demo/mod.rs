//! `perfkit demo`: sample a workload of our own and show what the kernel said.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::Args;

mod capture;
mod chart;
mod live;
mod mappings;
mod plan;
mod progress;
mod refusal;
mod stopwatch;
mod summary;
mod tally;
mod threads;
pub(crate) mod workload;

use live::Sampler;
use plan::{Plan, Scope, Source};
use progress::Progress;
use refusal::Evidence;
use tally::Tally;
use workload::Workload;

/// Time between two rounds over the rings.
const ROUND: Duration = Duration::from_millis(100);

/// Options of `perfkit demo`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Show the capture inside the program, as where the kernel refuses
    #[arg(long)]
    capture: bool,
    /// How long to sample
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// What makes a sample; without this: cycles, or cpu-clock where they are refused
    #[arg(long, value_enum)]
    event: Option<Source>,
}

/// Runs the demo. A kernel that refuses is no error: it is explained, and the capture is shown.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    if options.capture {
        writeln!(out, "Live sampling was not tried (--capture).")?;
        return show_capture(out);
    }
    match Sampler::open(&Plan::ladder(options.event)) {
        Ok(sampler) => sample(out, sampler, Duration::from_secs(options.seconds)),
        Err(refusal) => {
            refusal::explain(out, &refusal, Evidence::gather())?;
            writeln!(out)?;
            show_capture(out)
        }
    }
}

fn sample(out: &mut dyn Write, mut sampler: Sampler, time: Duration) -> io::Result<()> {
    introduce(out, &sampler)?;
    out.flush()?;
    let (mut tally, mut progress) = (Tally::default(), Progress::new(time));
    let start = Instant::now();
    let mut workload = Workload::start(time)?;
    while workload.runs()? {
        sampler.wait(ROUND)?;
        sampler.drain(&mut tally)?;
        progress.show(out, start.elapsed(), &tally)?;
    }
    // The last records were written between the last round and the end of the workload.
    sampler.drain(&mut tally)?;
    tally.lost_by_count = sampler.lost();
    progress.finish();
    summary::print(out, &tally)
}

fn introduce(out: &mut dyn Write, sampler: &Sampler) -> io::Result<()> {
    let plan = sampler.plan();
    writeln!(out, "Live sampling of {} threads and {} children", workload::THREADS, workload::CHILDREN)?;
    writeln!(out, "  event    {}", plan.period())?;
    writeln!(out, "  scope    {}", plan.scope)?;
    writeln!(out, "  rings    {}, one per CPU, {} data pages each", sampler.rings(), live::PAGES)?;
    let evidence = Evidence::gather();
    refusal::list(out, &sampler.refused(), evidence)?;
    if plan.scope == Scope::UserOnly {
        writeln!(out, "  try      {}", refusal::kernel_scope(evidence))?;
    }
    Ok(())
}

fn show_capture(out: &mut dyn Write) -> io::Result<()> {
    let file = capture::load()?;
    let size = u64::from(file.page_size) * u64::from(file.data_pages);
    writeln!(out, "Embedded capture: NOT from this kernel, recorded earlier and decoded by the same code")?;
    writeln!(out, "  ring     {}, saved at {} moments", chart::bytes(size), file.snapshots.len())?;
    for event in &file.events {
        let count = event.count().map_or("not read".to_owned(), |count| count.to_string());
        writeln!(out, "  event    {:<22} id {}, counted {count}", event.name, event.id)?;
    }
    let mut tally = Tally::default();
    capture::decode(&file, &mut tally)?;
    summary::print(out, &tally)
}
