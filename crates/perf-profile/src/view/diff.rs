//! The difference between profiles, and how much of it is noise.

use std::collections::BTreeMap;

use super::entry::{Column, Entry};
use super::short_paths::ShortPaths;
use super::table::{Cost, Order, Table};
use crate::format::names::file_name;
use crate::profile::{EventId, Profile};

/// The quantity that a [`Diff`] compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scale {
    /// The share of the event's total, from 0 to 1. For recordings of different lengths.
    Share,
    /// The value, in the unit of the event. For recordings of the same work.
    Value,
}

/// An estimate from one or more recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The mean, in units of the [`Scale`].
    pub mean: f64,
    /// Its standard error: the spread of several recordings, but at least the sampling error.
    ///
    /// For one recording only the sampling error is known. Recordings of the same program may
    /// differ more.
    pub error: f64,
}

impl Estimate {
    /// Computes the estimate from the values of recordings, each with its own standard error.
    #[allow(clippy::cast_precision_loss)] // numbers of recordings
    fn new(values: &[(f64, f64)]) -> Self {
        let count = values.len() as f64;
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().map(|(value, _)| value).sum::<f64>() / count;
        let sampling = values.iter().map(|(_, error)| error * error).sum::<f64>().sqrt() / count;
        let squares = values.iter().map(|(value, _)| (value - mean).powi(2)).sum::<f64>();
        let spread = if values.len() > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        Self { mean, error: spread.max(sampling) }
    }
}

/// A row of a [`Diff`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change<'p> {
    /// The function, object, thread or line.
    pub entry: Entry<'p>,
    /// The mean of the base recordings.
    pub base: Estimate,
    /// The mean of the new recordings.
    pub new: Estimate,
}

impl Change<'_> {
    /// Returns the difference of the means.
    pub fn change(&self) -> f64 {
        self.new.mean - self.base.mean
    }

    /// Returns twice the standard error of the difference. Of 20 unchanged rows, one exceeds it by
    /// chance.
    pub fn noise(&self) -> f64 {
        2.0 * self.base.error.hypot(self.new.error)
    }

    /// Returns true if the change does not exceed its [noise](Self::noise).
    pub fn is_noise(&self) -> bool {
        self.change().abs() <= self.noise()
    }
}

/// Functions, objects, threads or lines by their change between profiles, with its noise.
///
/// ```
/// use perf_profile::{Column, Diff, EventId, Order, Profile, Scale};
///
/// /// Prints the functions whose time changed, after the same work.
/// fn print(base: &[(&Profile, EventId)], new: &[(&Profile, EventId)]) {
///     let diff = Diff::new(base, new, &[Column::Function], Order::BySelf, Scale::Value);
///     for change in diff.rows.iter().filter(|change| !change.is_noise()) {
///         println!("{:+.0} ns {}", change.change(), change.entry);
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diff<'p> {
    /// The rows, largest change first.
    pub rows: Vec<Change<'p>>,
    /// The sums of the events' values, in their unit.
    pub total: Change<'p>,
    scale: Scale,
}

impl<'p> Diff<'p> {
    /// Compares events of profiles by their self values or their totals. There is a row for each
    /// combination of these columns' values that either side has.
    ///
    /// Builds of a program in different folders are one object: objects and source files are equal
    /// if their file names are. If a profile has several paths with the same name, as many folders
    /// must be equal as distinguish them. Rows have the path of the first profile of `new` that has
    /// one.
    pub fn new(
        base: &[(&'p Profile, EventId)],
        new: &[(&'p Profile, EventId)],
        columns: &[Column],
        order: Order,
        scale: Scale,
    ) -> Self {
        let tables = |side: &[(&'p Profile, EventId)]| -> Vec<_> {
            side.iter().map(|&(profile, event)| (Table::new(profile, columns), event)).collect()
        };
        let (base, new) = (tables(base), tables(new));
        let keys = Keys::new(new.iter().chain(&base).map(|(table, _)| table));
        let (base_costs, new_costs) = (Side::new(&base, &keys), Side::new(&new, &keys));
        let changes = keys.entries.iter().map(|(key, &entry)| Change {
            entry,
            base: base_costs.estimate(key, order, scale),
            new: new_costs.estimate(key, order, scale),
        });
        // Callers have no self values.
        let mut rows: Vec<_> = changes.filter(|row| row.base.mean != 0.0 || row.new.mean != 0.0).collect();
        // The sort is stable, so that equal changes keep the order of the entries.
        rows.sort_by(|a, b| b.change().abs().total_cmp(&a.change().abs()));
        let total = Change { entry: Entry::default(), base: base_costs.total(), new: new_costs.total() };
        Self { rows, total, scale }
    }

    /// Returns the changes that grew for certain by more than a share of the base's total, from 0
    /// to 1: if the noise is subtracted, the growth is still larger. The total is the first of them
    /// if values are compared and it grew so.
    ///
    /// The noise of a single recording on a side is only its sampling error. Runs of the same
    /// program differ by more, so a verdict needs several recordings on each side.
    pub fn grown(&self, share: f64) -> impl Iterator<Item = &Change<'p>> {
        let (total, least) = match self.scale {
            Scale::Share => (None, share),
            Scale::Value => (Some(&self.total), share * self.total.base.mean),
        };
        let changes = total.into_iter().chain(&self.rows);
        changes.filter(move |change| change.change() - change.noise() > least)
    }
}

/// Which entries of the profiles correspond.
struct Keys<'p> {
    /// Number of path components to compare, by the file name of objects that has several paths in
    /// one table.
    objects: BTreeMap<&'p str, usize>,
    /// The same for source files.
    files: BTreeMap<&'p str, usize>,
    /// The entry of the first table that has it, by key.
    entries: BTreeMap<Entry<'p>, Entry<'p>>,
}

impl<'p> Keys<'p> {
    fn new<'t>(tables: impl Iterator<Item = &'t Table<'p>> + Clone) -> Self
    where
        'p: 't,
    {
        let mut keys = Self { objects: BTreeMap::new(), files: BTreeMap::new(), entries: BTreeMap::new() };
        for table in tables.clone() {
            let entries = || table.rows.iter().map(|row| row.entry);
            add_ambiguous(&mut keys.objects, entries().filter_map(|entry| entry.object));
            add_ambiguous(&mut keys.files, entries().filter_map(|entry| entry.line.map(|(file, _)| file)));
        }
        for entry in tables.flat_map(|table| &table.rows).map(|row| row.entry) {
            keys.entries.entry(keys.key(entry)).or_insert(entry);
        }
        keys
    }

    /// Returns an entry with file names instead of paths, and with folders where these are
    /// ambiguous.
    fn key(&self, entry: Entry<'p>) -> Entry<'p> {
        let name = |path: &'p str, ambiguous: &BTreeMap<&'p str, usize>| {
            let name = file_name(path);
            ambiguous.get(name).map_or(name, |&parts| last_parts(path, parts))
        };
        Entry {
            object: entry.object.map(|path| name(path, &self.objects)),
            line: entry.line.map(|(path, line)| (name(path, &self.files), line)),
            ..entry
        }
    }
}

/// Adds the file names that several paths share, with the number of components that distinguishes
/// the paths.
fn add_ambiguous<'p>(names: &mut BTreeMap<&'p str, usize>, paths: impl Iterator<Item = &'p str> + Clone) {
    let shortened = ShortPaths::new(paths.clone());
    for path in paths {
        let parts = shortened.of(path).split('/').count();
        if parts > 1 {
            let most = names.entry(file_name(path)).or_default();
            *most = parts.max(*most);
        }
    }
}

/// Returns the last components of a path.
fn last_parts(path: &str, parts: usize) -> &str {
    let slash = path.rmatch_indices('/').nth(parts.saturating_sub(1));
    slash.and_then(|(slash, _)| path.get(slash + 1..)).unwrap_or(path)
}

/// The recordings of one side.
struct Side<'p> {
    /// The cost in each recording, by the key of the entry.
    rows: BTreeMap<Entry<'p>, Vec<Cost>>,
    /// The total of each recording.
    totals: Vec<Cost>,
}

impl<'p> Side<'p> {
    fn new(tables: &[(Table<'p>, EventId)], keys: &Keys<'p>) -> Self {
        let mut side = Self { rows: BTreeMap::new(), totals: Vec::new() };
        for (index, &(ref table, event)) in tables.iter().enumerate() {
            let mut total = Cost::default();
            for row in &table.rows {
                let cost = row.cost(event);
                total.total_value = total.total_value.saturating_add(cost.self_value);
                total.total_count = total.total_count.saturating_add(cost.self_count);
                let costs = side.rows.entry(keys.key(row.entry)).or_default();
                costs.resize(index, Cost::default());
                costs.push(cost);
            }
            side.totals.push(total);
        }
        for costs in side.rows.values_mut() {
            costs.resize(tables.len(), Cost::default());
        }
        side
    }

    #[allow(clippy::cast_precision_loss)] // printed with a few digits
    fn estimate(&self, key: &Entry<'p>, order: Order, scale: Scale) -> Estimate {
        let none = vec![Cost::default(); self.totals.len()];
        let costs = self.rows.get(key).unwrap_or(&none);
        let values = costs.iter().zip(&self.totals).map(|(cost, total)| {
            let (value, count) = match order {
                Order::BySelf => (cost.self_value, cost.self_count),
                Order::ByTotal => (cost.total_value, cost.total_count),
            };
            let (value, all) = (value as f64, total.total_value as f64);
            // Sampling noise of a share is binomial, of a value Poisson.
            let (count, all_counts) = (count as f64, total.total_count as f64);
            match scale {
                Scale::Share => {
                    let share = if all > 0.0 { value / all } else { 0.0 };
                    let rest = 1.0 - share.min(1.0);
                    (share, if all_counts > 0.0 { (share * rest / all_counts).sqrt() } else { 0.0 })
                }
                Scale::Value => (value, if count > 0.0 { value / count.sqrt() } else { 0.0 }),
            }
        });
        Estimate::new(&values.collect::<Vec<_>>())
    }

    #[allow(clippy::cast_precision_loss)] // printed with a few digits
    fn total(&self) -> Estimate {
        let values = self.totals.iter().map(|total| (total.total_value as f64, 0.0));
        Estimate::new(&values.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests;
