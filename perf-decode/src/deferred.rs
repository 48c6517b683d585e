use crate::{CallchainDeferred, Frame, Sample};
use perf_abi::CallchainContext;

/// Samples whose user callchain is still to come, joined to it by cookie (since Linux 6.19).
///
/// The kernel may put off walking the user's stack until the task returns to user space: the callchain
/// of a sample then ends in a cookie, and a later [`CallchainDeferred`] of the same task brings the rest
/// for all samples with that cookie. Some never get theirs: the task died or the ring was full.
///
/// The memory is the caller's: one place per sample that waits. A sample that finds all of them taken puts
/// another out, usually the oldest, which is handed back as it is.
///
/// ```
/// use perf_decode::{Deferred, Record};
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
/// let mut room = [None; 64];
/// let mut deferred = Deferred::new(&mut room);
/// for record in records {
///     match record {
///         // What is handed back is complete, or will not be completed any more.
///         Record::Sample(sample) => if let Some(sample) = deferred.push(sample) {
///             println!("{sample}");
///         },
///         Record::CallchainDeferred(user) => for joined in deferred.join(user) {
///             let ips: Vec<_> = joined.frames().map(|frame| frame.ip).collect();
///             assert_eq!(ips, [0xffff_1000, 0x40_1000]);
///         },
///         _ => {}
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Deferred<'m, 'a> {
    places: &'m mut [Option<Sample<'a>>],
    /// The place to look at first.
    next: usize,
    /// How many places are taken.
    waiting: usize,
    displaced: u64,
}

/// A sample and the user part of its callchain.
#[derive(Clone, Copy, Debug)]
pub struct Joined<'a> {
    /// The sample, whose own callchain ends in the cookie.
    pub sample: Sample<'a>,
    /// The record that brought the user's part.
    pub user: CallchainDeferred<'a>,
}

impl<'m, 'a> Deferred<'m, 'a> {
    /// Samples wait in `places`, which is emptied.
    pub fn new(places: &'m mut [Option<Sample<'a>>]) -> Self {
        places.fill(None);
        Self { places, next: 0, waiting: 0, displaced: 0 }
    }

    /// Makes a sample wait for the rest of its callchain.
    ///
    /// Hands back a sample that need not wait, because its callchain is complete or it has none; or another
    /// that has waited, usually the longest, if all places are taken; or nothing.
    pub fn push(&mut self, sample: Sample<'a>) -> Option<Sample<'a>> {
        if cookie(&sample).is_none() {
            return Some(sample);
        }
        if self.next >= self.places.len() {
            self.next = 0;
        }
        let at = self.free_place().unwrap_or(self.next);
        let Some(place) = self.places.get_mut(at) else {
            return Some(sample);
        };
        self.next += usize::from(at == self.next);
        let displaced = place.replace(sample);
        self.displaced += u64::from(displaced.is_some());
        self.waiting += usize::from(displaced.is_none());
        displaced
    }

    /// The next free place. A full room is not searched: it stays full for long if nothing comes to complete
    /// the samples in it.
    fn free_place(&self) -> Option<usize> {
        if self.waiting == self.places.len() {
            return None;
        }
        let mut in_turn = (self.next..self.places.len()).chain(0..self.next);
        in_turn.find(|&at| self.places.get(at).is_some_and(Option::is_none))
    }

    /// Takes out the samples that `user` completes, which have its cookie. Those not asked for stay.
    pub fn join(
        &mut self,
        user: CallchainDeferred<'a>,
    ) -> impl Iterator<Item = Joined<'a>> + use<'_, 'm, 'a> {
        let waits = move |place: &&mut Option<Sample<'a>>| {
            place.as_ref().and_then(cookie).is_some_and(|cookie| cookie == user.cookie())
        };
        let waiting = &mut self.waiting;
        let taken = self.places.iter_mut().filter(waits).filter_map(Option::take);
        taken.map(move |sample| {
            *waiting -= 1;
            Joined { sample, user }
        })
    }

    /// Takes out the samples that wait still: at the end, or when a task has died.
    pub fn rest(&mut self) -> impl Iterator<Item = Sample<'a>> + use<'_, 'm, 'a> {
        let waiting = &mut self.waiting;
        self.places.iter_mut().filter_map(Option::take).inspect(move |_| *waiting -= 1)
    }

    /// How many samples were put out for want of room.
    #[must_use]
    pub fn displaced(&self) -> u64 {
        self.displaced
    }
}

impl<'a> Joined<'a> {
    /// All frames of the callchain, innermost first: the sample's own, then the user's.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + use<'a> {
        let own = self.sample.callchain().into_iter().flat_map(|chain| chain.frames());
        let user = self.user.ips().iter().map(|ip| Frame { context: Some(CallchainContext::USER), ip: *ip });
        own.chain(user)
    }
}

fn cookie(sample: &Sample<'_>) -> Option<u64> {
    sample.callchain()?.deferred_cookie()
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Misc, RecordType, SampleType, Software};
    use std::vec::Vec;

    use super::*;
    use crate::testing::builder::{RecordBuilder, SampleBuilder};
    use crate::{RawRecord, Record, SampleLayout};

    const LAYOUT: &SampleLayout =
        &SampleLayout::new(&Attr::software(Software::DUMMY).with_sample_type(SampleType::CALLCHAIN));

    /// A sample in the kernel at `ip` that waits for `cookie`.
    fn words(ip: u64, cookie: u64) -> Vec<u64> {
        let attr = Attr::software(Software::DUMMY).with_sample_type(SampleType::CALLCHAIN);
        let chain = [CallchainContext::KERNEL.0, ip, CallchainContext::USER_DEFERRED.0, cookie];
        SampleBuilder::new(&attr).callchain(&chain).finish()
    }

    fn sample(words: &[u64]) -> Sample<'_> {
        Sample::parse(RawRecord::from_words(words).unwrap(), LAYOUT).unwrap()
    }

    /// The words of a CALLCHAIN_DEFERRED record.
    fn user_words(cookie: u64, ips: &[u64]) -> Vec<u64> {
        let record = RecordBuilder::new(RecordType::CALLCHAIN_DEFERRED, Misc::empty());
        record.words(&[cookie, ips.len() as u64]).words(ips).finish()
    }

    fn user(words: &[u64]) -> CallchainDeferred<'_> {
        match RawRecord::from_words(words).unwrap().decode(LAYOUT) {
            Ok(Record::CallchainDeferred(user)) => user,
            other => panic!("{other:?}"),
        }
    }

    /// The first address of a sample: which one it is.
    fn first(sample: &Sample<'_>) -> u64 {
        sample.callchain().unwrap()[1]
    }

    #[test]
    fn one_record_completes_all_samples_with_its_cookie() {
        let samples = [words(1, 7), words(2, 8), words(3, 7)];
        let mut room = [None; 4];
        let mut deferred = Deferred::new(&mut room);
        assert!(samples.iter().all(|words| deferred.push(sample(words)).is_none()));
        let user_words = user_words(7, &[0x40]);
        let joined: Vec<Vec<u64>> =
            deferred.join(user(&user_words)).map(|joined| joined.frames().map(|f| f.ip).collect()).collect();
        assert_eq!(joined, [[1, 0x40], [3, 0x40]]);
        assert_eq!(deferred.rest().map(|rest| first(&rest)).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn the_oldest_makes_room_and_is_handed_back() {
        let samples = [words(1, 7), words(2, 8), words(3, 9)];
        let mut room = [None; 2];
        let mut deferred = Deferred::new(&mut room);
        let back: Vec<_> = samples.iter().filter_map(|words| deferred.push(sample(words))).collect();
        assert_eq!((first(&back[0]), back.len(), deferred.displaced()), (1, 1, 1));
    }

    #[test]
    fn a_place_that_became_free_is_used_before_a_sample_is_put_out() {
        let samples = [words(1, 7), words(2, 8), words(3, 9), words(4, 9)];
        let completed = user_words(8, &[]);
        let mut room = [None; 2];
        let mut deferred = Deferred::new(&mut room);
        for words in &samples[..2] {
            assert!(deferred.push(sample(words)).is_none());
        }
        // The younger one is completed: the older one still has its place.
        assert_eq!(deferred.join(user(&completed)).count(), 1);
        assert!(deferred.push(sample(&samples[2])).is_none());
        assert_eq!(
            (deferred.push(sample(&samples[3])).map(|back| first(&back)), deferred.displaced()),
            (Some(1), 1)
        );
    }

    #[test]
    fn a_full_room_puts_out_one_for_each_that_comes() {
        let samples: Vec<_> = (1..=7).map(|cookie| words(cookie, cookie)).collect();
        let completed = user_words(2, &[]);
        let mut room = [None; 4];
        let mut deferred = Deferred::new(&mut room);
        assert!(samples[..4].iter().all(|words| deferred.push(sample(words)).is_none()));
        assert_eq!(deferred.join(user(&completed)).count(), 1);
        assert!(deferred.push(sample(&samples[4])).is_none());
        assert!(samples[5..].iter().all(|words| deferred.push(sample(words)).is_some()));
        assert_eq!((deferred.displaced(), deferred.rest().count()), (2, 4));
        assert!(deferred.push(sample(&samples[0])).is_none());
    }

    #[test]
    fn without_room_every_sample_is_handed_back() {
        let words = words(1, 7);
        assert!(Deferred::new(&mut []).push(sample(&words)).is_some());
    }
}
