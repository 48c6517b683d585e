//! The contents of the page, computed once for the text and the JSON.

use perf_profile::read::Metadata;
use perf_profile::{CallTree, Column, Direction, EventId, Node, Order, Profile, Row, Table};

use super::advice;
use crate::report::Shares;
use crate::report::header::loss_lines;

/// Rows of each table.
const ROWS: usize = 8;
/// Frames of the hottest path.
const FRAMES: usize = 16;

/// The contents of the page about an event.
pub(super) struct Facts<'p> {
    pub(super) event: EventId,
    /// The option by which waits are shown.
    pub(super) waits: Option<&'static str>,
    pub(super) shares: Shares,
    /// Functions with the largest own value.
    pub(super) functions: Vec<Row<'p>>,
    /// Threads with the largest value.
    pub(super) threads: Vec<Row<'p>>,
    /// The path of the stacks on which at each function the callee with the largest value follows,
    /// while it has at least a quarter of it; outermost first. Empty if stacks were not recorded.
    pub(super) path: Vec<Node<'p>>,
    /// Mean number of CPUs that samples of a clock were on, if the times of the recording are
    /// known and no waits are shown.
    pub(super) busy_cpus: Option<f64>,
    /// Parts that are missing or may be wrong, one sentence each.
    pub(super) unreliable: Vec<String>,
    /// Commands to run next, each with its reason.
    pub(super) next: Vec<(String, String)>,
}

impl<'p> Facts<'p> {
    pub(super) fn new(
        profile: &'p Profile,
        about: &Metadata,
        event: EventId,
        waits: Option<&'static str>,
    ) -> Self {
        let shares = Shares::new(profile.total(event));
        let top = |columns: &[Column]| {
            let mut rows = Table::new(profile, columns).sorted(event, Order::BySelf).rows;
            rows.retain(|row| row.cost(event).self_count > 0);
            rows.truncate(ROWS);
            rows
        };
        let functions = top(&[Column::Object, Column::Function]);
        let threads = top(&[Column::Comm]);
        let path = hottest_path(profile, event);
        let mut facts = Self {
            event,
            waits,
            shares,
            functions,
            threads,
            path,
            busy_cpus: if waits.is_some() { None } else { busy_cpus(profile, about, event) },
            unreliable: loss_lines(profile),
            next: Vec::new(),
        };
        facts.unreliable.extend(advice::unreliable(profile, &facts));
        facts.next = advice::next(profile, about, &facts);
        facts
    }
}

/// Returns the path with the largest values, from the outermost function.
fn hottest_path(profile: &Profile, event: EventId) -> Vec<Node<'_>> {
    if profile.stacks().all(|(_, caller)| caller.is_none()) {
        return Vec::new();
    }
    let shares = Shares::new(profile.total(event));
    let is_kept = |total| shares.of(total) >= 1.0;
    let tree = CallTree::filtered(profile, event, &[Column::Function], Direction::FromOutermost, is_kept);
    tree.hottest_path().iter().take(FRAMES).copied().collect()
}

/// Returns the mean number of CPUs that samples of a clock were on.
#[allow(clippy::cast_precision_loss)] // printed with one decimal
fn busy_cpus(profile: &Profile, about: &Metadata, event: EventId) -> Option<f64> {
    let clock = profile.event(event).filter(|event| !event.is_span)?;
    let time = about.sample_time?;
    let elapsed = time.last.saturating_sub(time.first);
    let is_clock = clock.unit == perf_profile::Unit::Nanoseconds;
    (is_clock && elapsed > 0).then(|| profile.total(event) as f64 / elapsed as f64)
}
