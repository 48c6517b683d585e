//! A live profile, in which older samples count less.

mod merge;
mod naming;

use std::sync::Arc;
use std::time::Instant;

use crate::collect::PendingProfile;
use crate::profile::{EventId, Profile, Sample};
use merge::Merge;
use naming::Naming;

/// The sum of interval profiles in which older intervals count less: what `perf top` shows.
///
/// Before an interval is added, each earlier value is reduced to 7/8, as in the perf tool. A
/// function that ran for many intervals and stops is below a fourth of its share after ten. A
/// remainder below a sixteenth of a mean sample is dropped.
///
/// Locations with the same functions are merged into the first address, so that there is one row
/// for each function of each stack and thread. At most the largest [65536](Self::with_max_sums) are
/// kept. Together with [`Collector::take`](crate::Collector::take), memory is bounded, even if many
/// programs start and exit.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{Column, Event, Frame, Function, LiveProfile, Locations, Order, Profile, ProfileBuilder, Table};
///
/// /// Returns a second in which a function was sampled.
/// fn interval(name: &str, samples: u64) -> Profile {
///     let mut locations = Locations::new();
///     let name = locations.intern(name);
///     let function = locations.add_function(Function { name, file: None });
///     let location = locations.add(None, 0x1000);
///     locations.set_frames(location, [Frame { function, line: 0, column: 0 }]);
///     let mut builder = ProfileBuilder::new();
///     let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
///     let thread = builder.thread(7, 7, name);
///     let stack = builder.stack(&[location]);
///     for _ in 0..samples {
///         builder.sample(event, thread, stack, 1_000_000);
///     }
///     builder.finish(locations)
/// }
///
/// let mut live = LiveProfile::new();
/// live.add(&interval("parse", 8));
/// live.add(&interval("print", 3));
///
/// let (event, _) = live.profile().event_ids().next().unwrap();
/// let table = Table::new(live.profile(), &[Column::Function]).sorted(event, Order::BySelf);
/// let shown: Vec<_> = table.rows.iter().map(|row| (row.entry.function.unwrap(), row.cost(event).self_count)).collect();
/// assert_eq!(shown, [("parse", 7), ("print", 3)]);
/// ```
#[derive(Debug)]
pub struct LiveProfile {
    profile: Arc<Profile>,
    naming: Naming,
    kept_eighths: u64,
    max_sums: usize,
    by_thread_name: bool,
    /// Mean value of the newest samples, by event.
    means: Vec<u64>,
    left_out: u64,
}

/// A value below this fraction of a mean sample is dropped.
const LEAST_PART: u64 = 16;

impl LiveProfile {
    /// Creates an empty profile that keeps 7/8 of each value per interval.
    pub fn new() -> Self {
        Self {
            profile: Arc::default(),
            naming: Naming::default(),
            kept_eighths: 7,
            max_sums: 1 << 16,
            by_thread_name: false,
            means: Vec::new(),
            left_out: 0,
        }
    }

    /// Sets how many eighths of each value remain when an interval is added: 0 shows only the
    /// newest interval, 8 the sum of all.
    #[must_use]
    pub fn keeping_eighths(mut self, eighths: u8) -> Self {
        self.kept_eighths = u64::from(eighths.min(8));
        self
    }

    /// Limits the number of sums, each of an event, a thread and a stack.
    #[must_use]
    pub fn with_max_sums(mut self, most: usize) -> Self {
        self.max_sums = most;
        self
    }

    /// Adds up threads of the same name, as a thread and a process with the id 0: for tables
    /// without these ids, because programs that start and exit have few sums then.
    #[must_use]
    pub fn by_thread_name(mut self) -> Self {
        self.by_thread_name = true;
        self
    }

    /// Adds the samples of an interval, which must have the same events in the same order as the
    /// first interval.
    ///
    /// The time is linear in the number of kept and added sums.
    pub fn add(&mut self, interval: &Profile) {
        self.merge(interval, Naming::default());
    }

    /// Adds an interval like [`add`](Self::add), while its names are pending. Names of this and
    /// earlier intervals are requested in the order of their values, and are available after
    /// [`name_until`](Self::name_until).
    ///
    /// An overloaded machine has no time for all names, but a table shows few. Configure the
    /// collector's resolver by [`Resolver::without_waiting`](crate::Resolver::without_waiting), so
    /// that it does not wait for names itself. Pending addresses are bounded: addresses without a
    /// remaining value are not looked up, and beyond 8192 the smallest are unnamed until they are
    /// sampled again.
    ///
    /// ```no_run
    /// use std::time::{Duration, Instant};
    ///
    /// use perf_profile::{Collector, LiveProfile};
    ///
    /// /// Adds the samples since the last call, and waits for a while for names. Returns whether all are there.
    /// fn update(collector: &mut Collector, live: &mut LiveProfile) -> bool {
    ///     live.add_pending(collector.take());
    ///     live.name_until(Instant::now() + Duration::from_millis(500))
    /// }
    /// ```
    pub fn add_pending(&mut self, interval: PendingProfile) {
        let (interval, names) = interval.into_parts();
        self.merge(&interval, Naming::new(names));
    }

    /// Waits until `end` for names of [pending](Self::add_pending) intervals. Returns true if all
    /// names are known.
    ///
    /// The [losses](Profile::losses) give the reasons of unnamed addresses that were looked up
    /// since the newest interval.
    pub fn name_until(&mut self, end: Instant) -> bool {
        if self.naming.len() == 0 {
            return true;
        }
        let profile = Arc::make_mut(&mut self.profile);
        let are_named = self.naming.wait_until(profile.locations_mut(), end);
        profile.losses_mut().unnamed_addresses = self.naming.reasons();
        are_named
    }

    /// Returns the number of addresses whose names are asked for, and are not there.
    pub fn waiting(&self) -> usize {
        self.naming.len()
    }

    fn merge(&mut self, interval: &Profile, mut naming: Naming) {
        self.update_means(interval);
        let mut merge = Merge::new(interval, self.by_thread_name);
        let ids = merge.add(&self.profile, &self.naming.queries(), |sample| self.kept(sample));
        self.naming.renumber(&ids);
        let ids = merge.add(interval, &naming.queries(), |sample| Some(*sample));
        naming.renumber(&ids);
        self.naming.append(naming);
        let mut profile = merge.finish(interval.losses().clone());
        let means = &self.means;
        #[allow(clippy::cast_precision_loss)] // compared only
        let weight = |sample: &Sample| sample.value as f64 / mean_of(means, sample.event) as f64;
        self.left_out = profile.keep_largest(self.max_sums, weight) as u64;
        if self.naming.len() > 0 {
            self.naming.sort(&naming::values(&profile, weight));
        }
        self.profile = Arc::new(profile);
    }

    /// Returns the sums up to now. The [losses](Profile::losses) come from the newest interval
    /// only.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns the sums up to now for another thread, which keeps them while intervals are added
    /// here.
    pub fn shared(&self) -> Arc<Profile> {
        Arc::clone(&self.profile)
    }

    /// Returns how many sums were left out at the last interval, the smallest, because there were
    /// too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns what is kept of an earlier sample.
    fn kept(&self, sample: &Sample) -> Option<Sample> {
        let part = |value: u64| (u128::from(value) * u128::from(self.kept_eighths) / 8) as u64;
        let kept = Sample { value: part(sample.value), count: part(sample.count), ..*sample };
        let least = mean_of(&self.means, sample.event).div_ceil(LEAST_PART);
        (self.kept_eighths == 8 || kept.value >= least).then_some(kept)
    }

    fn update_means(&mut self, interval: &Profile) {
        let mut sums = vec![(0u64, 0u64); interval.events().len()];
        for sample in interval.samples() {
            if let Some((value, count)) = sums.get_mut(sample.event.index()) {
                *value = value.saturating_add(sample.value);
                *count = count.saturating_add(sample.count);
            }
        }
        self.means.resize(sums.len(), 1);
        for (mean, (value, count)) in self.means.iter_mut().zip(sums) {
            // Without samples, the mean of the earlier ones stays.
            *mean = value.checked_div(count).unwrap_or(*mean).max(1);
        }
    }
}

fn mean_of(means: &[u64], event: EventId) -> u64 {
    means.get(event.index()).copied().unwrap_or(1)
}

impl Default for LiveProfile {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
