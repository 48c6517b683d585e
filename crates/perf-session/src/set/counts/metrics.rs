//! The formulas of metrics, as in the perf tool's `stat-shadow.c`.

use std::os::fd::RawFd;
use std::time::Duration;

use perf_ring::abi::HW_EVENT_MASK;
use perf_ring::decode::Scaled;
use perf_ring::{Attr, AttrFlags, Cache, CacheEvent, CacheOp, CacheResult, EventType, Hardware, Software};

use super::{Counts, Metric, MetricKind};

/// The properties of an event that decide its metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    kind: Kind,
    /// The excluded privilege levels: cycles of the kernel are not compared with instructions of
    /// user space.
    levels: AttrFlags,
    /// The descriptor of the cgroup's directory: events of different cgroups are not compared.
    cgroup: Option<RawFd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `cpu-clock` or `task-clock`.
    Clock,
    Hardware(Hardware),
    /// Reads of a cache.
    Reads(Cache, CacheResult),
    Other,
}

const LEVELS: AttrFlags = AttrFlags::EXCLUDE_USER
    .union(AttrFlags::EXCLUDE_KERNEL)
    .union(AttrFlags::EXCLUDE_HV)
    .union(AttrFlags::EXCLUDE_HOST)
    .union(AttrFlags::EXCLUDE_GUEST)
    .union(AttrFlags::EXCLUDE_IDLE);

impl Source {
    pub(super) fn new(attr: &Attr, cgroup: Option<RawFd>) -> Self {
        let kind = match attr.kind {
            EventType::SOFTWARE if [Software::CPU_CLOCK.0, Software::TASK_CLOCK.0].contains(&attr.config) => {
                Kind::Clock
            }
            // The upper half selects the PMU of a hybrid CPU.
            EventType::HARDWARE => Kind::Hardware(Hardware(attr.config & HW_EVENT_MASK)),
            EventType::HW_CACHE => match CacheEvent::from_config(attr.config) {
                Some(CacheEvent { cache, op: CacheOp::READ, result }) => Kind::Reads(cache, result),
                _ => Kind::Other,
            },
            _ => Kind::Other,
        };
        Self { kind, levels: attr.flags & LEVELS, cgroup }
    }
}

/// Returns the count by which misses or stalled cycles are divided, and the unit of the quotient in
/// percent.
fn share(kind: Kind) -> Option<(MetricKind, Kind, &'static str)> {
    let miss = |whole, unit| Some((MetricKind::Misses, whole, unit));
    let idle = |unit| Some((MetricKind::IdleCycles, Kind::Hardware(Hardware::CPU_CYCLES), unit));
    let reads = |cache| Kind::Reads(cache, CacheResult::ACCESS);
    match kind {
        Kind::Hardware(Hardware::BRANCH_MISSES) => {
            miss(Kind::Hardware(Hardware::BRANCH_INSTRUCTIONS), "of all branches")
        }
        Kind::Hardware(Hardware::CACHE_MISSES) => {
            miss(Kind::Hardware(Hardware::CACHE_REFERENCES), "of all cache refs")
        }
        Kind::Hardware(Hardware::STALLED_CYCLES_FRONTEND) => idle("frontend cycles idle"),
        Kind::Hardware(Hardware::STALLED_CYCLES_BACKEND) => idle("backend cycles idle"),
        Kind::Reads(cache, CacheResult::MISS) => match cache {
            Cache::L1D => miss(reads(cache), "of all L1-dcache accesses"),
            Cache::L1I => miss(reads(cache), "of all L1-icache accesses"),
            Cache::LL => miss(reads(cache), "of all LL-cache accesses"),
            Cache::DTLB => miss(reads(cache), "of all dTLB cache accesses"),
            Cache::ITLB => miss(reads(cache), "of all iTLB cache accesses"),
            _ => None,
        },
        _ => None,
    }
}

/// # Metrics
impl Counts {
    /// Returns the metrics of the events, in the order of the events, from scaled counts of this
    /// reading. `elapsed` is the time in which they were counted; zero if it is unknown, which
    /// leaves out [`CpusUtilized`](MetricKind::CpusUtilized).
    ///
    /// The formulas are the perf tool's, and misses per 1000 instructions:
    ///
    /// | event | metrics, if the other event was counted too |
    /// |---|---|
    /// | `cpu-clock`, `task-clock` | CPUs utilized |
    /// | `cycles` | GHz, by a clock |
    /// | `instructions` | per cycle; stalled cycles for each |
    /// | `stalled-cycles-frontend`, `-backend` | percent of cycles |
    /// | `branch-misses`, `cache-misses`, load misses of a cache | percent of branches or accesses; for 1000 instructions |
    /// | others | number per second, by a clock |
    ///
    /// Events of a formula have the same privilege levels, as in `cycles:u` and `instructions:u`; a
    /// clock counts for all. A metric whose divisor is 0 or was not counted is left out.
    ///
    /// ```no_run
    /// use perf_session::{EventSetOptions, EventSetTarget, System, parse};
    /// use std::time::Instant;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let events = parse("task-clock,page-faults,cycles,instructions", &System::new())?;
    /// let mut set = EventSetOptions::new().groups(events).target(EventSetTarget::calling_thread()).open()?;
    /// let start = Instant::now();
    /// set.enable()?;
    /// // ... the work ...
    /// let counts = set.counts()?;
    /// for metric in counts.metrics(start.elapsed()) {
    ///     println!("{}: {metric}", set.names()[metric.event]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn metrics(&self, elapsed: Duration) -> Vec<Metric> {
        let values: Vec<Option<f64>> = self
            .iter()
            .map(|event| {
                #[allow(clippy::cast_precision_loss)] // a quotient
                event.scaled().and_then(Scaled::value).map(|value| value as f64)
            })
            .collect();
        self.metrics_of(&values, elapsed)
    }

    /// Returns the metrics of other values of the same events, one for each event, as
    /// [`metrics`](Self::metrics): means of several runs. Values are counts before they are scaled
    /// to a [unit](super::EventCounts::unit). `None` was not counted.
    pub fn metrics_of(&self, values: &[Option<f64>], elapsed: Duration) -> Vec<Metric> {
        let mut metrics = Vec::new();
        let values = Values { counts: self, values };
        for (event, counts) in self.iter().enumerate() {
            let (Some(value), Some(source)) = (values.get(event), counts.source) else { continue };
            let mut add = |kind, unit, quotient: Option<f64>| {
                metrics.extend(quotient.map(|value| Metric { event, kind, value, unit }));
            };
            let per = |kind| values.divisor(source, kind).map(|divisor| value / divisor);
            let instructions = Kind::Hardware(Hardware::INSTRUCTIONS);
            match source.kind {
                Kind::Clock => {
                    let ns = elapsed.as_secs_f64() * 1e9;
                    add(MetricKind::CpusUtilized, "CPUs utilized", (ns > 0.0).then_some(value / ns));
                }
                Kind::Hardware(Hardware::CPU_CYCLES) => add(MetricKind::Gigahertz, "GHz", per(Kind::Clock)),
                Kind::Hardware(Hardware::INSTRUCTIONS) => {
                    let cycles = Kind::Hardware(Hardware::CPU_CYCLES);
                    add(MetricKind::InsnPerCycle, "insn per cycle", per(cycles));
                    let stalled =
                        values.stalled(source).filter(|_| value > 0.0).map(|stalled| stalled / value);
                    add(MetricKind::StalledCyclesPerInsn, "stalled cycles per insn", stalled);
                }
                other => match share(other) {
                    Some((kind, whole, unit)) => {
                        add(kind, unit, per(whole).map(|quotient| quotient * 100.0));
                        if kind == MetricKind::Misses {
                            let misses = per(instructions).map(|quotient| quotient * 1000.0);
                            add(MetricKind::MissesPerKiloInsn, "misses per 1000 insn", misses);
                        }
                    }
                    None if counts.is_snapshot => {}
                    None => {
                        let rate = per(Kind::Clock).map(|per_ns| per_ns * 1e9 * counts.scale);
                        add(MetricKind::PerSecond, "/sec", rate);
                    }
                },
            }
        }
        metrics
    }
}

/// The values of the events of a set.
struct Values<'v> {
    counts: &'v Counts,
    values: &'v [Option<f64>],
}

impl Values<'_> {
    fn get(&self, event: usize) -> Option<f64> {
        self.values.get(event).copied().flatten()
    }

    /// Returns the value of the first event of a kind that was counted, if it is not 0.
    fn divisor(&self, of: Source, kind: Kind) -> Option<f64> {
        let is_wanted = |source: Source| {
            let has_levels = kind == Kind::Clock || source.levels == of.levels;
            source.kind == kind && has_levels && source.cgroup == of.cgroup
        };
        let mut events =
            self.counts.iter().enumerate().filter(|(_, event)| event.source.is_some_and(is_wanted));
        events.find_map(|(event, _)| self.get(event)).filter(|value| *value > 0.0)
    }

    fn stalled(&self, of: Source) -> Option<f64> {
        let front = self.divisor(of, Kind::Hardware(Hardware::STALLED_CYCLES_FRONTEND));
        let back = self.divisor(of, Kind::Hardware(Hardware::STALLED_CYCLES_BACKEND));
        front.into_iter().chain(back).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{EventSpec, NamedEvent};

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the metrics of events with these counts.
    fn texts<const N: usize>(events: [(Attr, u64); N]) -> Vec<(usize, String)> {
        let events = events.map(|(attr, value)| (NamedEvent::from(EventSpec::new(attr)), value));
        let metrics = Counts::from_values(events).metrics(SECOND);
        metrics.iter().map(|metric| (metric.event, metric.to_string())).collect()
    }

    fn hardware(event: Hardware) -> Attr {
        Attr::hardware(event)
    }

    fn software(event: Software) -> Attr {
        Attr::software(event)
    }

    fn reads(cache: Cache, result: CacheResult) -> Attr {
        Attr::cache(cache, CacheOp::READ, result)
    }

    #[test]
    fn formulas_are_those_of_the_perf_tool() {
        let events = [
            (software(Software::TASK_CLOCK), 500_000_000),
            (software(Software::PAGE_FAULTS), 3_000),
            (hardware(Hardware::CPU_CYCLES), 1_500_000_000),
            (hardware(Hardware::INSTRUCTIONS), 3_000_000_000),
            (hardware(Hardware::BRANCH_INSTRUCTIONS), 100_000_000),
            (hardware(Hardware::BRANCH_MISSES), 3_000_000),
            (hardware(Hardware::STALLED_CYCLES_FRONTEND), 150_000_000),
            (hardware(Hardware::STALLED_CYCLES_BACKEND), 750_000_000),
        ];
        let expected = [
            (0, "0.500 CPUs utilized"),
            (1, "6.000 K/sec"),
            (2, "3.000 GHz"),
            (3, "2.00 insn per cycle"),
            (3, "0.25 stalled cycles per insn"),
            (4, "200.000 M/sec"),
            (5, "3.00% of all branches"),
            (5, "1.00 misses per 1000 insn"),
            (6, "10.00% frontend cycles idle"),
            (7, "50.00% backend cycles idle"),
        ];
        assert_eq!(texts(events), expected.map(|(event, text)| (event, text.to_owned())));
    }

    #[test]
    fn misses_are_compared_with_the_accesses_of_their_cache() {
        for (cache, unit) in [
            (Cache::L1D, "of all L1-dcache accesses"),
            (Cache::L1I, "of all L1-icache accesses"),
            (Cache::LL, "of all LL-cache accesses"),
            (Cache::DTLB, "of all dTLB cache accesses"),
            (Cache::ITLB, "of all iTLB cache accesses"),
        ] {
            let accesses = [
                (reads(Cache::NODE, CacheResult::ACCESS), 1),
                (reads(cache, CacheResult::ACCESS), 200),
                (Attr::cache(cache, CacheOp::WRITE, CacheResult::ACCESS), 7),
                (reads(cache, CacheResult::MISS), 5),
            ];
            assert_eq!(texts(accesses), [(3, format!("2.50% {unit}"))]);
        }
        let refs = [(hardware(Hardware::CACHE_MISSES), 1), (hardware(Hardware::CACHE_REFERENCES), 8)];
        assert_eq!(texts(refs), [(0, "12.50% of all cache refs".to_owned())]);
    }

    #[test]
    fn metric_without_its_other_event_is_left_out() {
        assert_eq!(
            texts([(hardware(Hardware::INSTRUCTIONS), 5), (hardware(Hardware::BRANCH_MISSES), 0)]),
            [(1, "0.00 misses per 1000 insn".to_owned())]
        );
        assert_eq!(texts([(hardware(Hardware::BRANCH_MISSES), 5), (software(Software::PAGE_FAULTS), 5)]), []);
        let zero = [(hardware(Hardware::CPU_CYCLES), 0), (hardware(Hardware::INSTRUCTIONS), 0)];
        assert_eq!(texts(zero), [], "0 divided by 0");
        let clock = NamedEvent::from(EventSpec::new(software(Software::CPU_CLOCK)));
        assert_eq!(Counts::from_values([(clock, 5)]).metrics(Duration::ZERO), []);
    }

    #[test]
    fn events_of_a_formula_have_the_same_levels_and_a_clock_is_for_all() {
        let user = |attr: Attr| attr.with_flags(AttrFlags::EXCLUDE_KERNEL);
        let events = [
            (hardware(Hardware::CPU_CYCLES), 1_000),
            (user(hardware(Hardware::INSTRUCTIONS)), 600),
            (user(hardware(Hardware::CPU_CYCLES)), 300),
            (software(Software::CPU_CLOCK), 100),
        ];
        let expected =
            [(0, "10.000 GHz"), (1, "2.00 insn per cycle"), (2, "3.000 GHz"), (3, "0.000 CPUs utilized")];
        assert_eq!(texts(events), expected.map(|(event, text)| (event, text.to_owned())));
    }

    #[test]
    fn events_of_a_formula_have_the_same_cgroup() {
        let events = [
            (software(Software::CPU_CLOCK), 1_000_000_000),
            (software(Software::PAGE_FAULTS), 2_000),
            (software(Software::CPU_CLOCK), 500_000_000),
            (software(Software::PAGE_FAULTS), 2_000),
            (software(Software::PAGE_FAULTS), 2_000),
        ];
        let events = events.map(|(attr, value)| (NamedEvent::from(EventSpec::new(attr)), value));
        let mut counts = Counts::from_values(events);
        for (event, cgroup) in counts.events.iter_mut().zip([Some(3), Some(3), Some(4), Some(4), None]) {
            event.source.as_mut().unwrap().cgroup = cgroup;
        }
        let metrics: Vec<String> = counts.metrics(SECOND).iter().map(ToString::to_string).collect();
        assert_eq!(metrics, ["1.000 CPUs utilized", "2.000 K/sec", "0.500 CPUs utilized", "4.000 K/sec"]);
    }

    #[test]
    fn hybrid_pmu_and_scale_of_an_event_are_heeded() {
        let cycles = hardware(Hardware::CPU_CYCLES).with_hybrid_pmu(10);
        let instructions = hardware(Hardware::INSTRUCTIONS).with_hybrid_pmu(10);
        assert_eq!(texts([(cycles, 2), (instructions, 3)]), [(1, "1.50 insn per cycle".to_owned())]);
        let energy = EventSpec::new(Attr::raw(2)).with_scale(0.5, "Joules");
        let clock = EventSpec::new(software(Software::CPU_CLOCK)).with_scale(1e-6, "msec");
        let counts = Counts::from_values([(clock.into(), 2_000_000_000), (energy.into(), 60)]);
        let metrics: Vec<String> = counts.metrics(SECOND).iter().map(ToString::to_string).collect();
        assert_eq!(metrics, ["2.000 CPUs utilized", "15.000 /sec"]);
        let means = counts.metrics_of(&[Some(1e9), None], SECOND);
        assert_eq!(means.iter().map(ToString::to_string).collect::<Vec<_>>(), ["1.000 CPUs utilized"]);
    }
}
