//! Two software events of one kind that sample different fields. The kernel prepares one sample for
//! both.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;
mod work;

use perf_abi::{Attr, SampleType, Software, StackSize};
use perf_decode::{Record, SampleLayout};
use perf_sys::{Event, Ring, Target};
use support::open_or_skip;
use work::touch;

/// Page faults that each test makes.
const FAULTS: usize = 20;

/// Returns an attr with fixed fields only, whose samples have three words with the header.
fn plain() -> Attr {
    let attr = Attr::software(Software::PAGE_FAULTS).with_period(1);
    work::user_side(attr).with_sample_type(SampleType::IP | SampleType::TID)
}

/// Returns [`plain`] with a field that the kernel adds to the samples of both.
fn enlarging() -> [(&'static str, Attr); 3] {
    let callchain = Attr { sample_type: plain().sample_type | SampleType::CALLCHAIN, ..plain() };
    [
        ("callchain", callchain),
        ("stack", plain().with_stack_user(StackSize::new(256).unwrap())),
        ("registers", plain().with_regs_user(0b111)),
    ]
}

/// Returns the trailing bytes of each sample in the ring; all of them decode.
fn trailing(ring: &mut Ring) -> Vec<usize> {
    let layout = SampleLayout::new(ring.event().attr());
    let mut batch = ring.batch().unwrap();
    let decoded = batch.records().map(|record| record.unwrap().decode(&layout).unwrap());
    let trailing = decoded.filter_map(|record| {
        let Record::Sample(sample) = record else { return None };
        assert_ne!(sample.ip(), Some(0), "{sample}");
        assert_eq!(
            (sample.pid(), sample.tid()),
            (Some(std::process::id()), Some(support::tid())),
            "{sample}"
        );
        assert_eq!(record.trailing_len(), sample.trailing().len());
        Some(sample.trailing().len())
    });
    trailing.collect()
}

/// Opens both events in this order, makes page faults and returns the trailing bytes of the samples
/// of each. The kernel writes the sample of the event that was opened last first.
fn fault(first: &Attr, second: &Attr) -> Option<[Vec<usize>; 2]> {
    let map = |event: Event| Ring::map(event, 16).unwrap();
    let mut first = map(open_or_skip(first, Target::calling_thread())?);
    let mut second = map(open_or_skip(second, Target::calling_thread())?);
    touch(1); // the code of `touch` is mapped now
    first.event().enable().unwrap();
    second.event().enable().unwrap();
    touch(FAULTS);
    first.event().disable().unwrap();
    second.event().disable().unwrap();
    Some([trailing(&mut first), trailing(&mut second)])
}

#[test]
fn samples_enlarged_by_a_later_event_are_decoded() {
    for (name, other) in enlarging() {
        let Some([plain, other]) = fault(&plain(), &other) else { return };
        assert!(plain.len() >= FAULTS && other.len() >= FAULTS, "{name}: {plain:?} {other:?}");
        assert!(other.iter().all(|bytes| *bytes == 0), "{name}: {other:?}");
        let expected = |bytes: usize| match name {
            "stack" => bytes == 8 + 256 + 8,   // size, stack, dynamic size
            "registers" => bytes == 8 + 3 * 8, // ABI, registers
            _ => bytes >= 16,                  // number of addresses, addresses
        };
        if plain.iter().all(|bytes| *bytes == 0) {
            eprintln!("{name}: this kernel prepares a sample for each event");
        } else {
            assert!(plain.iter().all(|bytes| expected(*bytes)), "{name}: {plain:?}");
        }
    }
}

#[test]
fn a_later_event_without_those_fields_enlarges_nothing() {
    for (name, other) in enlarging() {
        let Some(trailing) = fault(&other, &plain()) else { return };
        let sound = |bytes: &Vec<usize>| bytes.len() >= FAULTS && bytes.iter().all(|bytes| *bytes == 0);
        assert!(trailing.iter().all(sound), "{name}: {trailing:?}");
    }
}
