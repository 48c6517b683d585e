//! Counts of a set, and their sums, splits and metrics.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use perf_ring::Count;
use perf_ring::decode::Scaled;

use super::plan::PlannedGroup;
use super::{EventSet, EventSetError, Scope};
use crate::names::{EventSpec, NamedEvent};

mod metric;
mod metrics;
mod table;
#[cfg(test)]
mod tests;
mod total;

pub use metric::{Metric, MetricKind};
use metrics::Source;
pub use table::{CountRow, CountTable};
use total::{add, scaled, sum};

/// The counts of the events of an [`EventSet`] at one moment, in the order of the options.
///
/// Prints a table of the totals.
#[derive(Clone, Debug)]
pub struct Counts {
    events: Vec<EventCounts>,
}

/// The counts of one event: one for each CPU or thread, and PMU.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventCounts {
    /// The name of the event as the user wrote it.
    pub name: Arc<str>,
    /// The factor that turns the count into the [`unit`](Self::unit).
    pub scale: f64,
    /// The unit of [`in_unit`](Self::in_unit), or an empty text.
    pub unit: Arc<str>,
    /// Whether the counts are momentary values, such as temperatures, which have no sum.
    pub is_snapshot: bool,
    /// The event as metrics need it, `None` if it has no PMU.
    source: Option<Source>,
    /// The count of each CPU or thread, and PMU.
    pub scopes: Vec<ScopeCount>,
}

/// The count of one event of a CPU or thread, on one PMU.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScopeCount {
    /// The thread or CPU.
    pub scope: Scope,
    /// The name of the PMU, if it is known.
    pub pmu: Option<Arc<str>>,
    /// The name of the event on this PMU.
    pub label: Arc<str>,
    /// The count, not scaled.
    pub count: Count,
    /// Whether another CPU of the package reads the same count, so that this one is not in the
    /// sums.
    pub is_repeated: bool,
    /// Whether the event was pinned and could not be scheduled on its PMU. Then the count is
    /// unknown, and its value is 0.
    pub is_failed: bool,
}

impl Counts {
    /// Returns counts that were read by other means, such as by events of `perf-ring`: the value of
    /// each event, not multiplexed. They have no CPU and no thread.
    pub fn from_values(values: impl IntoIterator<Item = (NamedEvent, u64)>) -> Self {
        let event = |(event, value): (NamedEvent, u64)| {
            let mut counts = EventCounts::named(&event.name().into());
            if let Some(spec) = event.specs().first() {
                counts.describe(spec, None);
                counts.scopes.push(ScopeCount::new(Scope::default(), spec, Some(Count::new(value))));
            }
            counts
        };
        Self { events: values.into_iter().map(event).collect() }
    }

    /// Iterates over the events, in the order of the options.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &EventCounts> {
        self.events.iter()
    }

    /// Returns the event with this index in the order of the options.
    pub fn get(&self, index: usize) -> Option<&EventCounts> {
        self.events.get(index)
    }

    /// Returns the differences from `before`, an earlier reading of the same set. Momentary values
    /// are taken from `self`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let events = self.events.iter().enumerate().map(|(index, event)| match before.get(index) {
            Some(before) => event.since(before),
            None => event.clone(),
        });
        Self { events: events.collect() }
    }

    /// Splits the counts by a key of the CPU or thread, ascending: by [`Scope::cpu_id`], by
    /// [`Scope::thread_id`], or by the core or package of the CPU, see
    /// [`CpuTopology`](crate::CpuTopology). Each part has all events, some of them perhaps without
    /// a count. Counts without a key are left out.
    ///
    /// A count of a whole package is in the sum of each part that has a CPU of the package.
    pub fn split_by<K: Ord>(&self, key: impl Fn(Scope) -> Option<K>) -> Vec<(K, Self)> {
        let mut parts: BTreeMap<K, Self> = BTreeMap::new();
        let empty = || {
            let events = self.events.iter().map(|event| EventCounts { scopes: Vec::new(), ..event.clone() });
            Self { events: events.collect() }
        };
        for (index, event) in self.events.iter().enumerate() {
            for count in &event.scopes {
                let Some(key) = key(count.scope) else { continue };
                let part = parts.entry(key).or_insert_with(empty);
                if let Some(event) = part.events.get_mut(index) {
                    event.scopes.push(count.clone());
                }
            }
        }
        for event in parts.values_mut().flat_map(|part| &mut part.events) {
            event.count_repeated_once();
        }
        parts.into_iter().collect()
    }
}

impl EventCounts {
    /// Returns the sum over all CPUs or threads, not scaled. The times are the sums too, so that
    /// the time running divided by the time enabled is the share of the time in which the event was
    /// not multiplexed.
    ///
    /// A thread with an event for each CPU or PMU has its time enabled once.
    ///
    /// Momentary values of several CPUs or threads have no sum: the value is 0, and
    /// [`scaled`](Self::scaled) is `None`.
    pub fn total(&self) -> Count {
        sum(self.summed())
    }

    /// Returns the sum over all CPUs or threads, each extrapolated to its full time enabled
    /// (multiplexing correction), or `None` for momentary values of several CPUs or threads. It is
    /// an estimate if one of the counts is unknown.
    pub fn scaled(&self) -> Option<Scaled> {
        let has_sum = !self.is_snapshot || self.counted().count() <= 1;
        has_sum.then(|| scaled(self.counted()))
    }

    /// Returns [`scaled`](Self::scaled) times the [`scale`](Self::scale), in the unit. `None` if
    /// the event never ran, and for momentary values of several CPUs or threads.
    #[allow(clippy::cast_precision_loss)] // the scale is a float
    pub fn in_unit(&self) -> Option<f64> {
        Some(self.scaled()?.value()? as f64 * self.scale)
    }

    /// Returns the count of each PMU, by name: more than one on a hybrid machine.
    pub fn by_pmu(&self) -> Vec<(Arc<str>, Count)> {
        let mut pmus: BTreeMap<Arc<str>, Vec<&ScopeCount>> = BTreeMap::new();
        for count in self.counted() {
            if let Some(pmu) = &count.pmu {
                pmus.entry(Arc::clone(pmu)).or_default().push(count);
            }
        }
        pmus.into_iter().map(|(pmu, counts)| (pmu, sum(counts))).collect()
    }

    /// Returns the difference from `before`. A scope that `before` does not have is counted from 0.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut difference = self.clone();
        if self.is_snapshot {
            return difference;
        }
        for count in &mut difference.scopes {
            let mut earlier = before.scopes.iter();
            if let Some(before) = earlier.find(|other| other.scope == count.scope && other.pmu == count.pmu) {
                count.count = count.count.since(&before.count);
            }
        }
        difference
    }

    /// Returns the counts that are in the sums.
    fn counted(&self) -> impl Iterator<Item = &ScopeCount> + Clone {
        self.scopes.iter().filter(|count| !count.is_repeated)
    }

    fn summed(&self) -> Vec<&ScopeCount> {
        let has_sum = !self.is_snapshot || self.counted().count() <= 1;
        if has_sum { self.counted().collect() } else { Vec::new() }
    }
}

/// # Counts
impl EventSet {
    /// Reads the counts of all events, also of those that were closed when their CPU went offline.
    ///
    /// # Errors
    ///
    /// [`EventSetError::Event`] if an event cannot be read.
    pub fn counts(&mut self) -> Result<Counts, EventSetError> {
        let read = self.opened.read_counts()?;
        self.note_read(&read);
        let mut events: Vec<EventCounts> = self.opened.plan().names.iter().map(EventCounts::named).collect();
        for group in &self.opened.plan().groups {
            let cgroup = self.opened.cgroup(group).map(AsRawFd::as_raw_fd);
            for (index, spec) in group.events() {
                if let Some(event) = events.get_mut(index) {
                    event.describe(spec, cgroup);
                }
            }
        }
        for (index, count) in read {
            if let Some(event) = events.get_mut(index) {
                event.scopes.push(count);
            }
        }
        for (index, spec) in self.opened.plan().groups.iter().flat_map(PlannedGroup::events) {
            if let Some(event) = events.get_mut(index).filter(|_| spec.is_per_package()) {
                self.opened.packages().mark_repeated(&mut event.scopes);
            }
        }
        Ok(Counts { events })
    }

    /// Reads how many samples each event has lost, and notes it in the ledger.
    pub(super) fn read_losses(&mut self) -> Result<(), EventSetError> {
        let read = self.opened.read_counts()?;
        self.note_read(&read);
        Ok(())
    }

    fn note_read(&mut self, read: &[(usize, ScopeCount)]) {
        let with_losses = read
            .iter()
            .filter_map(|(_, count)| Some((count.scope, Arc::clone(&count.label), count.count.lost?)));
        self.rings.ledger.set_read_lost(with_losses);
    }
}

impl ScopeCount {
    /// Creates the count of an event; `None` for a pinned event that could not be scheduled.
    pub(super) fn new(scope: Scope, spec: &EventSpec, read: Option<Count>) -> Self {
        let (pmu, label) = (spec.pmu().map(Arc::from), Arc::clone(spec.label()));
        let (count, is_failed) = (read.unwrap_or_default(), read.is_none());
        Self { scope, pmu, label, count, is_repeated: false, is_failed }
    }
}

impl EventCounts {
    fn named(name: &Arc<str>) -> Self {
        let (name, unit) = (Arc::clone(name), "".into());
        Self { name, scale: 1.0, unit, is_snapshot: false, source: None, scopes: Vec::new() }
    }

    fn describe(&mut self, spec: &EventSpec, cgroup: Option<RawFd>) {
        self.scale = spec.scale();
        self.unit = spec.unit().into();
        self.is_snapshot = spec.is_snapshot();
        self.source = Some(Source::new(&spec.attr(), cgroup));
    }

    /// Adds the first count of each PMU to the sum, if a split left out the one in the sum.
    fn count_repeated_once(&mut self) {
        let mut seen: Vec<Option<Arc<str>>> = self.counted().map(|count| count.pmu.clone()).collect();
        for count in self.scopes.iter_mut().filter(|count| count.is_repeated) {
            if !seen.contains(&count.pmu) {
                seen.push(count.pmu.clone());
                count.is_repeated = false;
            }
        }
    }
}

/// Adds a count to the count with the same event, scope and PMU. Returns it if none matches.
pub(super) fn merge(all: &mut [(usize, ScopeCount)], index: usize, new: ScopeCount) -> Option<ScopeCount> {
    let mut same = all.iter_mut().filter(|(other, _)| *other == index).map(|(_, old)| old);
    let Some(old) = same.find(|old| old.scope == new.scope && old.pmu == new.pmu) else { return Some(new) };
    if old.is_failed || new.is_failed {
        let known = if old.is_failed { new.count } else { old.count };
        *old = ScopeCount { count: known, is_failed: true, ..new };
    } else {
        old.count = add(&old.count, &new.count);
    }
    None
}
