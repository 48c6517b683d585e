//! The rows of the screen, chosen by a view, a zoom and a filter.

use std::sync::Arc;

use perf_profile::{Cost, Order, Thread};
use regex_lite::Regex;

use crate::report::Shares;
use crate::report::sort::{FileNames, SortKey, columns};
use crate::top::screen::Moment;

/// The subject of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// The columns of `--sort`.
    Chosen,
    Objects,
    Processes,
    Threads,
}

impl View {
    /// Returns the columns; `chosen` are the columns of the command line.
    pub(super) fn keys(self, chosen: &[SortKey]) -> &[SortKey] {
        match self {
            Self::Chosen => chosen,
            Self::Objects => &[SortKey::DSO],
            Self::Processes => &[SortKey::PID, SortKey::COMM],
            Self::Threads => &[SortKey::PID, SortKey::TID, SortKey::COMM],
        }
    }

    pub(super) fn next(self) -> Self {
        match self {
            Self::Chosen => Self::Objects,
            Self::Objects => Self::Processes,
            Self::Processes => Self::Threads,
            Self::Threads => Self::Chosen,
        }
    }
}

/// The chosen process and thread; by default all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Zoom {
    pub(super) pid: Option<u32>,
    pub(super) tid: Option<u32>,
}

impl Zoom {
    fn has(self, thread: Thread) -> bool {
        self.pid.is_none_or(|pid| pid == thread.pid) && self.tid.is_none_or(|tid| tid == thread.tid)
    }
}

/// A row, as text.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) cost: Cost,
    pub(super) texts: Vec<String>,
    pub(super) pid: Option<u32>,
    pub(super) tid: Option<u32>,
}

/// The rows of a moment.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) list: Vec<Row>,
    /// The shares of all samples of the zoom.
    pub(super) shares: Shares,
    /// Whether functions have a value that includes their callees.
    pub(super) has_total: bool,
    /// The name of the event.
    pub(super) event: String,
    /// Number of events with samples.
    pub(super) events: usize,
}

/// The part of a moment that is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'a> {
    pub(super) keys: &'a [SortKey],
    pub(super) zoom: Zoom,
    pub(super) filter: Option<&'a Regex>,
    /// The number of the event among those with samples.
    pub(super) event: usize,
    pub(super) order: Order,
}

impl Rows {
    pub(super) fn new(moment: &Moment, choice: Choice<'_>) -> Self {
        let zoomed = (choice.zoom != Zoom::default()).then(|| {
            let mut zoomed = moment.clone();
            Arc::make_mut(&mut zoomed.profile).retain_threads(|thread| choice.zoom.has(thread));
            zoomed
        });
        let moment = zoomed.as_ref().unwrap_or(moment);
        let has_total = moment.has_callers();
        let order = if has_total { choice.order } else { Order::BySelf };
        let events = moment.events();
        let Some(&(event, name, shares)) = events.get(choice.event).or(events.first()) else {
            return Self {
                list: Vec::new(),
                shares: Shares::new(0),
                has_total,
                event: String::new(),
                events: 0,
            };
        };
        let table = moment.table(&columns(choice.keys), event, order);
        let rows = table.rows.iter().map(|row| {
            let (entry, keys) = (row.entry, choice.keys.iter());
            let texts = keys.map(|key| key.text(&entry, &FileNames::default())).collect();
            Row { cost: row.cost(event), texts, pid: entry.pid, tid: entry.tid }
        });
        let is_shown = |row: &Row| {
            row.cost.total_value > 0
                && choice.filter.is_none_or(|filter| row.texts.iter().any(|text| filter.is_match(text)))
        };
        let list = rows.filter(is_shown).collect();
        Self { list, shares, has_total, event: name.to_owned(), events: events.len() }
    }
}
