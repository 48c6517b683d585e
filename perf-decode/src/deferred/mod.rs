//! Samples that are completed by a later `CALLCHAIN_DEFERRED` record.

use perf_abi::CallchainContext;

use crate::record::CallchainDeferred;
use crate::sample::{Frame, Sample};

mod table;

#[cfg(test)]
mod tests;

pub use table::DeferredSlot;
use table::Table;

/// Samples whose user callchain is deferred, joined with it by cookie (since Linux 6.19).
///
/// The kernel may defer the unwinding of the user stack until the task returns to user space. The
/// callchain of a sample then ends in a cookie, and a later [`CallchainDeferred`] of the same task
/// has the user part for all samples with that cookie. The user part of some samples never arrives,
/// because the task died or the ring was full.
///
/// The caller owns the memory. `B` is a vector, an array, a boxed or mutable slice of one
/// [`DeferredSlot`] per pending sample. When all slots are taken, a new sample evicts the oldest
/// one. All operations take constant time per sample on average, independent of the number of
/// pending samples.
///
/// ```
/// use perf_decode::{DeferredCallchains, DeferredSlot, Record};
/// # use perf_abi::{Attr, CallchainContext, Misc, RecordType, SampleType, Software};
/// # use perf_decode::{RawRecord, SampleLayout, testing::builder::{RecordBuilder, SampleBuilder}};
/// # let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::TID | SampleType::CALLCHAIN);
/// # let layout = SampleLayout::new(&attr);
/// # let chain = [CallchainContext::KERNEL.0, 0xffff_1000, CallchainContext::USER_DEFERRED.0, 77];
/// # let words = [
/// #     SampleBuilder::new(&attr).callchain(&chain).finish(),
/// #     RecordBuilder::new(RecordType::CALLCHAIN_DEFERRED, Misc::empty()).words(&[77, 1, 0x40_1000]).finish(),
/// # ];
/// # let records = [0, 1].map(|i| RawRecord::from_words(&words[i]).unwrap().decode(&layout).unwrap());
/// let mut deferred = DeferredCallchains::new([DeferredSlot::EMPTY; 64]);
/// for record in records {
///     match record {
///         // A sample that is returned is complete, or was evicted.
///         Record::Sample(sample) => if let Some(sample) = deferred.push(sample) {
///             println!("{sample}");
///         },
///         Record::CallchainDeferred(user) => for completed in deferred.join(user) {
///             let ips: Vec<_> = completed.frames().map(|frame| frame.ip).collect();
///             assert_eq!(ips, [0xffff_1000, 0x40_1000]);
///         },
///         _ => {}
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DeferredCallchains<B> {
    slots: B,
    table: Table,
    evicted: u64,
}

/// A sample and the user part of its callchain.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CompletedSample<'a> {
    /// The sample, whose own callchain ends in the cookie.
    pub sample: Sample<'a>,
    /// The record with the user part.
    pub user: CallchainDeferred<'a>,
}

impl<'a, B: AsMut<[DeferredSlot<'a>]>> DeferredCallchains<B> {
    /// Empties `slots` and keeps pending samples in them.
    pub fn new(mut slots: B) -> Self {
        let table = Table::new(slots.as_mut());
        Self { slots, table, evicted: 0 }
    }

    /// Buffers a sample until the rest of its callchain arrives.
    ///
    /// Returns `sample` itself if its callchain is complete or absent, and the oldest pending
    /// sample if all slots are taken. Returns `None` if the sample was buffered without an
    /// eviction. Without any slot every sample is returned.
    pub fn push(&mut self, sample: Sample<'a>) -> Option<Sample<'a>> {
        let Some(cookie) = sample.callchain().and_then(|chain| chain.deferred_cookie()) else {
            return Some(sample);
        };
        let slots = self.slots.as_mut();
        let sample = self.table.push(slots, cookie, sample)?;
        self.evicted += 1;
        let oldest = self.table.pop_oldest(slots);
        let unstored = self.table.push(slots, cookie, sample);
        oldest.or(unstored)
    }

    /// Removes the samples that `user` completes, oldest first.
    ///
    /// The iterator removes each sample when it yields it. The others stay if it is dropped early.
    pub fn join(
        &mut self,
        user: CallchainDeferred<'a>,
    ) -> impl Iterator<Item = CompletedSample<'a>> + use<'_, 'a, B> {
        let mut before = table::NONE;
        core::iter::from_fn(move || {
            let sample = self.table.take(self.slots.as_mut(), user.cookie(), &mut before)?;
            Some(CompletedSample { sample, user })
        })
    }

    /// Removes all pending samples, oldest first, at the end of the records or after a task has
    /// died.
    ///
    /// The iterator removes each sample when it yields it. The others stay if it is dropped early.
    pub fn rest(&mut self) -> impl Iterator<Item = Sample<'a>> + use<'_, 'a, B> {
        core::iter::from_fn(|| self.table.pop_oldest(self.slots.as_mut()))
    }

    /// Returns the number of pending samples.
    pub fn len(&self) -> usize {
        self.table.len
    }

    /// Returns whether no sample is pending.
    pub fn is_empty(&self) -> bool {
        self.table.len == 0
    }

    /// Returns the number of samples that [`push`](DeferredCallchains::push) returned incomplete
    /// because all slots were taken.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }
}

impl<'a> CompletedSample<'a> {
    /// Returns all frames of the callchain, innermost first: the frames of the sample, then the
    /// user frames.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + use<'a> {
        let own = self.sample.callchain().into_iter().flat_map(|chain| chain.frames());
        let user = self.user.ips().iter().map(|ip| Frame { context: Some(CallchainContext::USER), ip: *ip });
        own.chain(user)
    }
}
