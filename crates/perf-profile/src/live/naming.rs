//! Looks up the names of a live profile, starting with the largest values.

use std::collections::VecDeque;
use std::time::Instant;

use perf_symbols::{NameCounts, NameRequest, Query, Symbolizer};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::collect::PendingNames;
use crate::profile::{LocationId, Locations, Profile, Sample};

/// Locations of the first request after an interval: few, so that the first names are soon there.
/// Each following one has twice as many.
const FIRST_BATCH: usize = if cfg!(test) { 4 } else { 32 };

/// Locations of a request, at most.
const MAX_BATCH: usize = if cfg!(test) { 4 } else { 1024 };

/// Addresses that are looked up at a time. Others are asked for when these are named, in the order
/// of the values then.
const MAX_QUEUED: usize = if cfg!(test) { 8 } else { 4096 };

/// Locations that wait to be asked for, at most. The smallest of more stay without a name until
/// they are sampled again.
const MAX_WANTED: usize = if cfg!(test) { 100 } else { 1 << 13 };

/// The locations of a profile that have no name yet.
#[derive(Debug, Default)]
pub(super) struct Naming {
    /// In the order of their values, the largest last.
    wanted: Vec<(LocationId, Query)>,
    /// A location that is no longer in the profile is `None`.
    asked: VecDeque<(Vec<Asked>, NameRequest)>,
    symbolizer: Option<Symbolizer>,
    /// Locations of the next request.
    batch: usize,
    /// The answers since the last interval.
    counts: NameCounts,
}

#[derive(Debug)]
struct Asked {
    location: Option<LocationId>,
    /// Unknown if the collector asked.
    query: Option<Query>,
}

impl Naming {
    pub(super) fn new(names: PendingNames) -> Self {
        let asked = |location| Asked { location: Some(location), query: None };
        let requested = names.requested.into_iter();
        Self {
            wanted: names.unasked,
            asked: requested.map(|(ids, request)| (ids.into_iter().map(asked).collect(), request)).collect(),
            symbolizer: Some(names.symbolizer),
            batch: FIRST_BATCH,
            counts: NameCounts::default(),
        }
    }

    /// Returns the locations with what is asked for them.
    pub(super) fn queries(&self) -> FxHashMap<LocationId, Option<&Query>> {
        let asked = self.asked.iter().flat_map(|(asked, _)| asked);
        let asked = asked.filter_map(|asked| Some((asked.location?, asked.query.as_ref())));
        asked.chain(self.wanted.iter().map(|(id, query)| (*id, Some(query)))).collect()
    }

    /// Gives the locations other ids, by their ids up to now; `None` for those that are no longer
    /// in the profile.
    pub(super) fn renumber(&mut self, ids: &[Option<LocationId>]) {
        let new = |id: LocationId| ids.get(id.index()).copied().flatten();
        self.wanted = self.wanted.drain(..).filter_map(|(id, query)| Some((new(id)?, query))).collect();
        for asked in self.asked.iter_mut().flat_map(|(asked, _)| asked) {
            asked.location = asked.location.and_then(new);
        }
    }

    /// Adds the locations of an interval, which have ids of the same profile.
    pub(super) fn append(&mut self, interval: Self) {
        self.wanted.extend(interval.wanted);
        self.asked.extend(interval.asked);
        self.symbolizer = interval.symbolizer.or(self.symbolizer.take());
        self.batch = FIRST_BATCH;
        self.counts = interval.counts;
    }

    /// Puts the locations in the order of their values, and asks for the largest.
    pub(super) fn sort(&mut self, values: &[f64]) {
        let value = |id: LocationId| values.get(id.index()).copied().unwrap_or(0.0);
        let asked: FxHashSet<_> =
            self.asked.iter().flat_map(|(asked, _)| asked).filter_map(|asked| asked.location).collect();
        // Among equal values the newest comes first, because its process still runs.
        let wanted: FxHashMap<_, _> = self.wanted.drain(..).collect();
        self.wanted = wanted.into_iter().filter(|(id, _)| !asked.contains(id) && value(*id) > 0.0).collect();
        self.wanted.sort_unstable_by(|(a, _), (b, _)| value(*a).total_cmp(&value(*b)).then(b.cmp(a)));
        let smallest = self.wanted.len().saturating_sub(MAX_WANTED);
        self.wanted.drain(..smallest);
        self.ask();
    }

    fn ask(&mut self) {
        let Some(symbolizer) = &self.symbolizer else { return };
        // One at least, so that there is something to wait for.
        while !self.wanted.is_empty() && (self.asked.is_empty() || symbolizer.queued() < MAX_QUEUED) {
            let batch = self.wanted.split_off(self.wanted.len().saturating_sub(self.batch));
            let request = symbolizer.request(batch.iter().map(|(_, query)| query.clone()).collect());
            let asked = batch.into_iter().map(|(id, query)| Asked { location: Some(id), query: Some(query) });
            self.asked.push_back((asked.collect(), request));
            self.batch = (2 * self.batch).min(MAX_BATCH);
        }
    }

    /// Waits for the names until this moment. Returns whether all are there.
    pub(super) fn wait_until(&mut self, locations: &mut Locations, end: Instant) -> bool {
        loop {
            self.ask();
            let Some((asked, request)) = self.asked.pop_front() else { return true };
            match request.wait_until(end) {
                Ok(named) => {
                    for (asked, symbols) in asked.into_iter().zip(named) {
                        let Some(id) = asked.location else { continue };
                        locations.set_symbols(id, &symbols);
                        if let Err(reason) = symbols {
                            *self.counts.unnamed.entry(reason).or_default() += 1;
                        }
                    }
                }
                Err(request) => {
                    self.asked.push_front((asked, request));
                    return false;
                }
            }
        }
    }

    /// Returns the number of locations.
    pub(super) fn len(&self) -> usize {
        let asked = self.asked.iter().flat_map(|(asked, _)| asked);
        self.wanted.len() + asked.filter(|asked| asked.location.is_some()).count()
    }

    /// Returns the reasons for missing names, from the answers since the last interval.
    pub(super) fn reasons(&self) -> Vec<(u64, String)> {
        self.counts.reasons()
    }
}

/// Returns the value of each location: of the samples whose stack has it, and once more of those
/// that are in it themselves, so that a function comes before its callers.
pub(super) fn values(profile: &Profile, weight: impl Fn(&Sample) -> f64) -> Vec<f64> {
    let stacks: Vec<_> = profile.stacks().collect();
    let mut of_stacks = vec![0.0; stacks.len()];
    let mut of_locations = vec![0.0; profile.locations().as_slice().len()];
    let mut add = |location: LocationId, weight: f64| {
        if let Some(value) = of_locations.get_mut(location.index()) {
            *value += weight;
        }
    };
    for sample in profile.samples() {
        let Some(stack) = sample.stack else { continue };
        if let (Some(value), Some((location, _))) =
            (of_stacks.get_mut(stack.index()), stacks.get(stack.index()))
        {
            *value += weight(sample);
            add(*location, weight(sample));
        }
    }
    // A caller comes before its callees.
    for (index, (location, caller)) in stacks.iter().enumerate().rev() {
        let weight = of_stacks.get(index).copied().unwrap_or(0.0);
        add(*location, weight);
        if let Some(value) = caller.and_then(|caller| of_stacks.get_mut(caller.index())) {
            *value += weight;
        }
    }
    of_locations
}
