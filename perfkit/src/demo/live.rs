//! Events and rings on the running kernel: one of each for every CPU.
//!
//! An event that children inherit cannot have a ring for all CPUs together, because its copies would
//! write into it at the same time; with an event for each CPU there is one writer per ring.

use std::io;
use std::time::Duration;

use perf_decode::SampleLayout;
use perf_sys::{Errno, Error, Event, Ring, Target};

use super::plan::{Plan, Source};
use super::stopwatch::Stopwatch;
use super::tally::Tally;

/// Data pages of each ring; with 4 KiB pages an unprivileged user may lock twice this much per CPU.
pub(crate) const PAGES: usize = 64;

/// Open events that wait for the calling thread's children to exec.
#[derive(Debug)]
pub(crate) struct Sampler {
    plan: Plan,
    layout: SampleLayout,
    rings: Vec<Ring>,
    /// Better plans, and why they failed.
    refused: Vec<(Plan, Error)>,
}

/// Why nothing could be opened.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The set of CPUs is unknown.
    Cpus(Errno),
    /// Every plan failed. Never empty.
    Plans(Vec<(Plan, Error)>),
}

impl Sampler {
    /// Opens the first of `plans` that the kernel grants.
    pub(crate) fn open(plans: &[Plan]) -> Result<Self, Refusal> {
        let cpus = cpus().map_err(Refusal::Cpus)?;
        let mut refused = Vec::new();
        for &plan in plans {
            match open_on(&cpus, plan) {
                Ok(rings) => {
                    return Ok(Self { plan, layout: SampleLayout::new(&plan.attr()), rings, refused });
                }
                Err(error) => refused.push((plan, error)),
            }
        }
        Err(Refusal::Plans(refused))
    }

    pub(crate) fn plan(&self) -> Plan {
        self.plan
    }

    /// What was given up for the plan that worked, with the reason.
    pub(crate) fn refused(&self) -> Vec<(String, Error)> {
        let same = |plan: &Plan| (plan.source, plan.scope) == (self.plan.source, self.plan.scope);
        reasons(self.refused.iter().filter(|(plan, _)| !same(plan)))
    }

    /// Number of rings, which is that of the CPUs.
    pub(crate) fn rings(&self) -> usize {
        self.rings.len()
    }

    /// Waits until a ring is half full, at most for `time`.
    pub(crate) fn wait(&self, time: Duration) -> io::Result<()> {
        let Some(ring) = self.rings.first() else {
            return Ok(());
        };
        // The others are as large and are read in the same round, so one ring's wake-up is enough.
        if ring.wait(Some(time)).map_err(io::Error::other)?.is_final() {
            // Such a ring does not wait any more, and the others go on.
            std::thread::sleep(time);
        }
        Ok(())
    }

    /// Records of these events that the kernel dropped, by its own count: also the last ones, which no
    /// LOST record tells of. `None` if the kernel does not count them.
    pub(crate) fn lost(&self) -> Option<u64> {
        self.rings.iter().map(|ring| ring.event().read().ok()?.lost).sum()
    }

    /// Reads all that is in the rings.
    pub(crate) fn drain(&mut self, tally: &mut Tally) -> io::Result<()> {
        let start = Stopwatch::start();
        for ring in &mut self.rings {
            let mut batch = ring.batch().map_err(io::Error::other)?;
            let mut damage = None;
            for record in batch.records() {
                match record {
                    Ok(record) => tally.record(record, &self.layout),
                    Err(error) => damage = Some(error),
                }
            }
            if let Some(error) = damage {
                tally.damage(error);
                batch.discard();
            }
        }
        tally.spent += start.elapsed();
        Ok(())
    }
}

/// Each plan that failed and why, in one line where all plans of an event failed alike.
pub(crate) fn reasons<'a>(refused: impl Iterator<Item = &'a (Plan, Error)>) -> Vec<(String, Error)> {
    let mut reasons: Vec<(Source, String, Error)> = Vec::new();
    for (plan, error) in refused.filter(|(plan, _)| plan.count_lost) {
        match reasons.last_mut() {
            Some((source, label, last)) if *source == plan.source && last == error => {
                *label = source.to_string();
            }
            _ => reasons.push((plan.source, plan.to_string(), *error)),
        }
    }
    reasons.into_iter().map(|(_, label, error)| (label, error)).collect()
}

fn open_on(cpus: &[u32], plan: Plan) -> Result<Vec<Ring>, Error> {
    let mut rings = Vec::new();
    let mut offline = None;
    for &cpu in cpus {
        match Event::open(&plan.attr(), Target::calling_thread().on_cpu(cpu)) {
            Ok(event) => rings.push(Ring::map(event, PAGES)?),
            // A CPU that went away since it was listed runs nothing that could be missed.
            Err(error) if error.errno() == Some(Errno::ENODEV) => offline = Some(error),
            Err(error) => return Err(error),
        }
    }
    match offline {
        Some(error) if rings.is_empty() => Err(error),
        _ => Ok(rings),
    }
}

/// The CPUs on which this thread and its children may run. Their numbers may have holes.
fn cpus() -> Result<Vec<u32>, Errno> {
    let set = rustix::thread::sched_getaffinity(None)
        .map_err(|errno| Errno::from_raw_os_error(errno.raw_os_error()))?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

#[cfg(test)]
mod tests {
    use perf_sys::Call;

    use super::*;
    use crate::demo::plan::Scope;

    fn reasons_of(errno: impl Fn(Plan) -> Errno) -> Vec<String> {
        let refuse = |plan| (plan, Error::System { call: Call::PerfEventOpen, errno: errno(plan) });
        let refused: Vec<_> = Plan::ladder(None).into_iter().map(refuse).collect();
        reasons(refused.iter()).into_iter().map(|(label, _)| label).collect()
    }

    #[test]
    fn an_event_that_fails_alike_in_every_scope_is_one_reason() {
        assert_eq!(reasons_of(|_| Errno::EACCES), ["cycles", "cpu-clock"]);
    }

    #[test]
    fn scopes_that_fail_differently_are_told_apart() {
        let errno = |plan: Plan| {
            if plan.scope == Scope::UserOnly { Errno::ENOENT } else { Errno::EACCES }
        };
        let reasons = reasons_of(errno);
        assert_eq!(reasons.len(), 4);
        assert_eq!(reasons[0], "cycles, user and kernel");
    }

    #[test]
    fn this_thread_may_run_on_some_cpu() {
        assert!(!cpus().unwrap().is_empty());
    }
}
