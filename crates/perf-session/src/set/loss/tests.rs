//! Losses of made-up rings.

use perf_ring::{Attr, AttrFlags, RawRecord, RecordType, SampleLayout, SampleType, Software};

use super::*;

/// Returns the attr of an event whose records end with their time and id.
fn layout() -> SampleLayout {
    let attr = Attr::software(Software::DUMMY).with_sample_type(SampleType::TIME | SampleType::IDENTIFIER);
    SampleLayout::new(&attr.with_flags(AttrFlags::SAMPLE_ID_ALL))
}

/// Returns the words of a record with these words in its body, written at `time`.
fn record(kind: RecordType, body: &[u64], time: u64) -> Vec<u64> {
    let size = (1 + body.len() as u64 + 2) * 8;
    let header = if cfg!(target_endian = "little") {
        u64::from(kind.0) | size << 48
    } else {
        u64::from(kind.0) << 32 | size
    };
    let mut words = vec![header];
    words.extend(body);
    words.extend([time, 77]); // time, identifier
    words
}

/// A ledger with the ring of CPU 5.
fn ledger() -> (LossLedger, RingKey) {
    let mut ledger = LossLedger::default();
    let scope = Scope::cpu(5);
    let key = ledger.add_ring(scope);
    (ledger, key)
}

fn note(ledger: &mut LossLedger, key: RingKey, words: &[u64]) {
    ledger.note_record(key, RawRecord::from_words(words).unwrap(), &layout(), Some("faults".into()));
}

fn rows(ledger: &LossLedger) -> Vec<(LossKind, u64, Option<u64>, Option<u64>)> {
    ledger.losses().map(|loss| (loss.kind, loss.amount, loss.from, loss.to)).collect()
}

#[test]
fn new_ledger_has_lost_nothing() {
    let (ledger, _) = ledger();
    assert_eq!(ledger.nothing_lost(), Ok(()));
    assert_eq!(ledger.to_string(), "nothing was lost");
}

#[test]
fn losses_are_between_the_record_before_and_the_record_that_reports_them() {
    let (mut ledger, key) = ledger();
    note(&mut ledger, key, &record(RecordType::SWITCH, &[], 100));
    note(&mut ledger, key, &record(RecordType::LOST, &[77, 30], 250)); // id, lost
    note(&mut ledger, key, &record(RecordType::SWITCH, &[], 300));
    note(&mut ledger, key, &record(RecordType::LOST, &[77, 4], 420));
    assert_eq!(rows(&ledger), [(LossKind::Lost, 34, Some(100), Some(420))]);
    let loss = ledger.losses().next().unwrap();
    assert_eq!(loss.event, None, "the id is not that of the event that lost them");
    assert_eq!(
        ledger.to_string(),
        "CPU 5: 34 records dropped by the kernel, reported in the ring, between 100 and 420 ns"
    );
}

#[test]
fn samples_that_the_pmu_lost_are_of_their_event() {
    let (mut ledger, key) = ledger();
    note(&mut ledger, key, &record(RecordType::LOST_SAMPLES, &[9], 50));
    assert_eq!(rows(&ledger), [(LossKind::LostSamples, 9, None, Some(50))]);
    assert_eq!(ledger.losses().next().unwrap().event, Some("faults".into()));
    assert_eq!(ledger.to_string(), "CPU 5: faults: 9 samples lost by the PMU, before 50 ns");
}

#[test]
fn throttling_lasts_from_throttle_to_unthrottle() {
    let (mut ledger, key) = ledger();
    let body = |time| [time, 77, 78]; // time, id, stream id
    note(&mut ledger, key, &record(RecordType::THROTTLE, &body(1_000), 1_000));
    note(&mut ledger, key, &record(RecordType::UNTHROTTLE, &body(5_000), 5_000));
    assert_eq!(rows(&ledger), [(LossKind::Throttled, 1, Some(1_000), Some(5_000))]);
}

#[test]
fn unthrottling_alone_is_no_loss() {
    let (mut ledger, key) = ledger();
    note(&mut ledger, key, &record(RecordType::UNTHROTTLE, &[5_000, 77, 78], 5_000));
    assert_eq!(ledger.nothing_lost(), Ok(()));
}

#[test]
fn truncated_and_colliding_traces_are_losses_and_others_are_not() {
    let (mut ledger, key) = ledger();
    for (flags, time) in [(0, 10), (1, 20), (2, 30), (4, 40), (8, 50)] {
        // aux_offset, aux_size, flags: none, TRUNCATED, OVERWRITE, PARTIAL, COLLISION
        note(&mut ledger, key, &record(RecordType::AUX, &[0, 4096, flags], time));
    }
    let expected =
        [(LossKind::AuxTruncated, 2, Some(10), Some(40)), (LossKind::AuxCollision, 1, Some(40), Some(50))];
    assert_eq!(rows(&ledger), expected);
}

#[test]
fn record_of_a_loss_that_is_truncated_is_damaged() {
    let (mut ledger, key) = ledger();
    note(&mut ledger, key, &record(RecordType::LOST, &[], 250)); // without id and number
    assert_eq!(rows(&ledger), [(LossKind::Damaged, 24, None, None)], "no scope for a time");
}

#[test]
fn damage_is_noted_once() {
    let (mut ledger, key) = ledger();
    note(&mut ledger, key, &record(RecordType::SWITCH, &[], 100));
    let mut damage = SkippedBytes::default();
    (damage.count, damage.bytes) = (1, 64);
    ledger.note_damage(key, damage);
    ledger.note_damage(key, damage);
    (damage.count, damage.bytes) = (2, 72);
    ledger.note_damage(key, damage);
    assert_eq!(rows(&ledger), [(LossKind::Damaged, 72, Some(100), None)]);
}

#[test]
fn read_losses_include_the_reported_ones() {
    let (mut ledger, key) = ledger();
    note(&mut ledger, key, &record(RecordType::SWITCH, &[], 100));
    note(&mut ledger, key, &record(RecordType::LOST, &[77, 30], 250));
    assert_eq!(ledger.dropped(), 30);
    let thread = Scope::thread(7).on_cpu(5);
    ledger.set_read_lost([(thread, "faults".into(), 20), (thread, "faults".into(), 21)].into_iter());
    assert_eq!((ledger.dropped(), ledger.amount(LossKind::ReadLost)), (41, 41));
    ledger.set_read_lost([(thread, "faults".into(), 41)].into_iter());
    assert_eq!(ledger.amount(LossKind::ReadLost), 41, "the same losses");
    ledger.set_read_lost([(thread, "faults".into(), 50)].into_iter());
    assert_eq!(rows(&ledger)[1], (LossKind::ReadLost, 50, Some(100), None));
}

#[test]
fn gap_is_a_loss_until_it_ends_and_after() {
    let (mut ledger, key) = ledger();
    ledger.open_gap(key.scope(), 10);
    ledger.open_gap(key.scope(), 20);
    assert_eq!(ledger.gaps(), [Gap { scope: key.scope(), from: 10, to: None }]);
    ledger.close_gap(key.scope(), 30);
    assert_eq!(ledger.gaps(), [Gap { scope: key.scope(), from: 10, to: Some(30) }]);
    ledger.open_gap(key.scope(), 40);
    assert_eq!((ledger.gaps().len(), ledger.amount(LossKind::Gap)), (2, 2));
    let report = ledger.nothing_lost().unwrap_err();
    assert!(report.to_string().ends_with("CPU 5: no events after 40 ns of CLOCK_MONOTONIC, and still none"));
}

#[test]
fn gap_is_at_most_the_time_between_what_is_known() {
    let scope = Scope::cpu(5);
    assert_eq!(Gap { scope, from: 10, to: Some(30) }.at_most(), Some(20));
    assert_eq!(Gap { scope, from: 10, to: None }.at_most(), None);
}

#[test]
fn last_time_of_a_scope_is_that_of_its_current_ring() {
    let (mut ledger, key) = ledger();
    assert_eq!(ledger.last_time(key.scope()), None);
    note(&mut ledger, key, &record(RecordType::SWITCH, &[], 100));
    assert_eq!(ledger.last_time(key.scope()), Some(100));
    ledger.end_ring(key.scope());
    ledger.add_ring(key.scope());
    assert_eq!(ledger.last_time(key.scope()), None);
}

#[test]
fn late_records_are_no_loss() {
    let mut ledger = ledger().0;
    let late =
        || Loss { scope: Scope::cpu(0), event: None, kind: LossKind::Late, amount: 3, from: None, to: None };
    ledger.losses.insert(Key { scope: Scope::cpu(0), event: None, kind: LossKind::Late }, late());
    assert_eq!(ledger.nothing_lost(), Ok(()));
    assert_eq!(ledger.to_string(), "CPU 0: 3 records delivered late");
}

#[test]
fn losses_of_an_event_outside_of_the_set_are_its_last_total() {
    let mut ledger = LossLedger::default();
    ledger.note_read_lost(Scope::cpu(1), "output".into(), 0);
    assert_eq!(ledger.nothing_lost(), Ok(()));
    for total in [3, 3, 10] {
        ledger.note_read_lost(Scope::cpu(1), "output".into(), total);
    }
    ledger.note_read_lost(Scope::cpu(2), "output".into(), 4);
    assert_eq!(rows(&ledger), [(LossKind::ReadLost, 10, None, None), (LossKind::ReadLost, 4, None, None)]);
    assert_eq!(ledger.dropped(), 14);
}
