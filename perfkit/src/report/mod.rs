//! `perfkit report`: where a recorded program spends its time, as tables and trees.

use std::fmt;
use std::io::{self, BufWriter, Write};

use clap::{Args, ValueEnum};
use perf_profile::{CallTree, Direction, EventId, Order, ProfileBuilder, Split, Table};

pub(crate) mod header;
pub(crate) mod json;
pub(crate) mod sort;
pub(crate) mod table;
pub(crate) mod text;
mod tree;

use sort::SortKey;

use crate::cli::help;
use crate::out::color::{Color, colored};
use crate::out::message::{self, count, note, shown};
use crate::recording::{ProfileOptions, QuantumOptions};

/// Print where a recorded program spends its time
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "Self is the share of the samples in a function, Children that of the samples in it or in a function that it calls. \
     An inlined function is a function by itself: the perf tool adds its samples to the function that it is in, as \
     --no-inline does here, too. Shares are of the samples that the filters leave. Addresses without a name are one row an \
     object.\n\n\
     --json prints all rows in the form that docs/report-json.md describes.",
    &[
        ("perfkit report", "functions, with their callees first"),
        ("perfkit report --no-children -s sym", "functions by their own time"),
        ("perfkit report -s dso", "programs and libraries"),
        ("perfkit report -s srcline --comm sort", "source lines of a thread"),
        ("perfkit report -g caller", "a tree from main down to the callees"),
        ("perfkit report -g callee", "a tree from the hottest functions to their callers"),
        ("perfkit report --off-cpu -g caller", "where threads wait, after record --off-cpu"),
        ("perfkit report --json | jq '.rows[0]'", ""),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    /// Columns that distinguish rows
    #[arg(
        short,
        long,
        value_enum,
        value_name = "KEY,...",
        value_delimiter = ',',
        default_value = "comm,dso,sym"
    )]
    sort: Vec<SortKey>,
    #[command(flatten)]
    quantum: QuantumOptions,
    /// Sort by the samples in a function itself, and leave out the column with its callees
    #[arg(long)]
    no_children: bool,
    /// Accepted as the perf tool has it: the default
    #[arg(long, hide = true, conflicts_with = "no_children")]
    children: bool,
    /// Print a call tree in place of the table
    #[arg(short = 'g', long, value_enum, value_name = "ORDER", num_args = 0..=1, default_value = "none", default_missing_value = "caller")]
    call_graph: CallGraph,
    /// Leave out rows with a smaller share; the last line says how many
    #[arg(long, value_name = "PERCENT", default_value_t = 0.5, value_parser = percent)]
    percent_limit: f64,
    /// Print the numbers of samples, too
    #[arg(short = 'n', long)]
    show_nr_samples: bool,
    /// Print no lines about the recording
    #[arg(short, long)]
    quiet: bool,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
    /// Accepted as the perf tool has it: the only form
    #[arg(long, hide = true)]
    stdio: bool,
    /// Accepted as the perf tool has it: the default, without `-q`
    #[arg(long, hide = true, conflicts_with = "quiet")]
    header: bool,
    #[command(flatten)]
    profile: ProfileOptions,
}

/// The end of the stacks that is the root of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CallGraph {
    /// No tree
    None,
    /// From the outermost function to its callees
    Caller,
    /// From the functions that were sampled to their callers
    Callee,
}

impl CallGraph {
    fn direction(self) -> Option<Direction> {
        match self {
            Self::None => None,
            Self::Caller => Some(Direction::FromOutermost),
            Self::Callee => Some(Direction::FromInnermost),
        }
    }
}

pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse::<f64>();
    let percent = percent.ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "expected percent, a number from 0 to 100".to_owned())
}

/// Prints the report of a recording. Damage is an error, after the report of all that could be
/// read.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let columns = sort::columns(&options.sort);
    let direction = options.call_graph.direction();
    let split = options.quantum.apply(Split::for_columns(&columns));
    let read = match direction {
        None => options.profile.table(&columns, split)?,
        Some(_) => options.profile.profile(ProfileBuilder::new(), split)?,
    };
    let mut out = BufWriter::new(out);
    let (profile, about, sums) = (&read.profile, &read.metadata, &read.table);
    sort::check(&options.sort, about)?;
    let mut sampled: Vec<_> = profile.event_ids().filter(|&(id, _)| profile.sample_count(id) > 0).collect();
    // Rows are sorted by the first event, so the event that the user chose comes first.
    let asked = options.profile.source.off_cpu.event();
    sampled.sort_by_key(|(_, event)| Some(event.name.as_str()) != asked);
    let events: Vec<_> = sampled
        .iter()
        .map(|&(id, event)| (id, event.name.as_str(), Shares::new(profile.total(id))))
        .collect();
    let has_callers = match sums {
        Some(sums) => sums.has_callers(),
        None => profile.stacks().any(|(_, caller)| caller.is_some()),
    };
    let has_total = !options.no_children && has_callers;
    let order = if has_total { Order::ByTotal } else { Order::BySelf };
    let table = || match sums {
        Some(sums) => sums.table(profile),
        None => Table::new(profile, &columns),
    };
    let is_colored = colored(&io::stdout());
    if options.json {
        let mut table = table();
        if let Some(&(first, ..)) = events.first() {
            table = table.sorted(first, order);
        }
        let tree = |id: EventId| Some((id, CallTree::new(profile, id, &columns, direction?)));
        let trees: Vec<_> = events.iter().filter_map(|&(id, ..)| tree(id)).collect();
        let report = json::report(about, profile, &options.sort, &table, &trees);
        writeln!(out, "{}", message::json(&report))?;
    } else {
        if !options.quiet {
            header::print(&mut out, about, profile)?;
        }
        let mut left_out = 0;
        if let Some(&(first, ..)) = events.first().filter(|_| direction.is_none()) {
            let table = table().sorted(first, order);
            let style = table::Style {
                keys: &options.sort,
                events: &events,
                order,
                has_total,
                has_counts: options.show_nr_samples,
                limit: options.percent_limit,
                most: usize::MAX,
                is_colored,
            };
            writeln!(out, "#")?;
            left_out = style.print(&mut out, &table)?;
        }
        for &(id, name, shares) in &events {
            let Some(direction) = direction else { continue };
            let is_kept = |total| shares.of(total) >= options.percent_limit;
            let tree = CallTree::filtered(profile, id, &columns, direction, is_kept);
            writeln!(out, "#\n# Children      Self  {}", shown(name))?;
            tree::print(&mut out, &tree, shares, is_colored)?;
            left_out += tree.left_out;
        }
        if left_out > 0 && !options.quiet {
            let left_out = count(left_out, "row");
            let limit = options.percent_limit;
            writeln!(out, "#\n# {left_out} below {limit} % left out: --percent-limit 0 prints them")?;
        }
    }
    out.flush()?;
    drop(out);
    if events.is_empty() {
        note("no samples: the recording has none, or the options choose none of them");
    }
    read.finish()
}

/// The shares of a total.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    total: u64,
}

impl Shares {
    pub(crate) fn new(total: u64) -> Self {
        Self { total }
    }

    /// Returns a value in percent of the total.
    #[allow(clippy::cast_precision_loss)] // printed with two decimals
    pub(crate) fn of(self, value: u64) -> f64 {
        if self.total == 0 { 0.0 } else { 100.0 * value as f64 / self.total as f64 }
    }
}

/// A share in ten columns, in the colors of the perf tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Percent {
    percent: f64,
    is_colored: bool,
}

impl Percent {
    pub(crate) fn new(percent: f64, is_colored: bool) -> Self {
        Self { percent, is_colored }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:9.2}%", self.percent);
        match self.percent {
            5.0.. => Color::Red.paint(text, self.is_colored).fmt(f),
            0.5.. => Color::Green.paint(text, self.is_colored).fmt(f),
            _ => f.write_str(&text),
        }
    }
}
