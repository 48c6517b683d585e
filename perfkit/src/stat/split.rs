//! The parts of the target that have separate rows: CPUs, cores, packages, threads.

use std::collections::BTreeMap;
use std::io;

use clap::Args;
use perf_session::{Counts, CpuList, CpuTopology, EventCounts, Scope, System};

use crate::out::message::shown;

/// The options that choose the parts.
#[derive(Args, Clone, Copy, Debug)]
#[group(id = "split", multiple = false)]
pub(super) struct SplitOptions {
    /// Print the counts of each CPU
    #[arg(short = 'A', long, visible_alias = "per-cpu")]
    no_aggr: bool,
    /// Print the counts of each core, with its number of CPUs
    #[arg(long)]
    per_core: bool,
    /// Print the counts of each die, with its number of CPUs
    #[arg(long)]
    per_die: bool,
    /// Print the counts of each socket, with its number of CPUs
    #[arg(long)]
    per_socket: bool,
    /// Print the counts of each thread of -p or -t
    #[arg(long, conflicts_with = "repeat")]
    per_thread: bool,
}

/// The kind of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Split {
    Whole,
    Cpus,
    Cores,
    Dies,
    Sockets,
    Threads,
}

impl SplitOptions {
    /// Returns the kind of the parts, and the option that chose it.
    pub(super) const fn split(self) -> (Split, &'static str) {
        match self {
            Self { no_aggr: true, .. } => (Split::Cpus, "--no-aggr"),
            Self { per_core: true, .. } => (Split::Cores, "--per-core"),
            Self { per_die: true, .. } => (Split::Dies, "--per-die"),
            Self { per_socket: true, .. } => (Split::Sockets, "--per-socket"),
            Self { per_thread: true, .. } => (Split::Threads, "--per-thread"),
            _ => (Split::Whole, ""),
        }
    }
}

/// One part of the target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Whole,
    Cpu(u32),
    Core(CpuTopology),
    /// Package and die.
    Die(i32, i32),
    Socket(i32),
    /// The id of a thread, and its name.
    Thread(u32, String),
}

impl Part {
    /// Returns the key by which the JSON of the perf tool names such a part, and the name.
    pub(super) fn key_and_name(&self) -> Option<(&'static str, String)> {
        Some(match self {
            Self::Whole => return None,
            Self::Cpu(cpu) => ("cpu", cpu.to_string()),
            Self::Core(CpuTopology { package, die, core, .. }) => {
                ("core", format!("S{package}-D{die}-C{core}"))
            }
            Self::Die(package, die) => ("die", format!("S{package}-D{die}")),
            Self::Socket(package) => ("socket", format!("S{package}")),
            Self::Thread(tid, comm) => ("thread", format!("{comm}-{tid}")),
        })
    }

    /// Returns the name as the perf tool prints it before a count.
    pub(super) fn label(&self) -> Option<String> {
        self.key_and_name().map(|(key, name)| if key == "cpu" { format!("CPU{name}") } else { name })
    }

    /// Returns whether the part may have several CPUs, so that their number is printed.
    pub(super) const fn has_cpus(&self) -> bool {
        matches!(self, Self::Core(_) | Self::Die(..) | Self::Socket(_))
    }
}

/// Splits counts, and knows the names of the parts.
#[derive(Debug)]
pub(super) struct Splitter {
    pub(super) split: Split,
    /// Topology by CPU, except for offline CPUs, whose topology cannot be read.
    places: BTreeMap<u32, CpuTopology>,
    /// Names by thread, except for exited threads, whose names cannot be read.
    comms: BTreeMap<u32, String>,
}

impl Splitter {
    pub(super) const fn new(split: Split) -> Self {
        Self { split, places: BTreeMap::new(), comms: BTreeMap::new() }
    }

    /// Reads the names of the parts that these counts have, unless they are known.
    pub(super) fn note(&mut self, counts: &Counts) -> io::Result<()> {
        for scope in counts.iter().flat_map(|counts| &counts.scopes).map(|count| count.scope) {
            match (self.split, scope.cpu_id(), scope.thread_id()) {
                (Split::Cores | Split::Dies | Split::Sockets, Some(cpu), _)
                    if !self.places.contains_key(&cpu) =>
                {
                    let place = CpuTopology::of(cpu, &System::new()).map_err(io::Error::other)?;
                    self.places.insert(cpu, place);
                }
                (Split::Threads, _, Some(tid)) => {
                    self.comms.entry(tid).or_insert_with(|| comm(tid));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the counts of each part. The whole is followed by each CPU if it has an event whose
    /// counts have no sum.
    pub(super) fn parts(&self, counts: Counts) -> Vec<(Part, Counts)> {
        let place = |scope: Scope| self.places.get(&scope.cpu_id()?).copied();
        let cpu = |scope: Scope| scope.cpu_id().map(Part::Cpu);
        match self.split {
            Split::Whole => {
                let cpus = if counts.iter().any(has_no_sum) { counts.split_by(cpu) } else { Vec::new() };
                [(Part::Whole, counts)].into_iter().chain(cpus).collect()
            }
            Split::Cpus => counts.split_by(cpu),
            Split::Cores => counts.split_by(|scope| place(scope).map(Part::Core)),
            Split::Dies => {
                counts.split_by(|scope| place(scope).map(|place| Part::Die(place.package, place.die)))
            }
            Split::Sockets => counts.split_by(|scope| place(scope).map(|place| Part::Socket(place.package))),
            Split::Threads => counts.split_by(|scope| {
                let tid = scope.thread_id()?;
                Some(Part::Thread(tid, self.comms.get(&tid).cloned().unwrap_or_default()))
            }),
        }
    }
}

/// Returns whether the counts of an event are momentary values of several CPUs.
pub(super) fn has_no_sum(event: &EventCounts) -> bool {
    event.is_snapshot && event.scaled().is_none()
}

/// Returns the CPUs on which an event counts.
pub(super) fn cpus_of(event: &EventCounts) -> CpuList {
    event.scopes.iter().filter_map(|count| count.scope.cpu_id()).collect()
}

/// Returns the name of a thread, `?` if it has exited.
fn comm(tid: u32) -> String {
    let comm = System::new().task(tid).comm();
    shown(comm.map_or("?".into(), |comm| String::from_utf8_lossy(&comm).into_owned()))
}
