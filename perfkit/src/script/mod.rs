//! `perfkit script`: prints every sample with its stack, in the form of `perf script`, which many
//! viewers read.

use std::io::{self, Write};

use clap::Args;
use perf_abi::SampleType;
use perf_profile::read::{ScriptLosses, ScriptWriter, SideBandKinds, resolver};

use crate::cli::help;
use crate::out::message::{count, note};
use crate::out::payload_names::PayloadNames;
use crate::recording::{
    FilterOptions, FinderOptions, InputOptions, Shown, StackOptions, are_few, reused, show_progress,
};

mod fields;

use fields::Choice;

/// Print each sample with its stack, as the perf tool's `script` does
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "The text is that of `perf script`: cargo-flamegraph (PERF=perfkit), inferno, the FlameGraph scripts, speedscope and \
     the Firefox Profiler read it.",
    &[
        ("perfkit script | less", ""),
        ("perfkit script | inferno-collapse-perf | inferno-flamegraph > x.svg", ""),
        ("perfkit script -F +pid > x.perf", "for the Firefox Profiler"),
        ("perfkit script -F comm,tid,time,event --comm sort", ""),
        ("perfkit script --show-mmap-events -F ip,brstack > x.perf", "branches, for llvm-profgen"),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// Fields of each sample: comm, pid, tid, cpu, time, period, event, trace, addr, cgroup, ip, sym, symoff, dso, srcline, brstack;
    /// +NAME adds one, -NAME leaves one out; hw:, sw: or trace: before the list is for these events only
    #[arg(short = 'F', long, value_name = "LIST", allow_hyphen_values = true, value_parser = Choice::parse)]
    fields: Vec<Choice>,
    /// Print times with ns
    #[arg(long)]
    ns: bool,
    /// Print the address of each sample only, without its stack
    #[arg(short = 'G', long)]
    hide_call_graph: bool,
    /// Leave out inlined functions and source lines, which takes less time and memory
    #[arg(long, overrides_with = "inline")]
    no_inline: bool,
    /// Print the records of mappings (MMAP, MMAP2) at their places, too
    #[arg(long)]
    show_mmap_events: bool,
    /// Print the records of tasks (COMM, FORK, EXIT) at their places, too
    #[arg(long)]
    show_task_events: bool,
    /// Accepted as the perf tool has it: hardware traces are not decoded
    #[arg(long, hide = true)]
    no_itrace: bool,
    /// Accepted as the perf tool has it: perfkit reads files of any owner
    #[arg(short = 'f', hide = true)]
    is_forced: bool,
    /// Accepted as the perf tool has it: inlined functions are printed by default
    #[arg(long, hide = true)]
    inline: bool,
    #[command(flatten)]
    stacks: StackOptions,
    #[command(flatten)]
    filter: FilterOptions,
    #[command(flatten)]
    finder: FinderOptions,
}

/// Prints the samples of a recording. Damage is an error, after all that could be read is printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let (about, mut records) = options.input.open()?.in_time_order();
    let filter = options.filter.filter(&about)?;
    let tracepoints = about.tracepoints();
    let has_branches = about.has_field(SampleType::BRANCH_STACK);
    let choose = |(name, attr)| Choice::fields(&options.fields, name, attr, has_branches);
    let fields = about.events().map(choose);
    let fields = fields.collect::<io::Result<Vec<_>>>()?;
    let finder = options.finder.finder(&about);
    let is_local = finder.is_local();
    let mut resolver = resolver(&about, finder, !options.no_inline)?;
    resolver.unwinder_mut().set_max_frames(options.stacks.max_frames());
    let mut script = ScriptWriter::new(out, &about, &tracepoints, &fields, resolver);
    if options.ns {
        script = script.with_ns();
    }
    if options.hide_call_graph {
        script = script.without_callchains();
    }
    let mut side_band = SideBandKinds::default();
    if options.show_mmap_events {
        side_band = side_band.with_mappings();
    }
    if options.show_task_events {
        side_band = side_band.with_tasks();
    }
    script = script.with_side_band(side_band);
    let kernel = PayloadNames::of_texts(about.printk_formats());
    let kernel = if is_local { kernel.with_functions(script.print_formats()) } else { kernel };
    show_progress(&mut records, Shown::BesideOutput);
    let losses = script.with_kernel_names(kernel).write(&mut records, &filter)?;
    note_losses(&losses);
    records.finish()
}

/// Prints the losses to standard error.
fn note_losses(losses: &ScriptLosses) {
    if !losses.lost.is_empty() {
        note(losses.lost);
    }
    if losses.late > 0 {
        note(format_args!("{} came after a record of a later time", count(losses.late, "record")));
    }
    if losses.cut_stacks > 0 {
        let (stacks, needed) = (count(losses.cut_stacks, "cut stack"), losses.needed_stack_bytes);
        note(format_args!(
            "{stacks}: copies of at least {needed} bytes, and at most 65528, lead to more frames"
        ));
    }
    let has_few = are_few(losses.unnamed_samples, losses.samples);
    for (addresses, reason) in losses.unnamed_addresses.iter().filter(|_| !has_few) {
        note(format_args!("{} without a name: {reason}", count(*addresses, "address")));
    }
    if let Some(reused) = reused(losses.reused_addresses) {
        note(reused);
    }
}
