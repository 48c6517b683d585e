use core::ops::ControlFlow;

use perf_decode::RawRecord;

use super::heads::Heads;
use super::{DrainStats, Member, SortedRecord};
use crate::Ring;

/// The next records of all rings, in order.
///
/// They are chosen some at a time, before the first is delivered: both loops are short then, and the
/// callback is in only one of them.
#[derive(Debug, Default)]
pub(super) struct Plan {
    runs: Vec<Run>,
    heads: Heads,
}

/// Records of one ring that follow each other in the order of all rings.
#[derive(Clone, Copy, Debug)]
struct Run {
    member: u32,
    /// Slot of the first in the ring's queue.
    start: usize,
    count: usize,
}

/// Number of records in a plan, at most.
const RECORDS: usize = 64;

impl Plan {
    /// Starts with the rings as they are.
    pub(super) fn restart<K>(&mut self, members: &[Member<K>]) {
        self.runs.reserve(RECORDS);
        self.heads.clear();
        for (member, index) in members.iter().zip(0..) {
            if let Some(first) = member.lookahead.first() {
                self.heads.insert(first.time, index);
            }
        }
    }

    /// Takes the next records out of the lookaheads: up to those with the time `until`, and further while a
    /// ring has a record before its limit. Returns whether there are any.
    pub(super) fn make<K>(&mut self, members: &mut [Member<K>], until: Option<u64>) -> bool {
        self.runs.clear();
        let mut left = RECORDS;
        // Rings with a record before their limit.
        let mut open = members.iter().filter(|member| member.lookahead.is_open()).count();
        while left != 0 {
            let Some(index) = self.heads.first() else { break };
            let mut bound = self.heads.bound();
            if open == 0 {
                let Some(until) = until else { break };
                bound = bound.min((until, u32::MAX));
            }
            let Some(Member { lookahead, .. }) = members.get_mut(index as usize) else { break };
            let was_open = lookahead.is_open();
            let (start, count) = lookahead.take(index, bound, left);
            open -= usize::from(was_open && !lookahead.is_open());
            if count == 0 && !was_open {
                break; // the next record is later than `until`
            }
            if count != 0 {
                self.runs.push(Run { member: index, start, count });
                left -= count;
                match lookahead.first() {
                    Some(next) => self.heads.replace_first(next.time, index),
                    None => self.heads.remove_first(),
                }
            }
            if lookahead.must_fill() {
                break;
            }
        }
        !self.runs.is_empty()
    }

    /// Delivers the planned records.
    ///
    /// The records after a break are put back. Restart the plan after it, and if the kernel has
    /// overwritten a record, which is [`Flow::Overwritten`].
    pub(super) fn deliver<K, B>(
        &self,
        members: &mut [Member<K>],
        drained: &mut DrainStats,
        latest: &mut u64,
        consume: &mut impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Flow<B> {
        let mut delivery = Delivery { members, runs: &self.runs, done: 0 };
        while let Some((run, runs)) = delivery.runs.split_first() {
            let Some(Member { key, ring, lookahead, .. }) = delivery.members.get_mut(run.member as usize)
            else {
                break;
            };
            let Some(events) = lookahead.events() else { break };
            let Ring { reader, event: own, redirected, .. } = ring;
            let entries = lookahead.taken(run.start, run.count);
            let base = entries.first().map_or(0, |first| first.at);
            let (words, mut rest) = reader.words_from(base);
            for entry in entries {
                let framed = words.get(entry.at.wrapping_sub(base) as usize..).unwrap_or(&[]);
                let found = match RawRecord::split_first(framed) {
                    Ok((raw, _)) => Ok(raw),
                    Err(_) => rest.record_at(entry.at),
                };
                let raw = match found {
                    Ok(raw) => raw,
                    Err(error) => {
                        let index = run.member as usize;
                        drop(delivery);
                        if let Some(member) = members.get_mut(index) {
                            member.lookahead.set_damage(&mut member.ring.reader, error);
                        }
                        return Flow::Overwritten;
                    }
                };
                let index = usize::from(entry.event);
                let event = match index.checked_sub(1) {
                    None => Some(&*own),
                    Some(other) => redirected.get(other),
                };
                let time = entry.time;
                let is_late = time < *latest;
                drained.records += 1;
                drained.late += u64::from(is_late);
                *latest = time.max(*latest);
                delivery.done += 1;
                let record = SortedRecord { key, raw, time, is_late, event, index, events };
                if let ControlFlow::Break(value) = consume(record) {
                    return Flow::Break(value);
                }
            }
            (delivery.runs, delivery.done) = (runs, 0);
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
    /// The runs that are not delivered.
    runs: &'p [Run],
    /// Delivered records of the first of them.
    done: usize,
}

impl<K> Drop for Delivery<'_, K> {
    fn drop(&mut self) {
        for run in self.runs {
            if let Some(member) = self.members.get_mut(run.member as usize) {
                member.lookahead.put_back(run.count - self.done);
            }
            self.done = 0;
        }
        for Member { ring, lookahead, .. } in &mut *self.members {
            lookahead.settle(&mut ring.reader);
        }
    }
}
