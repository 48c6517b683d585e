//! The table of a moment, with the line above it.

use std::sync::Arc;

use perf_profile::{Column, EventId, Order, Profile, Table};

use super::reader::Numbers;
use crate::out::message::shown;
use crate::report::Shares;

/// The measurement as text.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) events: String,
    pub(super) rate: String,
    pub(super) target: String,
}

/// The profile at a moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Moment {
    pub(super) profile: Arc<Profile>,
    pub(super) numbers: Numbers,
    /// Sums that were left out because of the limit.
    pub(super) left_out: u64,
    /// Addresses whose names are being looked up.
    pub(super) waiting: usize,
}

impl Moment {
    /// Returns the rate of samples, the share of the kernel and the losses.
    pub(super) fn text(&self) -> String {
        let numbers = &self.numbers;
        #[allow(clippy::cast_precision_loss)] // printed without decimals
        let rate = numbers.samples as f64 / numbers.seconds.max(1e-3);
        let kernel = Shares::new(numbers.samples).of(numbers.kernel_samples);
        let mut parts = vec![format!("{rate:.0} samples/s"), format!("{kernel:.1}% kernel")];
        parts.push(if numbers.lost_in_all == numbers.lost {
            numbers.lost.to_string()
        } else {
            format!("{} ({} in all)", numbers.lost, numbers.lost_in_all.total())
        });
        if numbers.skipped > 0 {
            parts.push(format!("{} not shown: names or the output are slow", numbers.skipped));
        }
        if self.left_out > 0 {
            parts.push(format!("{} small sums left out", self.left_out));
        }
        if self.waiting > 0 {
            parts.push(format!("{} addresses not named yet", self.waiting));
        }
        parts.join(", ")
    }

    /// Returns the events with samples, each with its name and the shares of its total.
    pub(super) fn events(&self) -> Vec<(EventId, &str, Shares)> {
        let profile = &self.profile;
        let events =
            profile.event_ids().filter(|&(id, _)| profile.sample_count(id) > 0 || profile.total(id) > 0);
        events.map(|(id, event)| (id, event.name.as_str(), Shares::new(profile.total(id)))).collect()
    }

    /// Returns whether there are functions that call others.
    pub(super) fn has_callers(&self) -> bool {
        self.profile.stacks().any(|(_, caller)| caller.is_some())
    }

    /// Returns the rows, the largest of an event first.
    pub(super) fn table(&self, columns: &[Column], event: EventId, order: Order) -> Table<'_> {
        Table::new(&self.profile, columns).sorted(event, order)
    }
}

impl Subject {
    /// Returns the events, their rate and what is observed.
    pub(super) fn text(&self) -> String {
        format!("{} {}, {}", shown(&self.events), self.rate, self.target)
    }
}
