//! The locks that are printed, sorted.

use std::cmp::Reverse;
use std::collections::HashMap;

use perf_profile::read::ReadLocks;
use perf_profile::{ContentionFlags, Durations, LockId, StackId};

use super::{Kind, Options, Sort, place};

/// The subject of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Subject {
    /// A lock by its address.
    Lock(LockId),
    /// The locks of the kernel of a kind that a function takes.
    Function(ContentionFlags, String),
}

/// Waits for a lock, or for the locks that a function takes.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) subject: Subject,
    pub(super) waits: Durations,
    pub(super) timeouts: u64,
    pub(super) unfinished: Durations,
    /// The function whose waits are the longest together; `None` without stacks.
    pub(super) place: Option<String>,
    /// Stacks of waiters and of wakers, with the waits that they began or ended, longest first.
    pub(super) waiters: Vec<(Option<StackId>, Durations)>,
    pub(super) wakers: Vec<(Option<StackId>, Durations)>,
    /// Threads that owned the lock when others began to wait, and how often, the most first.
    pub(super) owners: Vec<(u32, u64)>,
}

impl Row {
    fn new(subject: Subject) -> Self {
        Self {
            subject,
            waits: Durations::default(),
            timeouts: 0,
            unfinished: Durations::default(),
            place: None,
            waiters: Vec::new(),
            wakers: Vec::new(),
            owners: Vec::new(),
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an average has no sign")]
    fn key(&self, sort: Sort) -> u64 {
        match sort {
            Sort::Total => self.waits.total().saturating_add(self.unfinished.total()),
            Sort::Count => self.waits.count(),
            Sort::Avg => self.waits.mean().unwrap_or(0.0) as u64,
            Sort::Max => self.waits.max(),
        }
    }
}

/// Returns the rows that the user chooses, the largest value first.
pub(super) fn rows(read: &ReadLocks, options: &Options) -> Vec<Row> {
    let profile = &read.profile;
    let mut rows: HashMap<Subject, Row> = HashMap::new();
    for (lock, stack, sums) in read.locks.waits() {
        let is_kernel = matches!(lock, LockId::Kernel { .. });
        if options.kind == (if is_kernel { Kind::User } else { Kind::Kernel }) {
            continue;
        }
        let subject = match lock {
            LockId::Kernel { flags, .. } if !options.lock_addr => {
                let place = place::of_stack(profile, stack, true);
                place.map_or(Subject::Lock(lock), |place| Subject::Function(flags, place))
            }
            lock => Subject::Lock(lock),
        };
        let row = rows.entry(subject.clone()).or_insert_with(|| Row::new(subject));
        row.waits.merge(&sums.waits);
        row.unfinished.merge(&sums.unfinished);
        row.timeouts = row.timeouts.saturating_add(sums.timeouts);
        let mut all = sums.waits.clone();
        all.merge(&sums.unfinished);
        row.waiters.push((stack, all));
    }
    for (lock, stack, waits) in read.locks.wakers() {
        if let Some(row) = rows.get_mut(&Subject::Lock(lock)) {
            row.wakers.push((stack, waits.clone()));
        }
    }
    for (lock, tid, count) in read.locks.owners() {
        if let Some(row) = rows.get_mut(&Subject::Lock(lock)) {
            row.owners.push((tid, count));
        }
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    for row in &mut rows {
        let longest = |(stack, waits): &(Option<StackId>, Durations)| (Reverse(waits.total()), *stack);
        row.waiters.sort_by_key(longest);
        row.wakers.sort_by_key(longest);
        row.owners.sort_by_key(|&(tid, count)| (Reverse(count), tid));
        row.place = match &row.subject {
            Subject::Function(_, name) => Some(name.clone()),
            Subject::Lock(lock) => {
                let is_kernel = matches!(lock, LockId::Kernel { .. });
                row.waiters.first().and_then(|(stack, _)| place::of_stack(profile, *stack, is_kernel))
            }
        };
    }
    rows.sort_by_cached_key(|row| (Reverse(row.key(options.sort)), row.subject.clone()));
    rows
}
