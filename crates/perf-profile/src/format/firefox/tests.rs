//! Files that are read back, compared with the samples.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers of JSON are compared as readers see them"
)]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::format::testing::{self, Naive, profiles, snapshot, with_times};

fn text(profile: &Profile) -> String {
    let mut text = Vec::new();
    let wall = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let firefox = Firefox::new()
        .with_product("sort \u{1b}")
        .with_command("sort -n \"x\"")
        .with_os("Linux 6.12")
        .with_cpu("a CPU")
        .with_clock(wall, 250_000)
        .with_comment("machine a");
    firefox.write(profile, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn file_is_the_one_of_the_snapshot() {
    snapshot("firefox.json", &text(&testing::example(true)));
}

#[test]
fn sums_are_refused() {
    let error = Firefox::new().write(&testing::example(false), io::sink()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn empty_profile_has_no_thread() {
    let profile = crate::ProfileBuilder::new().with_times().finish(crate::Locations::new());
    let found: Value = serde_json::from_str(&text(&profile)).unwrap();
    assert_eq!(found["threads"], serde_json::json!([]));
}

#[test]
fn breakpad_id_is_the_build_id_as_a_guid() {
    let profile = testing::example(true);
    let ids: Vec<_> = profile.locations().objects().iter().map(breakpad_id).collect();
    assert_eq!(ids, ["01EFCDAB03020504060708090A0B0C0D0".to_owned(), "0".repeat(33)]);
}

#[test]
fn start_is_the_wall_clock_of_the_first_sample() {
    let wall = SystemTime::UNIX_EPOCH + Duration::from_micros(1);
    let firefox = Firefox::new().with_clock(wall, 50);
    assert_eq!([firefox.start(70), firefox.start(50), firefox.start(20)], [1020, 1000, 970]);
    assert_eq!(Firefox::new().start(70), 0);
}

/// A sample or marker: time and value in ns, whether it is a marker, the name of its event if it
/// is, and the frames.
type Found = (u64, f64, bool, String, Vec<FoundFrame>);

/// Function, source file, line, path of the object, category, depth of inlining; innermost frame
/// first.
type FoundFrame = (String, Option<String>, u64, Option<String>, String, u64);

/// Reads the threads of a file back, and checks the rules of the format.
fn threads(file: &Value) -> BTreeMap<(u64, u64), (String, Vec<Found>)> {
    let number = |value: &Value| value.as_u64().unwrap();
    let nanoseconds = |value: &Value| (value.as_f64().unwrap() * 1e6).round() as u64;
    let index = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let mut threads = BTreeMap::new();
    for thread in file["threads"].as_array().unwrap() {
        for key in
            ["samples", "markers", "stackTable", "frameTable", "funcTable", "nativeSymbols", "resourceTable"]
        {
            let table = thread[key].as_object().unwrap();
            let lists = table.values().filter_map(Value::as_array);
            assert!(lists.map(Vec::len).all(|length| length == index(&table["length"])), "{key}");
        }
        let string = |value: &Value| thread["stringArray"][index(value)].as_str().unwrap().to_owned();
        let strings: BTreeSet<_> =
            thread["stringArray"].as_array().unwrap().iter().map(Value::to_string).collect();
        assert_eq!(strings.len(), thread["stringArray"].as_array().unwrap().len());
        let stack = |stack: &Value| {
            let mut frames: Vec<FoundFrame> = Vec::new();
            let mut next = stack.clone();
            while !next.is_null() {
                let stack = index(&next);
                let frame = index(&thread["stackTable"]["frame"][stack]);
                let column = |name: &str| &thread["frameTable"][name][frame];
                let function = index(column("func"));
                let function = |name: &str| &thread["funcTable"][name][function];
                let resource = function("resource").as_u64().map(|resource| {
                    let library = &thread["resourceTable"]["lib"][usize::try_from(resource).unwrap()];
                    file["libs"][index(library)]["path"].as_str().unwrap().to_owned()
                });
                if let Some(symbol) = column("nativeSymbol").as_u64() {
                    let library = &thread["nativeSymbols"]["libIndex"][usize::try_from(symbol).unwrap()];
                    assert_eq!(file["libs"][index(library)]["path"].as_str(), resource.as_deref());
                }
                let source = Some(function("fileName")).filter(|file| !file.is_null()).map(string);
                let category = &file["meta"]["categories"][index(column("category"))]["name"];
                let line = column("line").as_u64().unwrap_or(0);
                let category = category.as_str().unwrap().to_owned();
                let depth = number(column("inlineDepth"));
                frames.push((string(function("name")), source, line, resource, category, depth));
                next = thread["stackTable"]["prefix"][stack].clone();
                // Rows follow the rows of their callers.
                assert!(next.is_null() || index(&next) < stack);
            }
            frames
        };
        let mut found = Vec::new();
        let samples = &thread["samples"];
        for row in 0..index(&samples["length"]) {
            let value = samples["weight"][row].as_f64().unwrap() * 1e6;
            let time = nanoseconds(&samples["time"][row]);
            found.push((time, value, false, String::new(), stack(&samples["stack"][row])));
        }
        let markers = &thread["markers"];
        for row in 0..index(&markers["length"]) {
            let data = &markers["data"][row];
            let time = nanoseconds(&markers["startTime"][row]);
            let value = data["value"].as_f64().unwrap();
            let frames = stack(&data["cause"]["stack"]);
            found.push((time, value, true, string(&markers["name"][row]), frames));
        }
        let id = (thread["pid"].as_str().unwrap().parse().unwrap(), number(&thread["tid"]));
        let before = threads.insert(id, (thread["name"].as_str().unwrap().to_owned(), found));
        assert!(before.is_none());
    }
    threads
}

fn frames(profile: &Profile, sample: &Naive) -> Vec<FoundFrame> {
    let mut frames = Vec::new();
    for location in &sample.stack {
        let object = profile.locations().objects().iter().find(|object| {
            let path = profile.locations().string(object.path);
            location.object.as_deref() == Some(path)
        });
        // One of two objects with the same path can be in the kernel: see `without_category`.
        let category = match object {
            Some(object) if object.is_kernel => "Kernel",
            None if location.functions.is_empty() => "Other",
            _ => "User",
        };
        let depths = (0..location.functions.len() as u64).rev();
        for (function, depth) in location.functions.iter().zip(depths) {
            let (name, file) = (function.name.clone(), function.file.clone());
            let line = u64::from(function.line);
            frames.push((name, file, line, location.object.clone(), category.to_owned(), depth));
        }
        if location.functions.is_empty() {
            // The name is the address, whose form another test checks.
            frames.push((String::new(), None, 0, location.object.clone(), category.to_owned(), 0));
        }
    }
    frames
}

/// Removes names that are addresses, and categories.
fn comparable(mut found: Found) -> Found {
    for frame in &mut found.4 {
        if frame.1.is_none() && frame.2 == 0 && frame.0.starts_with("0x") {
            frame.0.clear();
        }
        frame.4.clear();
    }
    found
}

#[test]
fn span_is_a_marker_of_its_length_and_uses_no_cpu() {
    let mut profile = testing::instant_and_span();
    let thread = |profile: &Profile| {
        let file: Value = serde_json::from_str(&text(profile)).unwrap();
        file["threads"][0].clone()
    };
    let markers = &thread(&profile)["markers"];
    let [start, end] = ["startTime", "endTime"].map(|key| markers[key][0].as_f64().unwrap());
    assert!(start == 0.0 && (end - 0.0025).abs() < 1e-9 && markers["phase"][0] == 1, "{markers}");
    profile.retain_events(|event| event.is_span);
    let samples = &thread(&profile)["samples"];
    assert!(samples["weight"][0] == 0.0025 && samples["threadCPUDelta"][0] == 0, "{samples}");
}

proptest! {
    #[test]
    fn threads_have_the_samples_of_a_naive_model(profile in profiles().prop_map(|profile| with_times(&profile))) {
        let text = text(&profile);
        prop_assert!(!text.chars().any(|character| character.is_control() && character != '\n'));
        let file: Value = serde_json::from_str(&text).unwrap();
        let mut expected: BTreeMap<(u64, u64), Vec<(u64, Naive)>> = BTreeMap::new();
        let samples = testing::samples(&profile);
        let first = samples.iter().filter_map(|sample| sample.time).min().unwrap_or(0);
        let event = samples.iter().map(|sample| sample.event).min();
        for sample in samples {
            let id = (sample.pid.into(), sample.tid.into());
            expected.entry(id).or_default().push((sample.time.unwrap() - first, sample));
        }
        let found = threads(&file);
        prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for ((_, (name, found)), mut samples) in found.into_iter().zip(expected.into_values()) {
            samples.sort_by_key(|(time, _)| *time);
            prop_assert_eq!(&name, &samples.last().unwrap().1.comm);
            let (samples, markers): (Vec<_>, Vec<_>) = samples.into_iter().partition(|(_, sample)| Some(sample.event) == event);
            prop_assert_eq!(found.len(), samples.len() + markers.len());
            for (found, (time, sample)) in found.into_iter().zip(samples.into_iter().chain(markers)) {
                let is_marker = Some(sample.event) != event;
                let event = if is_marker { profile.event(sample.event).unwrap().name.clone() } else { String::new() };
                // JavaScript numbers have 53 bits.
                let is_near = |a: f64, b: f64| (a - b).abs() <= a.abs() * 1e-15 + 1e-6;
                prop_assert!(is_near(found.0 as f64, time as f64) && is_near(found.1, sample.value as f64));
                let found = comparable(found);
                let expected = (0, 0.0, is_marker, event, frames(&profile, &sample));
                let expected = comparable(expected);
                prop_assert_eq!((found.2, found.3, found.4), (expected.2, expected.3, expected.4));
            }
        }
    }
}
