//! Losses, by their scope, kind and time.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use perf_sys::SkippedBytes;

use crate::set::{RingKey, Scope};

mod feed;
mod gap;
mod kind;
mod report;
#[cfg(test)]
mod tests;

pub use gap::Gap;
pub(in crate::set) use gap::monotonic;
pub use kind::LossKind;
pub use report::LossReport;

/// Everything that an [`EventSet`](crate::EventSet) lost: where, how much, and between which times.
///
/// The set notes what it sees in the records that it delivers, and what its events count. The ledger can be
/// asked at any moment, and cloned; [`EventSet::close`](crate::EventSet::close) returns it, so that it outlives the
/// rings.
///
/// ```
/// use perf_session::LossLedger;
///
/// fn report(ledger: &LossLedger) {
///     match ledger.nothing_lost() {
///         Ok(()) => println!("complete"),
///         Err(losses) => println!("{losses}"),
///     }
/// }
/// # report(&LossLedger::default());
/// ```
#[derive(Clone, Debug, Default)]
pub struct LossLedger {
    losses: HashMap<Key, Loss>,
    rings: Vec<RingState>,
    gaps: Vec<Gap>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    scope: Scope,
    event: Option<Arc<str>>,
    kind: LossKind,
}

/// A loss of one kind at one scope, summed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The CPU or thread: of the ring, or of the event for [`LossKind::ReadLost`].
    pub scope: Scope,
    /// The name of the event, or `None` if the loss is of any event of the ring.
    pub event: Option<Arc<str>>,
    /// The way in which it was lost.
    pub kind: LossKind,
    /// The amount, in the unit of the kind.
    pub amount: u64,
    /// The time of the last record before the first of these losses, in ns of the events' clock, if it is
    /// known.
    pub from: Option<u64>,
    /// The time of the first record after the last of these losses, in ns of the events' clock. Unknown
    /// for [`LossKind::ReadLost`].
    pub to: Option<u64>,
}

/// A ring, and whether its events are open.
#[derive(Clone, Debug)]
struct RingState {
    scope: Scope,
    /// Whether the events of the scope write into it.
    is_current: bool,
    /// Time of the last record.
    last: Option<u64>,
    /// The same when the losses of the events were last read.
    last_read: Option<u64>,
    damage: SkippedBytes,
}

impl LossLedger {
    /// Iterates over the losses, ordered by scope and kind. Late records are among them.
    pub fn losses(&self) -> impl Iterator<Item = &Loss> {
        let mut losses: Vec<&Loss> = self.losses.values().filter(|loss| loss.amount != 0).collect();
        losses.sort_by_cached_key(|loss| (loss.scope, loss.kind, loss.event.clone()));
        losses.into_iter()
    }

    /// Returns the times in which CPUs had no events because they were offline.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Returns the sum of the losses of one kind.
    pub fn amount(&self, kind: LossKind) -> u64 {
        self.losses.values().filter(|loss| loss.kind == kind).map(|loss| loss.amount).sum()
    }

    /// Returns the number of records that the kernel dropped: for each ring the larger one of what its
    /// `LOST` records report and what its events count. It is exact since Linux 6.0.
    pub fn dropped(&self) -> u64 {
        let mut rings: HashMap<Scope, (u64, u64)> = HashMap::new();
        for loss in self.losses.values() {
            let (reported, read) = rings.entry(loss.scope.of_ring()).or_default();
            match loss.kind {
                LossKind::Lost => *reported += loss.amount,
                LossKind::ReadLost => *read += loss.amount,
                _ => {}
            }
        }
        rings.into_values().map(|(reported, read)| reported.max(read)).sum()
    }

    /// Returns an error with all losses if there is one. Late records are no loss.
    ///
    /// The records that were dropped last are known only after [`EventSet::losses`](crate::EventSet::losses) or
    /// [`EventSet::close`](crate::EventSet::close), which read them from the events.
    ///
    /// # Errors
    ///
    /// The losses.
    pub fn nothing_lost(&self) -> Result<(), LossReport> {
        let losses: Vec<Loss> = self.losses().filter(|loss| loss.kind.is_loss()).cloned().collect();
        if losses.is_empty() { Ok(()) } else { Err(LossReport { losses, gaps: self.gaps.clone() }) }
    }

    /// Adds a ring, and returns its key: for a ring that does not belong to an [`EventSet`](crate::EventSet). Use it as the
    /// key of the ring in a [`RingSet`](perf_sys::RingSet), whose records the ledger then
    /// [notes](Self::note).
    ///
    /// ```no_run
    /// use perf_session::sys::{Ring, RingSet};
    /// use perf_session::{LossLedger, Scope};
    ///
    /// fn read(ring: Ring) -> Result<(), Box<dyn std::error::Error>> {
    ///     let (mut rings, mut ledger) = (RingSet::new()?, LossLedger::default());
    ///     rings.add(ledger.add_ring(Scope::cpu(0)), ring)?;
    ///     rings.drain_sorted(|record| ledger.note(&record))?;
    ///     println!("{ledger}");
    ///     Ok(())
    /// }
    /// ```
    pub fn add_ring(&mut self, scope: Scope) -> RingKey {
        self.rings.push(RingState {
            scope,
            is_current: true,
            last: None,
            last_read: None,
            damage: SkippedBytes::default(),
        });
        RingKey::new(scope, (self.rings.len() - 1) as u32)
    }

    /// Returns whether events of the scope write into the ring.
    pub(in crate::set) fn is_current(&self, key: RingKey, scope: Scope) -> bool {
        self.ring(key).is_some_and(|ring| ring.is_current && ring.scope == scope)
    }

    /// Notes that the events of the ring of this scope were closed.
    pub(in crate::set) fn end_ring(&mut self, scope: Scope) {
        let rings = self.rings.iter_mut().filter(|ring| ring.scope == scope);
        rings.for_each(|ring| ring.is_current = false);
    }

    fn ring(&self, key: RingKey) -> Option<&RingState> {
        self.rings.get(key.index() as usize)
    }
}

/// The losses, one a line, or "nothing was lost".
impl fmt::Display for LossLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let losses: Vec<Loss> = self.losses().cloned().collect();
        if losses.is_empty() {
            return f.write_str("nothing was lost");
        }
        LossReport { losses, gaps: self.gaps.clone() }.fmt(f)
    }
}
