//! Captured files converted to the other byte order: every record, event and feature must have the
//! same values.

// The naive decoder converts the records. It reads only records of this machine.
#![cfg(target_endian = "little")]

use crate::support::read::all;
use crate::support::{byteswap, data, describe};
use perf_file::{FeatureData, PerfData, RawFileRecord, Reader};

/// Returns the files that are not pipes. Skips the compressed file, because its stream is not
/// decompressed here.
fn files() -> impl Iterator<Item = String> {
    data::names().into_iter().filter(|name| !name.starts_with("pipe") && name != "zstd")
}

#[test]
fn records_of_turned_files_equal_the_oracle() {
    let mut compared = 0;
    for name in files() {
        let turned = byteswap::file(&data::file(&name));
        let oracle = data::oracle(&name);
        let mut reader = Reader::from_bytes(&turned).expect(&name);
        let found = all(&mut reader, describe::record_of_file);
        compared += describe::same(&found, &describe::expected(&oracle), &name);
        for (event, expected) in reader.events().as_slice().iter().zip(oracle["attrs"].as_array().unwrap()) {
            let mut event = describe::event(event);
            event["hex"] = expected["hex"].clone();
            assert_eq!(&event, expected, "{name}");
        }
    }
    println!("{compared} records");
    assert_eq!(compared, 4870);
}

#[test]
fn features_and_records_of_tools_of_turned_files_are_the_same() {
    let described = |bytes: &[u8]| -> Vec<String> {
        let file = PerfData::new(bytes).unwrap();
        let features = file.features().map(|section| {
            let section = section.unwrap();
            // An attr is shown with its bytes, which differ.
            let data = match section.data().unwrap() {
                FeatureData::CpuTopology(topology) => {
                    let (cores, dies) = (topology.core_ids(2).unwrap(), topology.dies(2).unwrap());
                    format!("{:?} {:?} {cores:?} {dies:?}", topology.packages, topology.cores)
                }
                data => format!("{data:?}"),
            };
            format!("{:?}: {}", section.feature, without_bytes(&data))
        });
        let tools = file.frames().map(Result::unwrap).filter(RawFileRecord::is_user);
        features.chain(tools.map(|frame| format!("{:?}", frame.user().unwrap()))).collect()
    };
    let mut compared = 0;
    for name in files() {
        let bytes = data::file(&name);
        compared += describe::same(&described(&byteswap::file(&bytes)), &described(&bytes), &name);
    }
    println!("{compared} features and records");
    assert!(compared > 1000);
}

/// Removes the lists of bytes from a debug form.
fn without_bytes(text: &str) -> String {
    let mut parts = text.split("bytes: [");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(']').map_or(part, |(_, rest)| rest))
}
