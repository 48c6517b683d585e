use core::ops::ControlFlow;

use super::queue::Entry;
use super::{Drained, Member, SortedRecord};

/// The next records of all rings, in order.
///
/// They are chosen some at a time, before the first is delivered: both loops are short then, and the
/// callback is in only one of them.
#[derive(Debug, Default)]
pub(super) struct Plan {
    items: Vec<(Entry, u32)>,
    /// Next time of each ring with framed records, with the ring's index, earliest first.
    heads: Vec<(u64, u32)>,
}

/// Number of records in a plan.
const ITEMS: usize = 64;

impl Plan {
    /// Starts with the rings as they are.
    pub(super) fn restart<K>(&mut self, members: &[Member<K>]) {
        self.items.reserve(ITEMS);
        self.heads.clear();
        for (member, index) in members.iter().zip(0..) {
            self.heads.extend(member.lookahead.first().map(|entry| (entry.time, index)));
        }
        self.heads.sort_unstable();
    }

    /// Takes the next records out of the lookaheads. Returns whether there are any.
    pub(super) fn make<K>(&mut self, members: &mut [Member<K>]) -> bool {
        self.items.clear();
        // Rings with a record before their limit.
        let mut open = members.iter().filter(|member| member.lookahead.is_open()).count();
        while open != 0 && self.items.len() < ITEMS {
            let Some(&(_, index)) = self.heads.first() else { break };
            let Some(member) = members.get_mut(index as usize) else { break };
            let Some(&entry) = member.lookahead.first() else { break };
            self.items.push((entry, index));
            open -= usize::from(member.lookahead.pop());
            match member.lookahead.first() {
                Some(next) => reinsert(&mut self.heads, (next.time, index)),
                None => drop(self.heads.remove(0)),
            }
            if member.lookahead.must_fill() {
                break;
            }
        }
        !self.items.is_empty()
    }

    /// Delivers the planned records.
    ///
    /// The records after a break are put back. Restart the plan after it, and if the kernel has
    /// overwritten a record, which is [`Flow::Overwritten`].
    pub(super) fn deliver<K, B>(
        &self,
        members: &mut [Member<K>],
        drained: &mut Drained,
        latest: &mut u64,
        consume: &mut impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Flow<B> {
        let mut delivery = Delivery { members, left: &self.items };
        while let Some((&(entry, index), left)) = delivery.left.split_first() {
            let Some(Member { key, ring, lookahead, .. }) = delivery.members.get_mut(index as usize) else {
                break;
            };
            let raw = match ring.reader.record_at_word(entry.at) {
                Ok(raw) => raw,
                Err(error) => {
                    drop(delivery);
                    if let Some(member) = members.get_mut(index as usize) {
                        member.lookahead.set_damage(&mut member.ring.reader, error);
                    }
                    return Flow::Overwritten;
                }
            };
            let Some(events) = lookahead.events() else { break };
            let event = match usize::from(entry.event).checked_sub(1) {
                None => Some(&ring.event),
                Some(index) => ring.redirected.get(index),
            };
            let time = entry.time;
            let is_late = time < *latest;
            drained.records += 1;
            drained.late += u64::from(is_late);
            *latest = time.max(*latest);
            delivery.left = left;
            let record = SortedRecord { key, raw, time, is_late, event, events };
            if let ControlFlow::Break(value) = consume(record) {
                return Flow::Break(value);
            }
        }
        Flow::Continue
    }
}

/// The way in which a delivery ended.
pub(super) enum Flow<B> {
    /// All planned records were delivered.
    Continue,
    /// The callback ended the round.
    Break(B),
    /// The kernel wrote over a record after it was framed.
    Overwritten,
}

/// The delivery of planned records. Dropping it consumes the delivered ones and puts the others back, also
/// when the callback panics.
struct Delivery<'p, K> {
    members: &'p mut [Member<K>],
    left: &'p [(Entry, u32)],
}

impl<K> Drop for Delivery<'_, K> {
    fn drop(&mut self) {
        for &(_, index) in self.left {
            if let Some(member) = self.members.get_mut(index as usize) {
                member.lookahead.unpop();
            }
        }
        for Member { ring, lookahead, .. } in &mut *self.members {
            lookahead.settle(&mut ring.reader);
        }
    }
}

/// Replaces the first of the heads by its ring's next one, in order.
#[inline]
fn reinsert(heads: &mut [(u64, u32)], head: (u64, u32)) {
    let mut index = 0;
    while let Some(next) = heads.get(index + 1).copied().filter(|next| *next < head) {
        if let Some(this) = heads.get_mut(index) {
            *this = next;
        }
        index += 1;
    }
    if let Some(slot) = heads.get_mut(index) {
        *slot = head;
    }
}
