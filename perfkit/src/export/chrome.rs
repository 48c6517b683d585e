//! Trace events with the fields of tracepoints.

use std::io::{self, Write};

use perf_profile::{Arguments, Chrome, Sample};
use perf_tracepoint::{Field, Value};

use super::Exported;
use crate::recording::machine_lines;

/// Writes the samples of all events as trace events.
pub(super) fn write(exported: &mut Exported<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Exported { profile, about, payloads, .. } = exported;
    let tracepoints = about.tracepoints();
    // The attr and the fields of each event of the profile: events with equal names are of the same
    // tracepoint.
    let events: Vec<_> = profile
        .events()
        .iter()
        .map(|event| {
            let (_, attr) = about.events().find(|(name, _)| *name == event.name)?;
            Some((attr, tracepoints.find(attr)?.fields.iter().collect::<Vec<_>>()))
        })
        .collect();
    let add = |sample: &Sample, arguments: &mut Arguments<'_>| {
        let event = events.get(sample.event.index()).and_then(Option::as_ref);
        let (Some((attr, fields)), Some(time)) = (event, sample.time) else { return };
        let Some(thread) = profile.thread(sample.thread) else { return };
        let raw = payloads.take(attr, thread, time).unwrap_or_default();
        for field in fields {
            add_field(arguments, field, raw);
        }
    };
    machine_lines(about).fold(Chrome::new(), Chrome::with_comment).write_with(profile, add, out)
}

fn add_field(arguments: &mut Arguments<'_>, field: &Field<'_>, raw: &[u8]) {
    match field.value(raw) {
        Value::Signed(number) => arguments.number(field.name, number),
        Value::Unsigned(number) => arguments.number(field.name, number),
        Value::Text(text) => arguments.text(field.name, &String::from_utf8_lossy(text)),
        // An address is text, because a floating-point number does not represent all of them.
        value => arguments.text(field.name, &value.to_string()),
    }
}
