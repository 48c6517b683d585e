//! Options of a measurement.

use perf_session::ring::{Attr, Software};
use perf_session::{EventSetOptions, EventSetTarget, EventSpec, Inherit, NamedEvent, System, parse_event};

use crate::text::note;
use crate::{Error, PerfMeasurement};

/// The event of a [`PerfMeasurement`], and what it counts: by default the calling thread in user
/// space.
///
/// A complete benchmark, for machines with and without a PMU, such as most virtual machines in CI:
///
/// ```
/// use std::hint::black_box;
/// use std::path::Path;
///
/// use criterion::{Criterion, criterion_group, criterion_main};
/// use criterion_perf::{PerfMeasurement, PerfMeasurementOptions};
///
/// fn sort(criterion: &mut Criterion<PerfMeasurement>) {
///     let numbers: Vec<u32> = (0..1000).rev().collect();
///     criterion.bench_function("sort", |bencher| bencher.iter(|| black_box(&numbers).clone().sort()));
/// }
///
/// fn config() -> Criterion<PerfMeasurement> {
///     let options = PerfMeasurementOptions::new("instructions").clock_if_refused();
///     // Only a misspelt name, or a kernel that permits no event at all, is an error now.
///     let measurement = options.open().unwrap_or_else(|error| {
///         eprintln!("{error}");
///         std::process::exit(1)
///     });
///     // instructions:u, or without a PMU task-clock:u. The results of one are not compared with the other's.
///     let results = Path::new("target/criterion").join(measurement.event());
///     Criterion::default().output_directory(&results).with_measurement(measurement)
/// }
///
/// criterion_group! {
///     name = benches;
///     config = config();
///     targets = sort
/// }
/// criterion_main!(benches);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PerfMeasurementOptions {
    event: String,
    includes_kernel: bool,
    inherits_threads: bool,
    falls_back_to_clock: bool,
}

impl PerfMeasurementOptions {
    /// Creates options for an event by its perf tool name: `instructions`, `cycles`,
    /// `cache-misses`, `L1-dcache-load-misses`, `page-faults`, `cpu/event=0xc0/`,
    /// `raw_syscalls:sys_enter`.
    pub fn new(event: impl Into<String>) -> Self {
        Self {
            event: event.into(),
            includes_kernel: false,
            inherits_threads: false,
            falls_back_to_clock: false,
        }
    }

    /// Counts the kernel too, which needs `CAP_PERFMON` or `perf_event_paranoid` of at most 1. The
    /// modifiers `:u` and `:k` of the event's name have the same effect.
    ///
    /// Tracepoints, kprobes and context switches are kernel events, and always need this
    /// permission.
    pub fn include_kernel(self) -> Self {
        Self { includes_kernel: true, ..self }
    }

    /// Counts the threads that the calling thread starts after [`open`](Self::open), and their
    /// threads, for multithreaded benchmarks. Since Linux 5.13.
    pub fn inherit_threads(self) -> Self {
        Self { inherits_threads: true, ..self }
    }

    /// Measures `task-clock`, the CPU time of the thread, if the kernel refuses the event, for
    /// example because the machine has no PMU. A line on standard error has the reason, and the
    /// unit of all values is the clock's.
    ///
    /// A misspelt name is still an error.
    pub fn clock_if_refused(self) -> Self {
        Self { falls_back_to_clock: true, ..self }
    }

    /// Opens the event for the calling thread, and starts it. Only this thread may run the
    /// benchmarks.
    ///
    /// # Errors
    ///
    /// - [`Error::Name`]: no event has the name, or several do.
    /// - [`Error::Open`]: the machine lacks the event, or the user may not count it.
    /// - [`Error::CpuOnly`]: the event cannot count threads.
    pub fn open(self) -> Result<PerfMeasurement, Error> {
        let system = System::new();
        let event = parse_event(&self.event, &system).map_err(Error::Name)?;
        match self.open_event(event, &system) {
            Err(refused @ Error::Open { .. }) if self.falls_back_to_clock => {
                let clock = EventSpec::new(Attr::software(Software::TASK_CLOCK));
                // If the clock is refused too, return the error of the event, because that is the
                // one to solve.
                let Ok(measurement) = self.open_event(clock.into(), &system) else { return Err(refused) };
                note(format_args!(
                    "measuring {} instead of {}: {refused:#}",
                    measurement.event(),
                    self.event
                ));
                Ok(measurement.instead_of(refused))
            }
            opened => opened,
        }
    }

    fn open_event(&self, event: NamedEvent, system: &System) -> Result<PerfMeasurement, Error> {
        if event.specs().iter().any(EventSpec::is_cpu_only) {
            return Err(Error::CpuOnly { event: event.name().to_owned() });
        }
        let mut options = EventSetOptions::new().event(event).target(EventSetTarget::calling_thread());
        if !self.includes_kernel {
            options = options.user_only();
        }
        if self.inherits_threads {
            options = options.inherit(Inherit::Threads);
        }
        let set = options.open().and_then(|set| set.enable().map(|()| set));
        let set = set.map_err(|error| Error::explained(error, system))?;
        Ok(PerfMeasurement::from_set(set))
    }
}
