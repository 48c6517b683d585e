//! Losses, by their scope, kind and time.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use perf_ring::SkippedBytes;
use perf_ring::decode::LostCounts;
use rustix::time::{ClockId, clock_gettime};

use super::{RingKey, Scope};

mod feed;
#[cfg(test)]
mod tests;

/// Everything that an [`EventSet`](crate::EventSet) lost: where, how much, and between which times.
///
/// The set notes what it sees in the records that it delivers, and what its events count. The
/// ledger can be asked at any moment, and cloned; [`EventSet::close`](crate::EventSet::close)
/// returns it, so that it outlives the rings.
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
#[non_exhaustive]
pub struct Loss {
    /// The CPU or thread: of the ring, or of the event for [`LossKind::ReadLost`].
    pub scope: Scope,
    /// The name of the event, or `None` if the loss is of any event of the ring.
    pub event: Option<Arc<str>>,
    /// The way in which it was lost.
    pub kind: LossKind,
    /// The amount, in the unit of the kind.
    pub amount: u64,
    /// The time of the last record before the first of these losses, in ns of the events' clock, if
    /// it is known.
    pub from: Option<u64>,
    /// The time of the first record after the last of these losses, in ns of the events' clock.
    /// Unknown for [`LossKind::ReadLost`].
    pub to: Option<u64>,
}

/// The way in which records, samples or data were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// Records that the kernel dropped because the ring was full, by the `LOST` records of the
    /// ring: all but those after the last record that fitted. Of any event of the ring.
    #[doc(alias = "PERF_RECORD_LOST")]
    Lost,
    /// Records of an event that the kernel dropped, by reading the event: exact, including
    /// [`Lost`](Self::Lost). Since Linux 6.0.
    #[doc(alias = "PERF_FORMAT_LOST")]
    ReadLost,
    /// Samples that the PMU lost before they reached the ring, by the `LOST_SAMPLES` records.
    #[doc(alias = "PERF_RECORD_LOST_SAMPLES")]
    LostSamples,
    /// Times that an event was throttled: it overflowed too often and was stopped until the next
    /// tick.
    #[doc(alias = "PERF_RECORD_THROTTLE")]
    Throttled,
    /// Records that the program dropped unread.
    Discarded,
    /// Samples that were dropped because several events may have written them: they have the id of
    /// another program's event.
    Unattributed,
    /// Bytes of a ring that were skipped because they are not records.
    Damaged,
    /// Records that were delivered after one with a later time. Nothing is missing, but it is out
    /// of timestamp order.
    Late,
    /// Records of a hardware trace whose data was truncated or has gaps.
    #[doc(alias = "PERF_AUX_FLAG_TRUNCATED")]
    #[doc(alias = "PERF_AUX_FLAG_PARTIAL")]
    AuxTruncated,
    /// Records of a hardware trace whose data collided with another trace.
    #[doc(alias = "PERF_AUX_FLAG_COLLISION")]
    AuxCollision,
    /// Times that a CPU was without events because it was offline.
    Gap,
}

/// A time in which a CPU of a set had no events, because it was offline.
///
/// The times are in ns of `CLOCK_MONOTONIC`. They enclose the gap: `from` is the last time at which
/// the events were known to count, by a look at the CPU or, if their times are of this clock, by
/// their last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The CPU.
    pub scope: Scope,
    /// The last time at which the events were known to count, or the CPU to be offline.
    pub from: u64,
    /// The time after which the events count again, or `None` while the CPU is without them.
    pub to: Option<u64>,
}

impl Gap {
    /// Returns the maximum time in ns for which the CPU was without events; `None` while it still
    /// is. The true time is shorter by the time of the CPU's records after `from`.
    pub const fn at_most(&self) -> Option<u64> {
        match self.to {
            Some(to) => Some(to.saturating_sub(self.from)),
            None => None,
        }
    }
}

/// The losses of a [`LossLedger`](crate::LossLedger), as an error.
///
/// Prints one line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossReport {
    /// The losses, ordered by scope and kind.
    pub losses: Vec<Loss>,
    /// The times in which CPUs had no events.
    pub gaps: Vec<Gap>,
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
        let amounts = self.losses.values().filter(|loss| loss.kind == kind).map(|loss| loss.amount);
        amounts.fold(0, u64::saturating_add)
    }

    /// Returns the number of records that the kernel dropped: for each ring the larger of two sums,
    /// from its `LOST` records and from its events' counts. It is exact since Linux 6.0.
    pub fn dropped(&self) -> u64 {
        let rings = self.dropped_by_ring().into_values();
        rings.map(|(reported, read)| reported.max(read)).fold(0, u64::saturating_add)
    }

    /// Returns the records that the kernel [dropped](Self::dropped), and the samples that the PMU lost or that were dropped as
    /// [`Unattributed`](LossKind::Unattributed).
    pub fn lost(&self) -> LostCounts {
        let samples = [LossKind::LostSamples, LossKind::Unattributed].map(|kind| self.amount(kind));
        LostCounts::new(self.dropped(), samples.into_iter().fold(0, u64::saturating_add))
    }

    /// Returns, for each ring with such losses, the number of records that the kernel dropped after the last `LOST` record: what
    /// its events count and no record reports. Ordered by the scope of the ring.
    pub fn unreported(&self) -> impl Iterator<Item = (Scope, u64)> {
        let rings = self.dropped_by_ring().into_iter();
        let rings = rings.map(|(ring, (reported, read))| (ring, read.saturating_sub(reported)));
        rings.filter(|&(_, records)| records > 0)
    }

    /// Returns the dropped records by the scope of the ring: as its `LOST` records report them, and as its events count them.
    fn dropped_by_ring(&self) -> BTreeMap<Scope, (u64, u64)> {
        let mut rings: BTreeMap<Scope, (u64, u64)> = BTreeMap::new();
        for loss in self.losses.values() {
            let (reported, read) = rings.entry(loss.scope.of_ring()).or_default();
            match loss.kind {
                LossKind::Lost => *reported = reported.saturating_add(loss.amount),
                LossKind::ReadLost => *read = read.saturating_add(loss.amount),
                _ => {}
            }
        }
        rings
    }

    /// Returns an error with all losses if there is one. Late records are no loss.
    ///
    /// The records that were dropped last are known only after
    /// [`EventSet::losses`](crate::EventSet::losses) or
    /// [`EventSet::close`](crate::EventSet::close), which read them from the events.
    ///
    /// # Errors
    ///
    /// A report of all losses.
    pub fn nothing_lost(&self) -> Result<(), LossReport> {
        let losses: Vec<Loss> = self.losses().filter(|loss| loss.kind.is_loss()).cloned().collect();
        if losses.is_empty() { Ok(()) } else { Err(LossReport { losses, gaps: self.gaps.clone() }) }
    }

    /// Adds a ring, and returns its key: for a ring that does not belong to an
    /// [`EventSet`](crate::EventSet). Use it as the key of the ring in a
    /// [`RingSet`](perf_ring::RingSet), whose records the ledger then [notes](Self::note).
    ///
    /// ```no_run
    /// use perf_session::ring::{Ring, RingSet};
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

    /// Returns the time of the last record of the ring into which events of this scope write, in ns
    /// of the events' clock.
    pub(in crate::set) fn last_time(&self, scope: Scope) -> Option<u64> {
        self.rings.iter().rfind(|ring| ring.is_current && ring.scope == scope)?.last
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

impl LossKind {
    /// Returns the noun that an amount of this kind counts.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Lost | Self::ReadLost | Self::Discarded | Self::Late => "records",
            Self::LostSamples | Self::Unattributed => "samples",
            Self::Throttled | Self::Gap => "times",
            Self::Damaged => "bytes",
            Self::AuxTruncated | Self::AuxCollision => "parts of the trace",
        }
    }

    /// Returns whether data is missing. Only late records are complete.
    pub const fn is_loss(self) -> bool {
        !matches!(self, Self::Late)
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "dropped by the kernel, reported in the ring",
            Self::ReadLost => "dropped by the kernel, counted by the event",
            Self::LostSamples => "lost by the PMU",
            Self::Throttled => "throttled",
            Self::Discarded => "discarded unread",
            Self::Unattributed => {
                "with the id of another program's event, and of several that may have written them"
            }
            Self::Damaged => "skipped as damaged",
            Self::Late => "delivered late",
            Self::AuxTruncated => "truncated",
            Self::AuxCollision => "with a collision",
            Self::Gap => "without events while offline",
        })
    }
}

impl Error for LossReport {}

impl fmt::Display for LossReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (line, loss) in self.losses.iter().enumerate() {
            if line != 0 {
                writeln!(f)?;
            }
            loss.fmt(f)?;
        }
        self.gaps.iter().try_for_each(|gap| write!(f, "\n{gap}"))
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.scope)?;
        if let Some(event) = &self.event {
            write!(f, "{event}: ")?;
        }
        write!(f, "{} {} {}", self.amount, self.kind.unit(), self.kind)?;
        match (self.from, self.to) {
            (Some(from), Some(to)) => write!(f, ", between {from} and {to} ns"),
            (Some(from), None) => write!(f, ", after {from} ns"),
            (None, Some(to)) => write!(f, ", before {to} ns"),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no events after {} ns", self.scope, self.from)?;
        match self.to {
            Some(to) => write!(f, " until {to} ns of CLOCK_MONOTONIC"),
            None => f.write_str(" of CLOCK_MONOTONIC, and still none"),
        }
    }
}

/// Returns the time of `CLOCK_MONOTONIC` in ns.
pub(in crate::set) fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither is negative on this clock.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
