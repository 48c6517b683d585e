//! The ledger of losses, on a live ring that overflows.

#[allow(dead_code)] // its `main`
#[path = "../../examples/loss_ledger.rs"]
mod loss_ledger;

use std::ops::ControlFlow;
use std::time::Duration;

use crate::support::set::{open_or_skip, skip_tracepoint, software, switch, switches};
use crate::support::skip;
use perf_session::ring::{RecordType, Software};
use perf_session::{EventSetOptions, EventSetTarget, LossKind, Scope, TracefsError};

#[test]
fn every_record_is_delivered_or_in_the_ledger() {
    let outcome = match loss_ledger::run(Duration::from_secs(2), 1) {
        Ok(outcome) => outcome,
        Err(refused) => {
            return match refused.downcast_ref::<TracefsError>() {
                Some(error) => skip_tracepoint(error),
                None => skip(refused),
            };
        }
    };
    println!("{outcome}");
    assert!(outcome.is_exact(), "{outcome}");
    assert!(outcome.delivered > 0 && outcome.ledger.dropped() > 0, "{outcome}");
    let losses = outcome.ledger.nothing_lost().unwrap_err();
    assert!(losses.losses.iter().any(|loss| loss.kind == LossKind::ReadLost), "{losses}");
    // The reported ones have the time span in which they were lost.
    let reported = losses.losses.iter().find(|loss| loss.kind == LossKind::Lost).unwrap();
    assert!(reported.from < reported.to && reported.from.is_some(), "{reported:?}");
}

/// Returns a set with a ring of a page that has overflowed, and its number of switches.
fn overflowed() -> Option<(perf_session::EventSet, u64)> {
    let options =
        EventSetOptions::new().event(switches()).target(EventSetTarget::calling_thread()).ring_pages(1);
    let mut set = open_or_skip(options)?;
    set.enable().unwrap();
    switch(2000);
    set.disable().unwrap();
    let total = set.counts().unwrap().get(0).unwrap().total().value;
    Some((set, total))
}

#[test]
fn losses_after_the_last_record_are_read_from_the_event() {
    let Some((mut set, total)) = overflowed() else { return };
    if !set.reads_lost() {
        return eprintln!("skipped: Linux before 6.0");
    }
    let mut delivered = 0;
    set.flush_sorted(|_| delivered += 1).unwrap();
    let ledger = set.losses().unwrap();
    assert_eq!(ledger.amount(LossKind::Lost), 0, "no record fitted after the losses");
    assert_eq!(delivered + ledger.dropped(), total);
    assert!(ledger.nothing_lost().is_err());
}

#[test]
fn unread_records_of_a_closed_set_are_discarded() {
    let Some((set, total)) = overflowed() else { return };
    let reads_lost = set.reads_lost();
    let ledger = set.close().unwrap();
    let discarded = ledger.amount(LossKind::Discarded);
    assert!(discarded > 0);
    if reads_lost {
        assert_eq!(discarded + ledger.dropped(), total);
    }
}

#[test]
fn records_that_were_left_after_a_break_are_not_lost() {
    let options =
        EventSetOptions::new().event(switches()).target(EventSetTarget::calling_thread()).ring_pages(8);
    let Some(mut set) = open_or_skip(options) else { return };
    set.enable().unwrap();
    switch(20);
    set.disable().unwrap();
    let mut read = 0;
    while read == 0 {
        let (_, end) = set
            .try_drain_sorted(|_| {
                read += 1;
                ControlFlow::Break(())
            })
            .unwrap();
        if end.is_continue() {
            set.wait(crate::support::set::PATIENCE).unwrap(); // until the records are old enough
        }
    }
    let (_, end) = set
        .try_flush_sorted(|_| {
            read += 1;
            if read < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break("the fifth") }
        })
        .unwrap();
    assert_eq!((end, read), (ControlFlow::Break("the fifth"), 5));
    let (_, end) = set
        .try_flush_sorted(|_| {
            read += 1;
            ControlFlow::<()>::Continue(())
        })
        .unwrap();
    assert_eq!((end, read), (ControlFlow::Continue(()), set.counts().unwrap().get(0).unwrap().total().value));
    assert!(set.losses().unwrap().nothing_lost().is_ok());
}

#[test]
fn samples_and_lost_records_of_each_event_add_up_to_its_count() {
    // Two events in one ring, with one sample for each count.
    let faults = software(Software::PAGE_FAULTS).map_attr(|attr| attr.with_period(1));
    let options =
        EventSetOptions::new().events([switches(), faults]).target(EventSetTarget::calling_thread());
    let Some(mut set) = open_or_skip(options.ring_pages(1)) else { return };
    if !set.reads_lost() {
        assert_eq!(set.lost_by_event().unwrap(), []);
        return eprintln!("skipped: Linux before 6.0");
    }
    set.enable().unwrap();
    for _ in 0..20 {
        switch(100);
        std::hint::black_box(vec![1_u8; 1 << 20]);
    }
    set.disable().unwrap();
    let ids: Vec<u64> = set.events().map(|event| event.event.id().unwrap()).collect();
    let mut samples = [0; 2];
    set.flush_sorted(|record| {
        if record.raw().kind() == RecordType::SAMPLE {
            samples[record.index().unwrap()] += 1;
        }
    })
    .unwrap();
    let (lost, counts) = (set.lost_by_event().unwrap(), set.counts().unwrap());
    assert_eq!(lost.iter().map(|event| event.id).collect::<Vec<u64>>(), ids);
    for (index, event) in lost.iter().enumerate() {
        assert_eq!((event.index, event.scope), (index, Scope::thread(crate::support::set::tid())));
        assert!(event.lost > 0);
        assert_eq!(samples[index] + event.lost, counts.get(index).unwrap().total().value);
    }
    assert_eq!(lost.iter().map(|event| event.lost).sum::<u64>(), set.ledger().dropped());
}
