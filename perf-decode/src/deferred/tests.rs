//! Samples that are completed, expire or are evicted.

use perf_abi::{Attr, Misc, RecordType, SampleType, Software};
use std::vec::Vec;

use super::*;
use crate::layout::SampleLayout;
use crate::raw::RawRecord;
use crate::record::Record;
use crate::testing::builder::{RecordBuilder, SampleBuilder};

const LAYOUT: &SampleLayout =
    &SampleLayout::new(&Attr::software(Software::DUMMY).with_sample_type(SampleType::CALLCHAIN));

/// Returns a sample in the kernel at `ip`, deferred with `cookie`.
fn words(ip: u64, cookie: u64) -> Vec<u64> {
    let attr = Attr::software(Software::DUMMY).with_sample_type(SampleType::CALLCHAIN);
    let chain = [CallchainContext::KERNEL.0, ip, CallchainContext::USER_DEFERRED.0, cookie];
    SampleBuilder::new(&attr).callchain(&chain).finish()
}

fn sample(words: &[u64]) -> Sample<'_> {
    Sample::parse(RawRecord::from_words(words).unwrap(), LAYOUT).unwrap()
}

/// Returns the record with the user part of callchains that have this cookie.
fn user_part(cookie: u64, ips: &[u64]) -> CallchainDeferred<'static> {
    let record = RecordBuilder::new(RecordType::CALLCHAIN_DEFERRED, Misc::empty());
    let words = record.words(&[cookie, ips.len() as u64]).words(ips).finish().leak();
    match RawRecord::from_words(words).unwrap().decode(LAYOUT) {
        Ok(Record::CallchainDeferred(user)) => user,
        other => panic!("expected a deferred callchain, found {other:?}"),
    }
}

/// Returns the first address of a sample, which identifies it in these tests.
fn first(sample: &Sample<'_>) -> u64 {
    sample.callchain().unwrap()[1]
}

#[test]
fn one_record_completes_all_samples_with_its_cookie() {
    let samples = [words(1, 7), words(2, 8), words(3, 7)];
    let mut deferred = DeferredCallchains::new([DeferredSlot::EMPTY; 4]);
    assert!(samples.iter().all(|words| deferred.push(sample(words)).is_none()));
    let user = user_part(7, &[0x40]);
    let joined: Vec<Vec<u64>> =
        deferred.join(user).map(|joined| joined.frames().map(|f| f.ip).collect()).collect();
    assert_eq!(joined, [[1, 0x40], [3, 0x40]]);
    assert_eq!(deferred.rest().map(|rest| first(&rest)).collect::<Vec<_>>(), [2]);
}

#[test]
fn the_oldest_sample_is_evicted_and_returned() {
    let samples = [words(1, 7), words(2, 8), words(3, 9)];
    let mut deferred = DeferredCallchains::new([DeferredSlot::EMPTY; 2]);
    let back: Vec<_> = samples.iter().filter_map(|words| deferred.push(sample(words))).collect();
    assert_eq!((first(&back[0]), back.len(), deferred.evicted()), (1, 1, 1));
}

#[test]
fn a_slot_that_became_free_is_used_before_a_sample_is_evicted() {
    let samples = [words(1, 7), words(2, 8), words(3, 9), words(4, 9)];
    let mut deferred = DeferredCallchains::new([DeferredSlot::EMPTY; 2]);
    for words in &samples[..2] {
        assert!(deferred.push(sample(words)).is_none());
    }
    // The newer one is completed, the older one stays.
    assert_eq!(deferred.join(user_part(8, &[])).count(), 1);
    assert!(deferred.push(sample(&samples[2])).is_none());
    assert_eq!(
        (deferred.push(sample(&samples[3])).map(|back| first(&back)), deferred.evicted()),
        (Some(1), 1)
    );
}

#[test]
fn full_slots_evict_a_sample_for_each_new_one() {
    let samples: Vec<_> = (1..=7).map(|cookie| words(cookie, cookie)).collect();
    let mut deferred = DeferredCallchains::new([DeferredSlot::EMPTY; 4]);
    assert!(samples[..4].iter().all(|words| deferred.push(sample(words)).is_none()));
    assert_eq!(deferred.join(user_part(2, &[])).count(), 1);
    assert!(deferred.push(sample(&samples[4])).is_none());
    assert!(samples[5..].iter().all(|words| deferred.push(sample(words)).is_some()));
    assert_eq!((deferred.evicted(), deferred.rest().count()), (2, 4));
    assert!(deferred.push(sample(&samples[0])).is_none());
}

#[test]
fn without_slots_every_sample_is_returned() {
    let words = words(1, 7);
    assert!(DeferredCallchains::new([]).push(sample(&words)).is_some());
}

fn user(cookie: u64) -> CallchainDeferred<'static> {
    user_part(cookie, &[0x40])
}

#[test]
fn complete_samples_are_returned_at_once() {
    let attr = Attr::software(Software::DUMMY).with_sample_type(SampleType::CALLCHAIN);
    let complete = SampleBuilder::new(&attr).callchain(&[CallchainContext::USER.0, 9]).finish();
    let mut deferred = DeferredCallchains::new([DeferredSlot::EMPTY; 2]);
    assert_eq!(deferred.push(sample(&complete)).map(|sample| first(&sample)), Some(9));
    assert_eq!((deferred.len(), deferred.evicted()), (0, 0));
}

#[test]
fn joined_frames_have_the_user_context() {
    let words = words(1, 7);
    let mut deferred = DeferredCallchains::new([DeferredSlot::EMPTY; 2]);
    assert!(deferred.push(sample(&words)).is_none());
    let completed = deferred.join(user(7)).next().unwrap();
    let frames: Vec<_> = completed.frames().map(|frame| (frame.context, frame.ip)).collect();
    assert_eq!(frames, [(Some(CallchainContext::KERNEL), 1), (Some(CallchainContext::USER), 0x40)]);
    assert_eq!(CallchainContext::USER.0, 512_u64.wrapping_neg());
}

#[test]
fn an_iterator_left_early_leaves_the_other_samples() {
    let samples: Vec<_> = (1..=6).map(|ip| words(ip, ip % 2)).collect();
    let mut deferred = DeferredCallchains::new([DeferredSlot::EMPTY; 6]);
    assert!(samples.iter().all(|words| deferred.push(sample(words)).is_none()));
    assert_eq!(deferred.join(user(1)).next().map(|completed| first(&completed.sample)), Some(1));
    assert_eq!(deferred.rest().next().map(|sample| first(&sample)), Some(2));
    assert_eq!((deferred.len(), deferred.is_empty(), deferred.evicted()), (4, false, 0));
    let joined: Vec<_> = deferred.join(user(1)).map(|completed| first(&completed.sample)).collect();
    assert_eq!(joined, [3, 5]);
    assert_eq!(deferred.rest().map(|sample| first(&sample)).collect::<Vec<_>>(), [4, 6]);
    assert!(deferred.is_empty());
}

#[test]
fn reused_slots_are_emptied() {
    let samples = [words(1, 7), words(2, 8)];
    let mut slots = [DeferredSlot::EMPTY; 2];
    let mut deferred = DeferredCallchains::new(&mut slots[..]);
    assert!(samples.iter().all(|words| deferred.push(sample(words)).is_none()));
    let mut deferred = DeferredCallchains::new(&mut slots[..]);
    assert!(deferred.is_empty() && deferred.join(user(7)).next().is_none());
    assert!(samples.iter().all(|words| deferred.push(sample(words)).is_none()));
    assert_eq!(deferred.len(), 2);
}

#[test]
fn samples_agree_with_a_plain_list() {
    let samples: Vec<_> = (0..400).map(|ip| words(ip, ip * ip % 23)).collect();
    for slots in [1, 2, 7, 64] {
        let mut deferred = DeferredCallchains::new(std::vec![DeferredSlot::EMPTY; slots]);
        let (mut list, mut evicted) = (Vec::new(), 0);
        for (ip, words) in (0..).zip(&samples) {
            let oldest = (list.len() == slots).then(|| list.remove(0));
            evicted += u64::from(oldest.is_some());
            list.push(ip);
            assert_eq!(deferred.push(sample(words)).map(|sample| first(&sample)), oldest);
            if ip % 5 == 4 {
                let (cookie, count) = (ip % 23, ip as usize % 4);
                let same: Vec<u64> =
                    list.iter().copied().filter(|ip| ip * ip % 23 == cookie).take(count).collect();
                list.retain(|ip| !same.contains(ip));
                let joined = deferred.join(user(cookie)).take(count);
                assert_eq!(joined.map(|completed| first(&completed.sample)).collect::<Vec<_>>(), same);
            }
            assert_eq!((deferred.len(), deferred.evicted()), (list.len(), evicted));
        }
        assert_eq!(deferred.rest().map(|sample| first(&sample)).collect::<Vec<_>>(), list);
    }
}
