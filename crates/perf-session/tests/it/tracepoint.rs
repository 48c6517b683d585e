//! Tracepoints by name, and their payloads by the names of fields.

use perf_session::ring::{Attr, AttrFlags, Record, Ring, SampleLayout, SampleType, Target};
use perf_session::tracepoint::{Format, PrintFormat};
use perf_session::{System, Tracefs, TracefsError};

use crate::support::event::open_or_skip;
use crate::support::{skip, skip_in_any_case};

/// Returns the mounted tracefs, or prints the reason and returns `None`.
fn tracefs() -> Option<Tracefs> {
    match Tracefs::find(&System::new()) {
        Ok(tracefs) => return Some(tracefs),
        Err(error @ TracefsError::NotMounted) => skip_in_any_case(error),
        Err(error) => skip(error),
    }
    None
}

#[test]
fn every_tracepoint_of_this_machine_is_understood() {
    let Some(tracefs) = tracefs() else { return };
    let mut understood = 0;
    for tracepoint in tracefs.matching("*:*").unwrap() {
        let format = tracepoint.format().unwrap();
        assert_eq!((format.name, format.id), (tracepoint.name(), tracepoint.id()));
        assert!(format.common.get("common_pid").is_some(), "{tracepoint}");
        let directory = tracefs.path().join("events").join(tracepoint.category()).join(tracepoint.name());
        // Other programs may remove their probes meanwhile.
        if let Ok(id) = std::fs::read_to_string(directory.join("id")) {
            assert_eq!(id.trim().parse(), Ok(tracepoint.id()), "{tracepoint}");
            understood += 1;
        }
    }
    assert!(understood > 0);
}

/// Formats with more than expressions: blocks of statements, functions of the kernel, members of
/// structs.
#[test]
fn print_formats_of_this_machine_are_understood() {
    let Some(tracefs) = tracefs() else { return };
    let tracepoints = tracefs.matching("*:*").unwrap();
    let understood =
        |text: &str| Format::parse(text).is_ok_and(|format| PrintFormat::parse(&format).is_some());
    let refused: Vec<_> =
        tracepoints.iter().filter(|tracepoint| !understood(tracepoint.format_text())).collect();
    for tracepoint in &refused {
        let text = tracepoint.format_text();
        println!("{tracepoint}: {}", text.split("print fmt: ").nth(1).unwrap_or_default());
        let is_of_addresses = ["%pI", "%pU", "%pM", "pbl", "__print_hex", "__print_array"]
            .iter()
            .any(|form| text.contains(form));
        let has_more =
            ["({", "msecs(", "__builtin_choose_expr", "(REC)"].iter().any(|form| text.contains(form));
        assert!(!is_of_addresses || has_more, "{tracepoint}");
    }
    assert!(
        refused.len() * 20 <= tracepoints.len(),
        "{} of {} are not understood",
        refused.len(),
        tracepoints.len()
    );
}

#[test]
fn payload_is_read_by_the_names_of_its_fields() {
    let Some(tracefs) = tracefs() else { return };
    let rename = match tracefs.tracepoint("task", "task_rename") {
        Ok(rename) => rename,
        Err(error) => return skip_in_any_case(error),
    };
    let sampled =
        |attr: Attr| attr.with_period(1).with_sample_type(SampleType::RAW).with_flags(AttrFlags::DISABLED);
    let spec = rename.event_spec().map_attr(sampled);
    let Some(event) = open_or_skip(&spec, Target::calling_thread()) else { return };
    let mut ring = Ring::map(event, 8).unwrap();

    ring.event().enable().unwrap();
    for name in [c"first", c"second"] {
        rustix::thread::set_name(name).unwrap();
    }
    ring.event().disable().unwrap();

    let format = rename.format().unwrap();
    let (pid, name) = (format.integer("common_pid").unwrap(), format.text("newcomm").unwrap());
    let layout = SampleLayout::new(ring.event().attr());
    let mut found = Vec::new();
    for record in ring.batch().unwrap().records() {
        let Record::Sample(sample) = record.unwrap().decode(&layout).unwrap() else { continue };
        let payload = sample.raw().unwrap();
        // In the initial pid namespace, so it may differ from the caller's.
        assert!(pid.read_i64(payload).is_some_and(|pid| pid > 0));
        found.push(String::from_utf8(name.read(payload).unwrap().to_owned()).unwrap());
    }
    assert_eq!(found, ["first", "second"]);
    assert_eq!(spec.label().to_string(), "task:task_rename");
}
