//! Chrome's trace event format: one JSON object.

use std::fmt::{self, Write as _};
use std::io::{self, BufWriter, Write};

use rustc_hash::FxHashMap;

use super::json_text::{Optional, Text, write_list};
use super::names::{file_name, unnamed};
use super::used::used_stacks;
use crate::profile::{LocationId, Profile, Sample, StackId};

/// Writes trace events for Perfetto, `chrome://tracing` and speedscope, mainly for timelines of
/// tracepoints.
///
/// Each sample is an instant of its thread, or a slice if it is a [span](crate::Event::is_span),
/// with the CPU and the value; [`write_with`](Self::write_with) adds more, such as the fields of a
/// tracepoint. Each sample needs a time: collect the profile
/// [with times](crate::ProfileBuilder::with_times). Times are in the recording's clock, so that
/// recordings of the same clock can be joined. A thread that changed its name has its last name.
///
/// Stacks are in `stackFrames`. An instant refers to its stack by `sf`, and is repeated in
/// `samples`, where speedscope draws each stack until the thread's next sample. Perfetto shows
/// instants without their stacks, so use another format for profiles there.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{Chrome, Event, Locations, ProfileBuilder, Sample};
///
/// let mut locations = Locations::new();
/// let mut builder = ProfileBuilder::new().with_times();
/// let event = builder.event(Event::new("context-switches", &Attr::software(Software::CONTEXT_SWITCHES)));
/// let thread = builder.thread(7, 7, locations.intern("sort"));
/// let time = Some(5_000_000_001);
/// builder.add(Sample { event, thread, stack: None, value: 1, count: 1, time, cpu: Some(0) });
/// let profile = builder.finish(locations);
///
/// let mut text = Vec::new();
/// Chrome::new().write_with(&profile, |_, fields| fields.text("next_comm", "swapper"), &mut text)?;
/// let text = String::from_utf8_lossy(&text);
/// assert!(text.contains(r#""ts":5000000.001,"args":{"cpu":0,"value":1,"fields":{"next_comm":"swapper"}}"#));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Chrome {
    comments: Vec<String>,
}

/// The fields of one event: see [`Chrome::write_with`].
#[derive(Debug)]
pub struct Arguments<'a> {
    /// The members of an object.
    text: &'a mut String,
}

impl Arguments<'_> {
    /// Adds a number. Programs that read it as a floating-point number round it above 2^53.
    pub fn number(&mut self, name: &str, value: impl Into<i128>) {
        self.add(name, value.into());
    }

    /// Adds a text.
    pub fn text(&mut self, name: &str, value: &str) {
        self.add(name, Text(value));
    }

    fn add(&mut self, name: &str, value: impl fmt::Display) {
        let comma = if self.text.is_empty() { "" } else { "," };
        // Writing to memory does not fail.
        let _ = write!(self.text, "{comma}{}:{value}", Text(name));
    }
}

impl Chrome {
    /// Creates a writer without comments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line about the recording to `otherData`, which also contains the losses.
    #[must_use]
    pub fn with_comment(mut self, comment: impl Into<String>) -> Self {
        self.comments.push(comment.into());
        self
    }

    /// Writes the file without compression. Perfetto and speedscope also open it compressed by
    /// gzip.
    ///
    /// # Errors
    ///
    /// - A sample has no time: [`InvalidInput`](io::ErrorKind::InvalidInput).
    /// - Writing to `out` failed.
    pub fn write(&self, profile: &Profile, out: impl Write) -> io::Result<()> {
        self.write_with(profile, |_, _| {}, out)
    }

    /// Writes the file with more about each sample. `add` is called once per sample, in the
    /// profile's order, and adds the fields of `args.fields`; it must not repeat a name.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write`](Self::write).
    pub fn write_with(
        &self,
        profile: &Profile,
        mut add: impl FnMut(&Sample, &mut Arguments<'_>),
        out: impl Write,
    ) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let out: &mut dyn Write = &mut out;
        let frames = StackFrames::new(profile);
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"recording\":")?;
        write_list(out, self.comments.iter().map(|line| Text(line)))?;
        out.write_all(b",\"missing\":")?;
        write_list(out, profile.losses().lines().iter().map(|line| Text(line)))?;
        out.write_all(b"},\n\"traceEvents\":[")?;
        let mut comma = write_names(profile, out)?;
        let names: Vec<_> = profile.events().iter().map(|event| Text(&event.name).to_string()).collect();
        let name = |sample: &Sample| names.get(sample.event.index()).map_or("\"\"", |name| name);
        let mut fields = String::new();
        for sample in profile.samples() {
            let (ids, name) = (Ids::new(profile, sample)?, name(sample));
            let (cpu, value) = (Optional(sample.cpu), sample.value);
            let sf = frames.id(sample.stack).map(|id| format!(",\"sf\":{id}")).unwrap_or_default();
            fields.clear();
            add(sample, &mut Arguments { text: &mut fields });
            if profile.event(sample.event).is_some_and(|event| event.is_span) {
                write!(out, "{comma}\n{{\"ph\":\"X\",\"dur\":{}", Microseconds(value))?;
            } else {
                write!(out, "{comma}\n{{\"ph\":\"i\",\"s\":\"t\"")?;
            }
            write!(out, ",\"name\":{name},{ids}{sf},\"args\":{{\"cpu\":{cpu},\"value\":{value}")?;
            if !fields.is_empty() {
                write!(out, ",\"fields\":{{{fields}}}")?;
            }
            out.write_all(b"}}")?;
            comma = ",";
        }
        out.write_all(b"\n]")?;
        if frames.is_empty() {
            out.write_all(b"}\n")?;
            return out.flush();
        }
        out.write_all(b",\n\"stackFrames\":{")?;
        frames.write(profile, out)?;
        out.write_all(b"\n},\n\"samples\":[")?;
        comma = "";
        for sample in profile.samples() {
            let Some(sf) = frames.id(sample.stack) else { continue };
            let (ids, name) = (Ids::new(profile, sample)?, name(sample));
            let (cpu, value) = (Optional(sample.cpu), sample.value);
            write!(out, "{comma}\n{{\"name\":{name},\"cpu\":{cpu},{ids},\"weight\":{value},\"sf\":{sf}}}")?;
            comma = ",";
        }
        out.write_all(b"\n]}\n")?;
        out.flush()
    }
}

/// The thread and the time of a sample, as members of an object.
struct Ids {
    pid: u32,
    tid: u32,
    time: u64,
}

impl Ids {
    fn new(profile: &Profile, sample: &Sample) -> io::Result<Self> {
        let text = "trace events need the time of each sample, and the profile has samples without a time";
        let time = sample.time.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, text))?;
        let (pid, tid) = profile.thread(sample.thread).map_or((0, 0), |thread| (thread.pid, thread.tid));
        Ok(Self { pid, tid, time })
    }
}

impl fmt::Display for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, tid, time } = self;
        write!(f, "\"pid\":{pid},\"tid\":{tid},\"ts\":{}", Microseconds(*time))
    }
}

/// A time in ns, written in µs.
struct Microseconds(u64);

impl fmt::Display for Microseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Writes the names of threads and processes that have samples, and returns the comma for the next
/// event.
fn write_names(profile: &Profile, out: &mut dyn Write) -> io::Result<&'static str> {
    let mut names = FxHashMap::default();
    let mut ids = Vec::new();
    for sample in profile.samples() {
        let Some(thread) = profile.thread(sample.thread) else { continue };
        let id = (thread.pid, thread.tid);
        if names.insert(id, thread.name).is_none() {
            ids.push(id);
        }
    }
    let mut comma = "";
    for id in ids {
        let (pid, tid) = id;
        let Some(&name) = names.get(&id) else { continue };
        let name = Text(profile.locations().string(name));
        // A process has the name of its main thread.
        for kind in ["thread_name", "process_name"].into_iter().take(if pid == tid { 2 } else { 1 }) {
            write!(
                out,
                "{comma}\n{{\"ph\":\"M\",\"name\":\"{kind}\",\"pid\":{pid},\"tid\":{tid},\"ts\":0,\"args\":{{\"name\":{name}}}}}"
            )?;
            comma = ",";
        }
    }
    Ok(comma)
}

/// Ids of the stacks of samples in the file, from 1, because readers take 0 for no stack. A stack
/// has an entry for each function of its innermost location, and the id of the last entry.
struct StackFrames {
    /// Ids by the profile's stacks; 0 if no sample has the stack.
    ids: Vec<u64>,
}

impl StackFrames {
    fn new(profile: &Profile) -> Self {
        let mut last = 0;
        let ids = profile.stacks().zip(used_stacks(profile)).map(|((location, _), is_used)| {
            if !is_used {
                return 0;
            }
            last += profile.locations().frames(location).len().max(1) as u64;
            last
        });
        Self { ids: ids.collect() }
    }

    fn is_empty(&self) -> bool {
        self.ids.iter().all(|&id| id == 0)
    }

    fn id(&self, stack: Option<StackId>) -> Option<u64> {
        stack.and_then(|stack| self.ids.get(stack.index())).copied().filter(|&id| id > 0)
    }

    fn write(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        let mut texts: FxHashMap<LocationId, Vec<String>> = FxHashMap::default();
        let mut id = 0;
        for ((location, caller), _) in profile.stacks().zip(&self.ids).filter(|&(_, &id)| id > 0) {
            let mut parent = self.id(caller);
            for text in texts.entry(location).or_insert_with(|| frames_of(profile, location)) {
                write!(out, "{}\n\"{}\":{{{text}", if id > 0 { "," } else { "" }, id + 1)?;
                if let Some(parent) = parent {
                    write!(out, ",\"parent\":{parent}")?;
                }
                out.write_all(b"}")?;
                id += 1;
                parent = Some(id);
            }
        }
        Ok(())
    }
}

/// Returns the members of each function of a location, outermost first.
fn frames_of(profile: &Profile, id: LocationId) -> Vec<String> {
    let locations = profile.locations();
    let category = Text(file_name(locations.object_path(id)));
    let frames = locations.frames(id);
    if frames.is_empty() {
        return vec![format!("\"category\":{category},\"name\":{}", Text(&unnamed(locations, id)))];
    }
    let names = frames.iter().rev().map(|frame| locations.function_name(frame.function));
    names.map(|name| format!("\"category\":{category},\"name\":{}", Text(name))).collect()
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "numbers of JSON are compared as readers see them")]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::format::testing::{self, profiles, snapshot, with_times};

    fn text(profile: &Profile) -> String {
        let mut text = Vec::new();
        let add = |sample: &Sample, fields: &mut Arguments<'_>| {
            if sample.event.index() == 1 {
                fields.text("a \"text\"", "\u{1b}[31m");
                fields.number("address", u64::MAX);
                fields.number("number", -1);
            }
        };
        Chrome::new().with_comment("machine \u{1b}x").write_with(profile, add, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn is_near(a: f64, b: f64) -> bool {
        (a - b).abs() <= a.abs() * 1e-15
    }

    #[test]
    fn events_are_those_of_the_snapshot() {
        snapshot("chrome.json", &text(&testing::example(true)));
    }

    #[test]
    fn samples_without_a_time_are_refused() {
        let error = Chrome::new().write(&testing::example(false), io::sink()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn profile_without_stacks_has_no_table_of_them() {
        let profile = crate::ProfileBuilder::new().with_times().finish(crate::Locations::new());
        let found: Value = serde_json::from_str(&text(&profile)).unwrap();
        assert_eq!(found["traceEvents"], json!([]));
        assert_eq!(found.get("samples"), None);
    }

    #[test]
    fn span_is_a_slice_of_its_length() {
        let found: Value = serde_json::from_str(&text(&testing::instant_and_span())).unwrap();
        let events = found["traceEvents"].as_array().unwrap();
        let instant = events.iter().find(|event| event["name"] == "faults").unwrap();
        assert_eq!((&instant["ph"], &instant["s"], instant.get("dur")), (&json!("i"), &json!("t"), None));
        let span = events.iter().find(|event| event["name"] == "offcpu-time").unwrap();
        assert_eq!((&span["ph"], &span["ts"], &span["dur"]), (&json!("X"), &json!(1.0), &json!(2.5)));
    }

    proptest! {
        #[test]
        fn instants_and_samples_are_those_of_a_naive_model(profile in profiles().prop_map(|profile| with_times(&profile))) {
            let text = text(&profile);
            let found: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(!text.chars().any(|character| character.is_control() && character != '\n'));
            let stack = |event: &Value| {
                let mut names = Vec::new();
                let mut id = event.get("sf").cloned();
                while let Some(next) = id {
                    let frame = &found["stackFrames"][next.to_string()];
                    names.push((frame["name"].as_str().unwrap().to_owned(), frame["category"].as_str().unwrap().to_owned()));
                    id = frame.get("parent").cloned();
                }
                names
            };
            let events = found["traceEvents"].as_array().unwrap();
            let (names, instants): (Vec<_>, Vec<_>) = events.iter().partition(|event| event["ph"] == "M");
            let samples = testing::samples(&profile);
            prop_assert_eq!(instants.len(), samples.len());
            let mut last_names = BTreeMap::new();
            let mut with_stack = Vec::new();
            for (instant, sample) in instants.iter().zip(&samples) {
                let mut frames = Vec::new();
                for location in &sample.stack {
                    let category = file_name(location.object.as_deref().unwrap_or(crate::UNKNOWN)).to_owned();
                    frames.extend(location.functions.iter().map(|function| (function.name.clone(), category.clone())));
                    if location.functions.is_empty() {
                        frames.push((location.unnamed.clone(), category));
                    }
                }
                prop_assert_eq!(stack(instant), frames.clone());
                let ids = |found: &Value| (found["pid"].clone(), found["tid"].clone(), found["name"].clone());
                let name = &profile.event(sample.event).unwrap().name;
                let expected = (json!(sample.pid), json!(sample.tid), json!(name));
                prop_assert_eq!(ids(instant), expected.clone());
                let ts = sample.time.unwrap() as f64 / 1000.0;
                prop_assert!(is_near(instant["ts"].as_f64().unwrap(), ts));
                prop_assert_eq!(&instant["args"]["value"], &json!(sample.value));
                prop_assert_eq!(instant["args"].get("fields").is_some(), sample.event.index() == 1);
                last_names.insert((sample.pid, sample.tid), sample.comm.clone());
                if !frames.is_empty() {
                    with_stack.push((expected, ts, frames, json!(sample.value)));
                }
            }
            let found_samples = found.get("samples").map_or(&[][..], |list| list.as_array().unwrap());
            prop_assert_eq!(found_samples.len(), with_stack.len());
            for (sample, (ids, ts, frames, value)) in found_samples.iter().zip(with_stack) {
                let found_ids = (sample["pid"].clone(), sample["tid"].clone(), sample["name"].clone());
                prop_assert_eq!((found_ids, stack(sample), &sample["weight"]), (ids, frames, &value));
                prop_assert!(is_near(sample["ts"].as_f64().unwrap(), ts));
            }
            let found_names: BTreeMap<_, _> = names
                .iter()
                .filter(|event| event["name"] == "thread_name")
                .map(|event| {
                    let id = |key: &str| u32::try_from(event[key].as_u64().unwrap()).unwrap();
                    ((id("pid"), id("tid")), event["args"]["name"].as_str().unwrap().to_owned())
                })
                .collect();
            prop_assert_eq!(found_names, last_names);
        }
    }
}
