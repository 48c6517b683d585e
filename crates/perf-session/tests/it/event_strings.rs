//! Events of this machine by string: they open, and count what they should.

use std::sync::atomic::{AtomicU32, Ordering};

use perf_session::ring::{AttrFlags, Count, Event, EventType, Target};
use perf_session::{EventSpec, Pmu, System, Tracefs, TracefsError, catalog, parse, parse_event};

use crate::support::event::open_or_skip;
use crate::support::{skip, skip_in_any_case};

/// Returns the event of a string, which has one PMU.
fn spec(text: &str) -> EventSpec {
    let event = parse_event(text, &System::new()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(event.specs().len(), 1, "{text}");
    event.specs()[0].clone().map_attr(|attr| attr.with_flags(AttrFlags::DISABLED))
}

/// Opens the event of a string for this thread, or prints the reason and returns `None`.
fn open(text: &str) -> Option<Event> {
    open_or_skip(&spec(text), Target::calling_thread())
}

#[test]
fn every_software_event_opens_by_each_of_its_names() {
    for event in catalog::SOFTWARE {
        for name in event.names {
            let Some(opened) = open(name) else { continue };
            assert_eq!((opened.attr().kind, opened.attr().config), (EventType::SOFTWARE, event.event.0));
            opened.enable().unwrap();
            Count::read(&opened).unwrap();
        }
    }
}

#[test]
fn breakpoint_counts_each_store_to_its_address() {
    static WATCHED: AtomicU32 = AtomicU32::new(0);
    let address = std::ptr::from_ref(&WATCHED).addr();
    let Some(event) = open(&format!("mem:{address:#x}/4:w:u")) else { return };
    WATCHED.store(1, Ordering::SeqCst);
    event.enable().unwrap();
    for value in 0..100 {
        WATCHED.store(value, Ordering::SeqCst);
    }
    event.disable().unwrap();
    WATCHED.store(2, Ordering::SeqCst);
    assert_eq!(Count::read(&event).unwrap().value, 100);
}

#[test]
fn time_stamp_counter_advances() {
    match Pmu::named(&System::new(), "msr").map(|msr| msr.event("tsc")) {
        Ok(Ok(Some(_))) => {}
        other => return skip_in_any_case(format!("no msr/tsc/: {other:?}")),
    }
    let Some(event) = open("msr/tsc/") else { return };
    event.enable().unwrap();
    let first = Count::read(&event).unwrap().value;
    // One more read is enough; a counter that stands still must not hang the test.
    assert!((0..1 << 20).any(|_| Count::read(&event).unwrap().value > first));
}

#[test]
fn tracepoint_has_the_number_of_its_file() {
    let system = System::new();
    let tracefs = match Tracefs::find(&system) {
        Ok(tracefs) => tracefs,
        Err(error @ TracefsError::NotMounted) => return skip_in_any_case(error),
        Err(error) => return skip(error),
    };
    let groups = parse("{sched:sched_switch,sched:sched_wakeup}:u", &system).unwrap();
    let ids = groups[0].members().iter().map(|event| event.specs()[0].attr().config);
    let read = |name| {
        let file = tracefs.path().join("events/sched").join(name).join("id");
        std::fs::read_to_string(file).unwrap().trim().parse::<u64>().unwrap()
    };
    assert!(ids.eq(["sched_switch", "sched_wakeup"].map(read)));
}
