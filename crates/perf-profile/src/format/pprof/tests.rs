//! Messages that are read back, compared with the samples.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::process::Command;
use std::{env, fs};

use flate2::read::GzDecoder;
use proptest::prelude::*;

use super::*;
use crate::format::testing::{self, Naive, NaiveFunction, NaiveLocation, profiles, snapshot};

fn decoded(profile: &Profile) -> message::Profile {
    let mut file = Vec::new();
    Pprof::new().write(profile, &mut file).unwrap();
    let mut message = Vec::new();
    GzDecoder::new(&file[..]).read_to_end(&mut message).unwrap();
    message::Profile::decode(&message[..]).unwrap()
}

fn string(message: &message::Profile, index: i64) -> &str {
    &message.string_table[usize::try_from(index).unwrap()]
}

/// Values for each event, by all other properties of a sample.
type Sums = BTreeMap<(usize, u32, u32, String, Option<String>, Vec<NaiveLocation>), (u64, u64)>;

/// Reads a message back, and checks the rules of the format.
fn sums_of(message: &message::Profile) -> Sums {
    let text = |index| string(message, index).to_owned();
    assert_eq!(message.string_table[0], "");
    let mut distinct = message.string_table.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), message.string_table.len());
    let location = |id: u64| {
        let mut found = message.location.iter().filter(|location| location.id == id);
        let (Some(location), None) = (found.next(), found.next()) else { panic!("location {id}") };
        let mapping = message.mapping.iter().find(|mapping| mapping.id == location.mapping_id);
        assert_eq!(mapping.is_none(), location.mapping_id == 0);
        if let Some(mapping) = mapping {
            let range = mapping.memory_start..mapping.memory_limit;
            assert!(range.contains(&location.address) || range.end == u64::MAX, "{mapping:?} {location:?}");
            assert!(mapping.has_functions || location.line.is_empty());
        }
        let functions = location.line.iter().map(|line| {
            let mut found = message.function.iter().filter(|function| function.id == line.function_id);
            let (Some(function), None) = (found.next(), found.next()) else { panic!("{line:?}") };
            NaiveFunction {
                name: text(function.name),
                file: (function.filename != 0).then(|| text(function.filename)),
                line: u32::try_from(line.line).unwrap(),
            }
        });
        NaiveLocation {
            object: mapping.map(|mapping| text(mapping.filename)),
            address: location.address,
            unnamed: String::new(),
            functions: functions.collect(),
        }
    };
    let mut sums = Sums::new();
    for sample in &message.sample {
        assert_eq!(sample.value.len(), message.sample_type.len());
        let keys: Vec<_> = sample.label.iter().map(|label| string(message, label.key)).collect();
        assert_eq!(keys, ["comm", "pid", "tid", "cgroup"][..keys.len().max(3)]);
        let number = |index: usize| u32::try_from(sample.label[index].num).unwrap();
        let stack: Vec<_> = sample.location_id.iter().map(|&id| location(id)).collect();
        for (event, values) in sample.value.chunks(2).enumerate() {
            let cgroup = sample.label.get(3).map(|label| text(label.str));
            let key = (event, number(1), number(2), text(sample.label[0].str), cgroup, stack.clone());
            let sum = sums.entry(key).or_default();
            sum.0 = sum.0.saturating_add(u64::try_from(values[0]).unwrap());
            sum.1 = sum.1.saturating_add(u64::try_from(values[1]).unwrap());
        }
    }
    sums.retain(|_, values| values.0 > 0);
    clamped(sums)
}

/// Limits values to the largest number of the format.
fn clamped(mut sums: Sums) -> Sums {
    for values in sums.values_mut() {
        values.1 = values.1.min(i64::MAX.unsigned_abs());
    }
    sums
}

fn naive_sums(samples: Vec<Naive>) -> Sums {
    let mut sums = Sums::new();
    for mut sample in samples {
        for location in &mut sample.stack {
            location.unnamed.clear();
            for function in &mut location.functions {
                // An empty name and a missing name are the same string.
                function.file = function.file.take().filter(|file| !file.is_empty());
            }
        }
        let key = (sample.event.index(), sample.pid, sample.tid, sample.comm, sample.cgroup, sample.stack);
        let sum = sums.entry(key).or_default();
        sum.0 = sum.0.saturating_add(sample.count);
        sum.1 = sum.1.saturating_add(sample.value);
    }
    clamped(sums)
}

/// Prints a message with the texts of its strings.
fn printed(message: &message::Profile) -> String {
    let text = |index| string(message, index);
    let mut out = String::new();
    for value in &message.sample_type {
        writeln!(out, "sample type {}/{}", text(value.r#type), text(value.unit)).unwrap();
    }
    writeln!(out, "default {}", text(message.default_sample_type)).unwrap();
    let period = message.period_type.unwrap();
    writeln!(out, "period {} {}/{}", message.period, text(period.r#type), text(period.unit)).unwrap();
    writeln!(out, "time {} duration {}", message.time_nanos, message.duration_nanos).unwrap();
    for &comment in &message.comment {
        writeln!(out, "comment {}", text(comment)).unwrap();
    }
    for mapping in &message.mapping {
        let message::Mapping { id, memory_start, memory_limit, file_offset, .. } = mapping;
        let has = [
            mapping.has_functions,
            mapping.has_filenames,
            mapping.has_line_numbers,
            mapping.has_inline_frames,
        ];
        let (file, build_id) = (text(mapping.filename), text(mapping.build_id));
        writeln!(
            out,
            "mapping {id} {memory_start:#x}..{memory_limit:#x} {file_offset:#x} {file} {build_id:?} {has:?}"
        )
        .unwrap();
    }
    for location in &message.location {
        let lines: Vec<_> =
            location.line.iter().map(|line| (line.function_id, line.line, line.column)).collect();
        writeln!(
            out,
            "location {} mapping {} {:#x} {lines:?}",
            location.id, location.mapping_id, location.address
        )
        .unwrap();
    }
    for function in &message.function {
        writeln!(out, "function {} {:?} {:?}", function.id, text(function.name), text(function.filename))
            .unwrap();
    }
    for sample in &message.sample {
        let labels: Vec<_> =
            sample.label.iter().map(|label| (text(label.key), text(label.str), label.num)).collect();
        writeln!(out, "sample {:?} {:?} {labels:?}", sample.location_id, sample.value).unwrap();
    }
    out
}

#[test]
fn messages_are_those_of_the_snapshot() {
    snapshot("pprof.txt", &printed(&decoded(&testing::example(true))));
}

#[test]
fn message_without_compression_is_the_compressed_one() {
    let profile = testing::example(false);
    let mut raw = Vec::new();
    Pprof::new().uncompressed().write(&profile, &mut raw).unwrap();
    assert_eq!(message::Profile::decode(&raw[..]).unwrap(), decoded(&profile));
}

#[test]
fn values_of_several_events_have_different_names() {
    let clock = perf_abi::Attr::software(perf_abi::Software::CPU_CLOCK);
    let events = [Event::new("a", &clock), Event::new("a", &clock), Event::new("b", &clock)];
    let names: Vec<_> =
        value_names(&events).into_iter().flat_map(|(samples, values)| [samples, values]).collect();
    assert_eq!(names, ["a_samples", "a", "a_samples#2", "a#2", "b_samples", "b"]);
    assert_eq!(value_names(&events[..1]), [("samples".to_owned(), "a".to_owned())]);
}

#[test]
fn mapping_has_addresses_before_and_after_it() {
    let mut locations = crate::Locations::new();
    let mut object = Object::new(locations.intern("a"));
    object.range = 0x2000..0x3000;
    object.file_offset = 0x1000;
    assert_eq!(mapping(&object, 0x2000..0x2001), (0x2000..0x3000, 0x1000));
    assert_eq!(mapping(&object, 0x1800..0x4000), (0x1800..0x4000, 0x800));
    // An address before the start of the file.
    assert_eq!(mapping(&object, 0..1), (0..0x3000, 0));
}

#[test]
fn go_tool_pprof_reads_the_file() {
    if Command::new("go").arg("version").output().is_err() {
        println!("skipped: go is not installed");
        return;
    }
    let file = env::temp_dir().join(format!("perf-profile-{}.pb.gz", std::process::id()));
    Pprof::new().write(&testing::example(true), fs::File::create(&file).unwrap()).unwrap();
    let pprof = |option: &str| {
        let output = Command::new("go")
            .args(["tool", "pprof", "-symbolize=none", option])
            .arg(&file)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let raw = pprof("-raw");
    assert!(raw.contains("cpu-clock_samples/count cpu-clock/nanoseconds[dflt]"), "{raw}");
    assert!(raw.contains("1     250001          0          0:"), "{raw}");
    // The table of the default event.
    let top = pprof("-top");
    assert!(top.contains("main"), "{top}");
    fs::remove_file(&file).unwrap();
}

proptest! {
    #[test]
    fn message_has_the_sums_of_a_naive_model(profile in profiles()) {
        prop_assert_eq!(sums_of(&decoded(&profile)), naive_sums(testing::samples(&profile)));
    }
}
