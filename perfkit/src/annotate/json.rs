//! The annotation as one JSON object, as `docs/annotate-json.md` describes it.

use perf_profile::read::Metadata;
use perf_profile::{AddressSamples, EventId, Profile};
use serde_json::{Value, json};

use super::{Annotated, Style};
use crate::report::json as report;

/// Version of the schema.
const VERSION: u32 = 1;

/// Returns the annotations of functions.
pub(super) fn object(
    about: &Metadata,
    profile: &Profile,
    event: EventId,
    style: Style,
    annotated: &[Annotated<'_>],
) -> Value {
    json!({
        "version": VERSION,
        "recording": report::recording(about),
        "event": profile.event(event).map(|about| report::event_object(profile, event, about)),
        "syntax": match style {
            Style::Att => "att",
            Style::Intel => "intel",
        },
        "functions": annotated.iter().map(|annotated| function(profile, annotated)).collect::<Vec<_>>(),
        "losses": report::losses(profile.losses()),
    })
}

fn function(profile: &Profile, annotated: &Annotated<'_>) -> Value {
    let Annotated { function, annotation } = annotated;
    let locations = profile.locations();
    let object = locations.object(function.object);
    let instructions = annotation.lines.iter().map(|line| {
        let instruction = &line.instruction;
        let source = instruction.source.as_ref();
        json!({
            "address": instruction.address,
            "length": instruction.len,
            "text": instruction.text,
            "value": line.samples.value,
            "samples": line.samples.count,
            "jump": instruction.jump,
            "target": instruction.target.as_deref(),
            "file": source.map(|source| source.file.to_string_lossy()),
            "line": source.and_then(|source| source.line),
        })
    });
    let samples = |samples: AddressSamples| json!({"value": samples.value, "samples": samples.count});
    json!({
        "function": locations.string(function.name),
        "object": object.map(|object| locations.string(object.path)),
        "build_id": object.and_then(|object| object.build_id).map(|id| id.to_string()),
        "file": annotation.path.to_string_lossy(),
        "verified": annotation.evidence == perf_symbols::Evidence::BuildId,
        "total": samples(function.total),
        "outside": samples(annotation.outside),
        "instructions": instructions.collect::<Vec<_>>(),
    })
}
