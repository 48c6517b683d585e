//! Several software events of one kind on one thread. The kernel prepares one sample for all of
//! them.

use crate::prelude::*;

/// Returns the attr of page faults of user space, each a sample.
fn every_fault() -> Attr {
    faults().with_period(1)
}

#[test]
fn id_of_a_sample_is_certain_only_in_its_read_values() {
    let ids = SampleType::IDENTIFIER | SampleType::ID | SampleType::STREAM_ID;
    let attr = every_fault().with_sample_type(ids | SampleType::READ).with_read_format(ReadFormat::ID);
    let (Some(first), Some(last)) = (own_ring(&attr, 16), own_ring(&attr, 16)) else { return };
    let mut rings = [first, last];
    let events = rings.each_ref().map(|ring| ring.event().id().unwrap());
    during_all(&rings, || touch(10));
    for (ring, own) in rings.iter_mut().zip(events) {
        let found = samples(ring, |sample| {
            assert_eq!(sample.read().unwrap().iter().next().unwrap().id, Some(own));
            [sample.identifier(), sample.id(), sample.stream_id()]
        });
        assert!(found.len() >= 10, "{found:?}");
        // The event's own id, or on faulty kernels the id of the event that was opened last.
        let is_known = |ids: &_| [[Some(own); 3], [Some(events[1]); 3]].contains(ids);
        assert!(found.iter().all(is_known), "{found:?} of {events:?}");
    }
}

/// Page faults that each test makes.
const FAULTS: usize = 20;

/// Returns an attr with fixed fields only, whose samples have three words with the header.
fn plain() -> Attr {
    every_fault().with_sample_type(SampleType::IP | SampleType::TID)
}

/// Returns [`plain`] with a field that the kernel adds to the samples of both.
fn enlarging() -> [(&'static str, Attr); 3] {
    let mut callchain = plain();
    callchain.sample_type = plain().sample_type | SampleType::CALLCHAIN;
    [
        ("callchain", callchain),
        ("stack", plain().with_stack_user(StackSize::new(256).unwrap())),
        ("registers", plain().with_regs_user(0b111)),
    ]
}

/// Opens both events in this order, makes page faults and returns the trailing bytes of the samples
/// of each. The kernel writes the sample of the event that was opened last first.
fn fault(first: &Attr, second: &Attr) -> Option<[Vec<usize>; 2]> {
    let mut rings = [own_ring(first, 16)?, own_ring(second, 16)?];
    touch(1); // the code of `touch` is mapped now
    during_all(&rings, || touch(FAULTS));
    Some(rings.each_mut().map(|ring| {
        samples(ring, |sample| {
            assert_ne!(sample.ip(), Some(0), "{sample}");
            assert_eq!((sample.pid(), sample.tid()), (Some(std::process::id()), Some(tid())), "{sample}");
            assert_eq!(Record::Sample(sample).trailing_len(), sample.trailing().len());
            sample.trailing().len()
        })
    }))
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

fn attr(event: Software) -> Attr {
    Attr::software(event)
        .with_period(1)
        .with_sample_type(SampleType::IDENTIFIER | SampleType::TID | SampleType::TIME)
        .with_flags(AttrFlags::DISABLED | AttrFlags::SAMPLE_ID_ALL | AttrFlags::EXCLUDE_KERNEL)
}

#[test]
fn samples_with_the_id_of_a_foreign_event_are_decoded() {
    let target = Target::calling_thread();
    let Some(switches) = open_or_skip(&attr(Software::CONTEXT_SWITCHES), target) else { return };
    let mut ring = Ring::map(switches, 16).unwrap();
    ring.redirect(Event::open(&attr(Software::PAGE_FAULTS), target).unwrap()).unwrap();
    let foreign = Ring::map(Event::open(&attr(Software::PAGE_FAULTS), target).unwrap(), 16).unwrap();

    ring.events().for_each(|event| event.enable().unwrap());
    foreign.event().enable().unwrap(); // after the others, so that the kernel writes its sample first
    std::hint::black_box(vec![1_u8; 100 * 4096]);
    ring.events().chain([foreign.event()]).for_each(|event| event.disable().unwrap());

    let mut set = set_of([ring]);
    let (mut samples, mut unknown) = (0, 0);
    set.flush_sorted(|record| match record.decode().unwrap() {
        Record::Sample(sample) => {
            assert_eq!(sample.tid(), Some(tid()));
            assert_eq!(sample.time(), Some(record.time()));
            unknown += usize::from(record.event().is_none());
            samples += 1;
        }
        other => panic!("{other}"),
    })
    .unwrap();
    println!("{samples} samples, {unknown} with the id of the foreign event");
    assert!(samples >= 100, "{samples}");
}

#[test]
fn software_events_of_a_kind_may_sample_different_numbers_of_registers() {
    let target = Target::calling_thread();
    let Some(three) = open_or_skip(&every_fault().with_regs_user(0b111), target) else { return };
    let one = Event::open(&every_fault().with_regs_user(1), target).unwrap();
    assert!(three.may_overwrite_records() && one.may_overwrite_records());
}
