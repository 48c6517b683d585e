//! Notes for a ledger: records, damage and counts.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use perf_ring::abi::AuxFlags;
use perf_ring::{RawRecord, Record, RecordType, SampleLayout, SkippedBytes, SortedRecord};

use super::{Gap, Key, Loss, LossKind, LossLedger};
use crate::set::event_error::label_of;
use crate::set::{RingKey, Scope};

/// Returns whether records of this kind may report a loss.
fn reports_loss(kind: RecordType) -> bool {
    matches!(
        kind,
        RecordType::LOST
            | RecordType::LOST_SAMPLES
            | RecordType::THROTTLE
            | RecordType::UNTHROTTLE
            | RecordType::AUX
    )
}

/// # Notes
impl LossLedger {
    /// Notes a record that was delivered: its losses if it reports some, and its time, from which
    /// the time span of the next loss in this ring starts.
    ///
    /// An [`EventSet`](crate::EventSet) does this for the records that it delivers.
    #[inline]
    pub fn note(&mut self, record: &SortedRecord<'_, RingKey>) {
        let key = *record.key();
        if reports_loss(record.raw().kind()) || record.is_late() {
            let event = record.event().map(|event| label_of(event));
            if record.is_late() {
                let (scope, event, at) = (key.scope(), event.clone(), Some(record.time()));
                self.add(Loss { scope, event, kind: LossKind::Late, amount: 1, from: at, to: at });
            }
            if let Ok(layout) = record.layout() {
                self.note_loss(key, record.raw(), layout, Some(record.time()), event);
            }
        }
        self.note_time(key, Some(record.time()));
    }

    /// Notes a record of a ring that the caller reads, with the layout and the name of its event.
    /// See [`note`](Self::note).
    pub fn note_record(
        &mut self,
        key: RingKey,
        record: RawRecord<'_>,
        layout: &SampleLayout,
        event: Option<Arc<str>>,
    ) {
        let time = record.time(layout);
        if reports_loss(record.kind()) {
            self.note_loss(key, record, layout, time, event);
        }
        self.note_time(key, time);
    }

    fn note_time(&mut self, key: RingKey, time: Option<u64>) {
        if let Some(ring) = self.rings.get_mut(key.index() as usize).filter(|_| time.is_some()) {
            ring.last = time;
            ring.last_read = ring.last_read.or(time);
        }
    }

    /// Notes a record that reports a loss.
    #[cold]
    fn note_loss(
        &mut self,
        key: RingKey,
        record: RawRecord<'_>,
        layout: &SampleLayout,
        time: Option<u64>,
        event: Option<Arc<str>>,
    ) {
        let truncated = AuxFlags::TRUNCATED | AuxFlags::PARTIAL;
        let (kind, event, amount) = match record.decode(layout) {
            // Its id belongs to the event that wrote next, not to the event that lost records.
            Ok(Record::Lost(lost)) => (LossKind::Lost, None, lost.lost()),
            Ok(Record::LostSamples(lost)) => (LossKind::LostSamples, event, lost.lost()),
            Ok(Record::Throttle(_)) => (LossKind::Throttled, event, 1),
            // Only the end of the time span.
            Ok(Record::Unthrottle(_)) => (LossKind::Throttled, event, 0),
            Ok(Record::Aux(aux)) if aux.flags().intersects(truncated) => (LossKind::AuxTruncated, event, 1),
            Ok(Record::Aux(aux)) if aux.flags().contains(AuxFlags::COLLISION) => {
                (LossKind::AuxCollision, event, 1)
            }
            Ok(_) => return,
            Err(_) => (LossKind::Damaged, event, record.size() as u64),
        };
        let is_at_record = matches!(kind, LossKind::Throttled);
        let last = self.ring(key).and_then(|ring| ring.last);
        let from = if is_at_record { time } else { last };
        self.add(Loss { scope: key.scope(), event, kind, amount, from, to: time });
    }

    /// Notes records of a ring that the program dropped unread.
    pub fn note_discarded(&mut self, key: RingKey, records: u64) {
        let from = self.ring(key).and_then(|ring| ring.last);
        let (scope, kind) = (key.scope(), LossKind::Discarded);
        self.add(Loss { scope, event: None, kind, amount: records, from, to: None });
    }

    /// Notes samples of a ring that [`SampleRepair`](crate::SampleRepair) has removed.
    pub fn note_unattributed(&mut self, key: RingKey, samples: u64) {
        if samples != 0 {
            let last = self.ring(key).and_then(|ring| ring.last);
            let (scope, kind) = (key.scope(), LossKind::Unattributed);
            self.add(Loss { scope, event: None, kind, amount: samples, from: last, to: None });
        }
    }

    /// Notes the bytes skipped in a ring since it was mapped, from
    /// [`Ring::damage`](perf_ring::Ring::damage).
    pub fn note_damage(&mut self, key: RingKey, damage: SkippedBytes) {
        let Some(ring) = self.rings.get_mut(key.index() as usize) else { return };
        let amount = damage.bytes.saturating_sub(ring.damage.bytes);
        if amount != 0 {
            ring.damage = damage;
            let (scope, from) = (key.scope(), ring.last);
            self.add(Loss { scope, event: None, kind: LossKind::Damaged, amount, from, to: None });
        }
    }

    /// Notes how many records each event has lost since it was opened: the sum for each scope and
    /// label.
    pub(in crate::set) fn set_read_lost(&mut self, read: impl Iterator<Item = (Scope, Arc<str>, u64)>) {
        let mut sums: HashMap<(Scope, Arc<str>), u64> = HashMap::new();
        for (scope, label, lost) in read {
            let sum = sums.entry((scope, label)).or_default();
            *sum = sum.saturating_add(lost);
        }
        for ((scope, label), lost) in sums {
            self.note_read_lost(scope, label, lost);
        }
        self.rings.iter_mut().for_each(|ring| ring.last_read = ring.last);
    }

    /// Notes how many records an event has lost since it was opened, as [`LossKind::ReadLost`]. It
    /// is for an event outside of the set, such as one of a perf event array; the next call for the
    /// same scope and label has the new total.
    pub fn note_read_lost(&mut self, scope: Scope, label: Arc<str>, lost: u64) {
        let key = Key { scope, event: Some(label.clone()), kind: LossKind::ReadLost };
        let amount = lost.saturating_sub(self.losses.get(&key).map_or(0, |loss| loss.amount));
        if amount != 0 {
            let ring = self.rings.iter().rev().find(|ring| ring.scope == scope.of_ring());
            let from = ring.and_then(|ring| ring.last_read);
            self.add(Loss { scope, event: Some(label), kind: LossKind::ReadLost, amount, from, to: None });
        }
    }

    /// Notes that a CPU has no events since `from`, in ns of `CLOCK_MONOTONIC`, unless that is
    /// known.
    pub(in crate::set) fn open_gap(&mut self, scope: Scope, from: u64) {
        if self.gaps.iter().any(|gap| gap.scope == scope && gap.to.is_none()) {
            return;
        }
        self.gaps.push(Gap { scope, from, to: None });
        self.add(Loss { scope, event: None, kind: LossKind::Gap, amount: 1, from: None, to: None });
    }

    /// Notes that a CPU has events again.
    pub(in crate::set) fn close_gap(&mut self, scope: Scope, to: u64) {
        let open = self.gaps.iter_mut().filter(|gap| gap.scope == scope && gap.to.is_none());
        open.for_each(|gap| gap.to = Some(to));
    }

    /// Adds a loss to the others of its scope, event and kind.
    fn add(&mut self, loss: Loss) {
        let key = Key { scope: loss.scope, event: loss.event.clone(), kind: loss.kind };
        match self.losses.entry(key) {
            Entry::Vacant(first) => _ = first.insert(loss),
            Entry::Occupied(same) => {
                let sum = same.into_mut();
                sum.amount = sum.amount.saturating_add(loss.amount);
                sum.to = sum.to.max(loss.to);
                // An unknown start stays unknown, because it precedes the first record of the ring.
                if sum.from.is_some() && loss.from.is_some() {
                    sum.from = sum.from.min(loss.from);
                }
            }
        }
    }
}
