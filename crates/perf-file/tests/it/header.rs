//! Events and feature sections of captured files, compared with what the perf tool printed about
//! them.

use std::fs;
use std::path::Path;

use crate::support::{data, perf_attr, perf_header};
use perf_file::format::Feature;
use perf_file::{FeatureData, FeatureSection, PerfData, Reader, UserRecord};

/// Returns what the perf tool printed.
fn printed(name: &str, what: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{name}.{what}.txt"));
    fs::read_to_string(path).expect(name).lines().map(str::to_owned).collect()
}

/// Returns the feature sections of either form.
fn features(bytes: &[u8]) -> Vec<FeatureSection<'_>> {
    let file = PerfData::new(bytes).unwrap();
    let in_records = file.frames().filter_map(|frame| match frame.unwrap().user() {
        Ok(UserRecord::HeaderFeature(section)) if !section.bytes.is_empty() => Some(section),
        _ => None,
    });
    file.features().map(Result::unwrap).chain(in_records).collect()
}

/// Starts of lines that are not compared: of the header, and those whose form does not show a value
/// of their section.
const OTHER_LINES: [&str; 9] = [
    "# ====",
    "# captured on",
    "# header version",
    "# data offset",
    "# data size",
    "# feat offset",
    "# missing features",
    "# group: ",
    "# Tip: ",
];

#[test]
fn features_equal_what_the_perf_tool_printed() {
    let (mut files, mut lines) = (0, 0);
    for name in data::names() {
        let bytes = data::file(&name);
        let features = features(&bytes);
        let count = |section: &FeatureSection<'_>| match section.data() {
            Ok(FeatureData::CpuCount(count)) => Some(count.available),
            _ => None,
        };
        let cpus = features.iter().find_map(count).unwrap();
        let printed = printed(&name, "header");
        let mut found = vec![];
        for section in &features {
            for line in perf_header::lines(section, cpus) {
                assert!(
                    printed.iter().any(|printed| printed.contains(&line)),
                    "{name}: {line}\n{printed:#?}"
                );
                lines += 1;
                found.push(line);
            }
        }
        let is_known =
            |line: &&String| *line != "#" && !OTHER_LINES.iter().any(|start| line.starts_with(start));
        for line in printed.iter().filter(is_known) {
            assert!(found.iter().any(|found| line.contains(found)), "{name}: {line}");
        }
        let missing = printed.iter().find_map(|line| line.strip_prefix("# missing features: "));
        if let Some(missing) = missing {
            let known = Feature::ALL.iter().filter(|feature| feature.0 <= 30);
            let without =
                known.filter(|feature| !features.iter().any(|section| section.feature == **feature));
            let without: Vec<String> = without.map(|feature| feature.to_string() + " ").collect();
            assert_eq!(without.concat(), missing, "{name}");
        }
        files += 1;
    }
    println!("{files} files, {lines} lines");
    assert_eq!((files, lines), (44, 1548));
}

#[test]
fn features_of_an_open_file_are_those_in_memory() {
    for name in ["clock-tai", "bpf-ksymbol", "sched-raw"] {
        let bytes = data::file(name);
        let mut reader = Reader::open(data::path(&format!("{name}.data"))).unwrap();
        let mut expected = Reader::from_bytes(&bytes).unwrap();
        for feature in Feature::ALL {
            let in_memory = PerfData::new(&bytes).unwrap().feature(*feature).unwrap();
            let of_file = reader.feature(*feature).unwrap();
            assert_eq!(
                in_memory.map(|section| section.bytes),
                of_file.as_ref().map(|buf| buf.section().bytes)
            );
            // The records continue after each.
            let next = reader.next().unwrap().map(|record| (record.place(), record.bytes().to_vec()));
            assert_eq!(
                next,
                expected.next().unwrap().map(|record| (record.place(), record.bytes().to_vec()))
            );
        }
    }
}

#[test]
fn events_equal_what_the_perf_tool_printed() {
    let mut events = 0;
    for name in data::names() {
        let bytes = data::file(&name);
        let mut reader = Reader::from_bytes(&bytes).unwrap();
        while reader.next().unwrap().is_some() {}
        let names: Vec<String> = features(&bytes)
            .iter()
            .filter_map(|section| match section.data().unwrap() {
                FeatureData::Events(events) => Some(events),
                _ => None,
            })
            .flatten()
            .map(|desc| String::from_utf8(desc.name.to_vec()).unwrap())
            .collect();
        let printed = printed(&name, "evlist");
        let printed: Vec<_> = printed.iter().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(reader.events().as_slice().len(), printed.len(), "{name}");
        for (index, (event, printed)) in reader.events().as_slice().iter().zip(printed).enumerate() {
            let found = format!("{}: {}", names[index], perf_attr::fields(&event.attr, ": "));
            // The perf tool finds the name of a tracepoint in a pipe too late.
            let printed = printed.replacen("unknown tracepoint", &names[index], 1);
            assert_eq!(found, printed, "{name}");
            events += 1;
        }
    }
    println!("{events} events");
    assert_eq!(events, 88);
}
