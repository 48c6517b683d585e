//! Software events of one kind that sample registers. Two different numbers of them would make the kernel
//! overwrite unread records.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;
mod work;

use perf_abi::{Attr, Software};
use perf_sys::{Error, Event, Ring, Target};
use support::open_or_skip;
use work::user_side;

fn faults(registers: u64) -> Attr {
    user_side(Attr::software(Software::PAGE_FAULTS).with_period(1)).with_regs_user(registers)
}

#[test]
fn software_event_with_other_registers_is_refused_while_one_is_open() {
    let target = Target::calling_thread();
    let Some(event) = open_or_skip(&faults(0b111), target) else { return };
    let ring = Ring::map(event, 1).unwrap();
    let refused = Error::Registers { kind: Software::PAGE_FAULTS, expected: 3, found: 1 };
    assert_eq!(Event::open(&faults(1), target).unwrap_err(), refused);
    assert!(Event::open(&faults(0b1101), target).is_ok(), "as many");
    assert!(Event::open(&faults(1).with_period(0), target).is_ok(), "it does not sample");

    let event = ring.event().clone();
    drop(ring);
    assert_eq!(Event::open(&faults(1), target).unwrap_err(), refused, "the event is still open");
    drop(event);
    assert!(Event::open(&faults(1), target).is_ok());
    let failed = Event::open(&faults(0b11), Target::thread(i32::MAX.unsigned_abs()));
    assert!(failed.is_err_and(|error| error.errno().is_some()), "no such thread");
    assert!(Event::open(&faults(1), target).is_ok(), "the failed call keeps nothing");
}
