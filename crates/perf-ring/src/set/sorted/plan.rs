//! Which records of all rings come next.

use core::ops::ControlFlow;

use perf_decode::{Head, Heads, RawRecord};

use super::queue::Entry;
use super::{Delivered, Member, SortedRecord};
use crate::ring::Ring;

/// The next records of all rings, in order.
///
/// They are taken some at a time, before the first is delivered: the loop that chooses and the loop
/// that calls the callback are short then, and do not compete for registers. A plan is on the stack
/// of a round; what outlives the round is in the rings' lookaheads.
#[derive(Debug)]
pub(super) struct Plan<'s> {
    heads: Heads<&'s mut [Head]>,
    /// The first `len` are planned.
    records: [Planned; RECORDS],
    len: usize,
    /// Number of rings that are open when the plan is made. While there is one, all records are due
    /// whatever their time, because the kernel would drop records of that ring, and all earlier
    /// ones of other rings come before.
    open: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Planned {
    entry: Entry,
    member: u32,
}

/// Number of records in a plan, at most. Releases are as fine as plans.
const RECORDS: usize = 64;

impl<'s> Plan<'s> {
    /// Starts with the rings as they are. `slots` has one for each ring.
    pub(super) fn new<K>(slots: &'s mut [Head], members: &mut [Member<K>]) -> Self {
        let records = [Planned::default(); RECORDS];
        let mut plan = Self { heads: Heads::new(slots), records, len: 0, open: 0 };
        plan.restart(members);
        plan
    }

    /// Starts again after records were put back.
    fn restart<K>(&mut self, members: &mut [Member<K>]) {
        self.heads.clear();
        self.open = 0;
        for (index, Member { lookahead, .. }) in members.iter_mut().enumerate() {
            lookahead.set_stop();
            self.open += usize::from(lookahead.is_open);
            if let Some(first) = lookahead.queue.first() {
                self.heads.insert(index, first.time);
            }
        }
    }

    /// Takes the next records out of the lookaheads: up to those with the time `until`, and further
    /// while a ring has a record before its limit. Returns whether there are any.
    pub(super) fn make<K>(&mut self, members: &mut [Member<K>], until: Option<u64>) -> bool {
        let Self { heads, records, len, open } = self;
        *len = 0;
        let Some(latest) = (if *open > 0 { Some(u64::MAX) } else { until }) else { return false };
        while let Some(index) = heads.first() {
            let Some(Member { lookahead, .. }) = members.get_mut(index) else { break };
            // One comparison a record decides as long as the ring stays the first.
            let bound = heads.bound().min(latest);
            let before = *len;
            let next = lookahead.queue.take_while(bound, |entry| {
                *records.get_mut(*len)? = Planned { entry, member: index as u32 };
                *len += 1;
                Some(())
            });
            if *len == before {
                break; // the plan is full, or the earliest record of all is later than `latest`
            }
            if next.is_some() {
                heads.advance(next);
                continue;
            }
            // At the stop. This happens once for many records.
            let was_open = lookahead.is_open;
            lookahead.set_stop();
            heads.advance(lookahead.queue.first().map(|next| next.time));
            // A record that is not framed yet could be earlier than those that are left, and the
            // other rings may be read up to `until` only once the last ring is closed.
            if lookahead.must_fill() || lookahead.is_open != was_open {
                break;
            }
        }
        *len > 0
    }

    /// Delivers the planned records. The records after a break are put back.
    pub(super) fn deliver<K, B>(
        &mut self,
        members: &mut [Member<K>],
        delivered: &mut Delivered,
        consume: &mut impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let planned = self.records.get(..self.len).unwrap_or_default();
        // The guard counts at the end, so that its only store for each record is `done`.
        let mut latest = delivered.latest;
        let mut delivery = Delivery { members, planned, done: 0, delivered, open: &mut self.open };
        while let Some(&Planned { entry: Entry { at: base, .. }, member }) = planned.get(delivery.done) {
            let Some(Member { key, ring, lookahead, .. }) = delivery.members.get_mut(member as usize) else {
                break;
            };
            let Some(events) = &lookahead.events else { break };
            let Ring { reader, event: own, redirected, .. } = ring;
            let (words, mut rest) = reader.words_from(base);
            let run = planned.get(delivery.done..).unwrap_or_default();
            for Planned { entry, .. } in run.iter().take_while(|next| next.member == member) {
                // The size of a record is not in the plan.
                let framed = words.get(entry.at.wrapping_sub(base) as usize..).unwrap_or(&[]);
                let raw = match RawRecord::split_first(framed) {
                    Ok((raw, _)) => raw,
                    Err(_) => match rest.record_at(entry.at) {
                        Ok(raw) => raw,
                        Err(error) => {
                            drop(delivery);
                            if let Some(Member { ring, lookahead, .. }) = members.get_mut(member as usize) {
                                lookahead.set_damage(&mut ring.reader, error);
                            }
                            self.restart(members);
                            return ControlFlow::Continue(());
                        }
                    },
                };
                let index = usize::from(entry.event);
                let event = match index.checked_sub(1) {
                    None => Some(&*own),
                    Some(other) => redirected.get(other),
                };
                let time = entry.time;
                // Also in one plan: a record that is too far from its place in a ring stays where
                // it is.
                let is_late = time < latest;
                latest = latest.max(time);
                delivery.done += 1;
                consume(SortedRecord { key, raw, time, is_late, event, index, events })?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// The delivery of planned records. Dropping it consumes and counts the delivered ones and puts the
/// others back, also when the callback panics.
struct Delivery<'p, K> {
    members: &'p mut [Member<K>],
    planned: &'p [Planned],
    /// Number of delivered records. The one that the callback has is among them.
    done: usize,
    delivered: &'p mut Delivered,
    open: &'p mut usize,
}

impl<K> Drop for Delivery<'_, K> {
    fn drop(&mut self) {
        let (done, rest) = self.planned.split_at_checked(self.done).unwrap_or_default();
        self.delivered.count(done.iter().map(|planned| planned.entry.time));
        for Planned { member, .. } in rest {
            if let Some(Member { lookahead, .. }) = self.members.get_mut(*member as usize) {
                lookahead.queue.put_back();
            }
        }
        *self.open = 0;
        for Member { ring, lookahead, .. } in &mut *self.members {
            lookahead.settle(&mut ring.reader);
            *self.open += usize::from(lookahead.is_open);
        }
    }
}
