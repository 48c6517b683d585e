//! Samples as JSON lines.

use std::fmt::Write as _;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::json_text::{Optional, Text};
use crate::profile::{LocationId, Locations, Profile};

/// Writes each sample as a JSON object on its own line, for DuckDB, jq and scripts.
///
#[doc = include_str!("../../docs/json.md")]
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{Event, JsonLines, Locations, ProfileBuilder};
///
/// let mut locations = Locations::new();
/// let address = locations.add(None, 0x1234);
/// let mut builder = ProfileBuilder::new();
/// let event = builder.event(Event::new("page-faults", &Attr::software(Software::PAGE_FAULTS)));
/// let thread = builder.thread(7, 7, locations.intern("sort"));
/// let stack = builder.stack(&[address]);
/// builder.sample(event, thread, stack, 3);
/// let profile = builder.finish(locations);
///
/// let mut text = Vec::new();
/// JsonLines::new().write(&profile, &mut text)?;
/// assert!(text.starts_with(br#"{"version":1,"event":"page-faults","unit":"count","pid":7,"tid":7,"comm":"sort","cgroup":null,"#));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct JsonLines {}

/// Version of the schema in `docs/json.md`.
const VERSION: u32 = 1;

impl JsonLines {
    /// Creates a writer of version 1 of the schema.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes the lines.
    ///
    /// # Errors
    ///
    /// Writing to `out` failed.
    pub fn write(&self, profile: &Profile, mut out: impl Write) -> io::Result<()> {
        let locations = profile.locations();
        let events: Vec<_> = profile
            .events()
            .iter()
            .map(|event| format!("\"event\":{},\"unit\":{}", Text(&event.name), Text(event.unit.as_str())))
            .collect();
        // The texts of locations, which most samples share.
        let mut frames: FxHashMap<LocationId, String> = FxHashMap::default();
        let mut line = String::new();
        for sample in profile.samples() {
            let event = events.get(sample.event.index()).map_or("", |event| event);
            let (pid, tid) = profile.thread(sample.thread).map_or((0, 0), |thread| (thread.pid, thread.tid));
            let (comm, time, cpu) =
                (Text(profile.thread_name(sample.thread)), Optional(sample.time), Optional(sample.cpu));
            let cgroup = Optional(profile.cgroup(sample.thread).map(Text));
            let (value, count) = (sample.value, sample.count);
            line.clear();
            let written = write!(
                line,
                "{{\"version\":{VERSION},{event},\"pid\":{pid},\"tid\":{tid},\"comm\":{comm},\"cgroup\":{cgroup},\"time\":{time},\
                 \"cpu\":{cpu},\"value\":{value},\"count\":{count},\"frames\":["
            );
            written.map_err(io::Error::other)?;
            for (index, location) in profile.stack(sample.stack).enumerate() {
                if index > 0 {
                    line.push(',');
                }
                line.push_str(frames.entry(location).or_insert_with(|| frames_of(locations, location)));
            }
            line.push_str("]}\n");
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}

/// Returns the frames of a location as list elements.
fn frames_of(locations: &Locations, id: LocationId) -> String {
    let location = locations.get(id);
    let object = location.object.and_then(|object| locations.object(object));
    let object = Optional(object.map(|object| Text(locations.string(object.path))));
    let (address, is_kernel) = (location.address, location.is_kernel);
    let frame = |function: Option<&str>,
                 file: Option<&str>,
                 line: u32,
                 column: u16,
                 index: usize,
                 len: usize| {
        let (is_inlined, is_unnamed) =
            (index + 1 < len, function.is_none() || locations.is_unnamed(id, index));
        let (function, file) = (Optional(function.map(Text)), Optional(file.map(Text)));
        let (line, column) = (Optional((line > 0).then_some(line)), Optional((column > 0).then_some(column)));
        format!(
            "{{\"function\":{function},\"unnamed\":{is_unnamed},\"object\":{object},\"address\":\"{address:#x}\",\"file\":{file},\
             \"line\":{line},\"column\":{column},\"inlined\":{is_inlined},\"kernel\":{is_kernel}}}"
        )
    };
    let frames = locations.frames(id);
    if frames.is_empty() {
        return frame(None, None, 0, 0, 0, 0);
    }
    let texts = frames.iter().enumerate().map(|(index, inner)| {
        let file = locations.function(inner.function).and_then(|function| function.file);
        let file = file.map(|file| locations.string(file));
        let name = locations.function_name(inner.function);
        frame(Some(name), file, inner.line, inner.column, index, frames.len())
    });
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::format::testing::{self, profiles, snapshot};

    fn text(profile: &Profile) -> String {
        let mut text = Vec::new();
        JsonLines::new().write(profile, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn lines_are_those_of_the_snapshots() {
        snapshot("json_times.jsonl", &text(&testing::example(true)));
        snapshot("json_sums.jsonl", &text(&testing::example(false)));
    }

    /// Returns the keys of an object, each with its type.
    fn keys(object: &Value) -> BTreeSet<(String, &'static str)> {
        let kind = |value: &Value| match value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "number",
            Value::String(_) => "text",
            Value::Array(_) => "list",
            Value::Object(_) => "object",
        };
        object.as_object().unwrap().iter().map(|(key, value)| (key.clone(), kind(value))).collect()
    }

    /// Returns the rows of the n-th table of the documentation: key and type.
    fn documented(table: usize) -> Vec<(String, Vec<String>)> {
        let text = include_str!("../../docs/json.md");
        let table = text.split("\n|---|---|---|---|\n").nth(table + 1).unwrap();
        let rows = table.lines().take_while(|line| line.starts_with('|'));
        let rows = rows.map(|row| {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let types = cells[2].split(" or null").next().unwrap();
            let null = cells[2].contains(" or null").then(|| "null".to_owned());
            (cells[1].trim_matches('`').to_owned(), [types.to_owned()].into_iter().chain(null).collect())
        });
        rows.collect()
    }

    #[test]
    fn documented_keys_and_types_are_the_written_ones() {
        let lines: Vec<Value> = [true, false]
            .map(testing::example)
            .iter()
            .flat_map(|profile| {
                text(profile).lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>()
            })
            .collect();
        let frames = lines.iter().flat_map(|line| line["frames"].as_array().unwrap());
        for (table, objects) in [(0, lines.iter().collect::<Vec<_>>()), (1, frames.collect())] {
            let written: BTreeSet<_> = objects.into_iter().flat_map(keys).collect();
            let rows = documented(table).into_iter();
            let expected: BTreeSet<_> = rows
                .flat_map(|(key, types)| types.into_iter().map(move |kind| (key.clone(), kind)))
                .collect();
            let written: BTreeSet<_> =
                written.into_iter().map(|(key, kind)| (key, kind.to_owned())).collect();
            assert_eq!(written, expected, "docs/json.md, table {table}");
        }
        assert!(include_str!("../../docs/json.md").contains(&format!("version {VERSION}\n")));
    }

    proptest! {
        #[test]
        fn each_line_is_a_sample_of_a_naive_model(profile in profiles()) {
            let text = text(&profile);
            let samples = testing::samples(&profile);
            prop_assert_eq!(text.lines().count(), samples.len());
            for (line, sample) in text.lines().zip(samples) {
                let mut found: Value = serde_json::from_str(line).unwrap();
                let mut frames = Vec::new();
                for location in &sample.stack {
                    for function in &location.functions {
                        frames.push(json!([function.name, location.object, function.file, function.line]));
                    }
                    if location.functions.is_empty() {
                        frames.push(json!([null, location.object, null, 0]));
                    }
                }
                let number = |value: &Value| value.as_u64().unwrap_or(0);
                let list = found["frames"].take();
                let list = list.as_array().unwrap().iter();
                let found_frames: Vec<_> = list
                    .map(|frame| json!([frame["function"], frame["object"], frame["file"], number(&frame["line"])]))
                    .collect();
                prop_assert_eq!(found_frames, frames);
                let event = profile.event(sample.event).unwrap();
                prop_assert_eq!(found, json!({
                    "version": 1, "event": event.name, "unit": event.unit.as_str(), "pid": sample.pid, "tid": sample.tid,
                    "comm": sample.comm, "cgroup": sample.cgroup, "time": sample.time, "cpu": sample.cpu, "value": sample.value,
                    "count": sample.count, "frames": null,
                }));
            }
        }
    }
}
