use std::collections::HashMap;

use perf_sys::abi::AuxFlags;
use perf_sys::decode::Error;
use perf_sys::{Damage, Label, Record, RecordType, SortedRecord};

use super::{Gap, Key, Loss, LossKind, LossLedger};
use crate::{Place, RingKey};

/// A loss to be added.
struct Entry {
    kind: LossKind,
    event: Option<Label>,
    amount: u64,
}

/// # Notes
impl LossLedger {
    /// Notes a record that was delivered: its losses if it reports some, and its time, from which the time
    /// span of the next loss in this ring starts.
    ///
    /// A [`Set`](crate::Set) does this for the records that it delivers.
    #[inline]
    pub fn note(&mut self, record: &SortedRecord<'_, RingKey>) {
        let key = *record.key();
        let reports_loss = matches!(
            record.raw().kind(),
            RecordType::LOST
                | RecordType::LOST_SAMPLES
                | RecordType::THROTTLE
                | RecordType::UNTHROTTLE
                | RecordType::AUX
        );
        if reports_loss || record.is_late() {
            self.note_loss(record);
        }
        if let Some(ring) = self.rings.get_mut(key.index() as usize) {
            ring.last = Some(record.time());
            ring.last_read = ring.last_read.or(ring.last);
        }
    }

    /// Notes a record that reports a loss, or is late.
    #[cold]
    fn note_loss(&mut self, record: &SortedRecord<'_, RingKey>) {
        let (key, time) = (*record.key(), record.time());
        let last = self.ring(key).and_then(|ring| ring.last);
        let event = record.event().map(|event| event.label().clone());
        let from = if record.is_late() { Some(time) } else { last };
        let span = (from, Some(time));
        if record.is_late() {
            self.add(key.place(), Entry { kind: LossKind::Late, event: event.clone(), amount: 1 }, span);
        }
        // The body of these kinds does not depend on the layout.
        let decoded = record.decode();
        let (kind, event, amount) = match &decoded {
            // The id is that of the event whose record was written next.
            Ok(Record::Lost(lost)) => (LossKind::Lost, None, lost.lost()),
            Ok(Record::LostSamples(lost)) => (LossKind::LostSamples, event, lost.lost()),
            Ok(Record::Throttle(_)) => (LossKind::Throttled, event, 1),
            Ok(Record::Unthrottle(_)) => (LossKind::Throttled, event, 0),
            Ok(Record::Aux(aux)) if aux.flags().intersects(AuxFlags::TRUNCATED | AuxFlags::PARTIAL) => {
                (LossKind::AuxTruncated, event, 1)
            }
            Ok(Record::Aux(aux)) if aux.flags().contains(AuxFlags::COLLISION) => {
                (LossKind::AuxCollision, event, 1)
            }
            Ok(_) => return,
            Err(error) => return self.note_undecoded(key, record, *error),
        };
        self.add(key.place(), Entry { kind, event, amount }, span);
    }

    /// Notes a record that reports a loss and cannot be decoded: its bytes are damaged.
    fn note_undecoded(&mut self, key: RingKey, record: &SortedRecord<'_, RingKey>, _error: Error) {
        let amount = record.raw().size() as u64;
        let span = (Some(record.time()), Some(record.time()));
        self.add(key.place(), Entry { kind: LossKind::Damaged, event: None, amount }, span);
    }

    /// Notes records of a ring that the program dropped unread.
    pub fn note_discarded(&mut self, key: RingKey, records: u64) {
        let span = (self.ring(key).and_then(|ring| ring.last), None);
        self.add(key.place(), Entry { kind: LossKind::Discarded, event: None, amount: records }, span);
    }

    /// Notes what was skipped in a ring since it was mapped, as [`Ring::damage`](perf_sys::Ring::damage)
    /// returns it.
    pub fn note_damage(&mut self, key: RingKey, damage: Damage) {
        let Some(ring) = self.rings.get_mut(key.index() as usize) else { return };
        let amount = damage.bytes.saturating_sub(ring.damage.bytes);
        if amount != 0 {
            ring.damage = damage;
            let span = (ring.last, None);
            self.add(key.place(), Entry { kind: LossKind::Damaged, event: None, amount }, span);
        }
    }

    /// Notes how many records each event has lost since it was opened: the sum for each place and label.
    pub(crate) fn set_read_lost(&mut self, read: impl Iterator<Item = (Place, Label, u64)>) {
        let mut sums: HashMap<(Place, Label), u64> = HashMap::new();
        read.for_each(|(place, label, lost)| *sums.entry((place, label)).or_default() += lost);
        for ((place, label), lost) in sums {
            let key = Key { place, event: Some(label.clone()), kind: LossKind::ReadLost };
            let amount = lost.saturating_sub(self.losses.get(&key).map_or(0, |loss| loss.amount));
            if amount != 0 {
                let ring = self.rings.iter().rev().find(|ring| ring.place == place.of_ring());
                let span = (ring.and_then(|ring| ring.last_read), None);
                self.add(place, Entry { kind: LossKind::ReadLost, event: Some(label), amount }, span);
            }
        }
        self.rings.iter_mut().for_each(|ring| ring.last_read = ring.last);
    }

    /// Notes that a CPU has no events since `from`, in ns of `CLOCK_MONOTONIC`, unless that is known.
    pub(crate) fn open_gap(&mut self, place: Place, from: u64) {
        if self.gaps.iter().any(|gap| gap.place == place && gap.to.is_none()) {
            return;
        }
        self.gaps.push(Gap { place, from, to: None });
        self.add(place, Entry { kind: LossKind::Gap, event: None, amount: 1 }, (None, None));
    }

    /// Notes that a CPU has events again.
    pub(crate) fn close_gap(&mut self, place: Place, to: u64) {
        let open = self.gaps.iter_mut().filter(|gap| gap.place == place && gap.to.is_none());
        open.for_each(|gap| gap.to = Some(to));
    }

    /// Adds a loss between two times to the others of its kind.
    fn add(&mut self, place: Place, entry: Entry, (from, to): (Option<u64>, Option<u64>)) {
        let Entry { kind, event, amount } = entry;
        let key = Key { place, event: event.clone(), kind };
        let none = Loss { place, event, kind, amount: 0, from, to };
        let loss = self.losses.entry(key).or_insert(none);
        loss.amount = loss.amount.saturating_add(amount);
        loss.to = loss.to.max(to);
        if loss.from.is_some() && from.is_some() {
            loss.from = loss.from.min(from);
        }
    }
}
