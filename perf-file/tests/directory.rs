//! A captured directory of `perf record --threads`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};

use perf_file::format::record_type;
use perf_file::{Directory, FileRecord, Reader};
use support::made_up::{file, record, sample};

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/threads-dir.data")
}

/// Returns the part and the position of a record, and its time.
fn describe(record: &FileRecord<'_>) -> (Option<u32>, u64, Option<u64>) {
    if record.kernel().is_some() {
        record.decode().unwrap();
    }
    (record.part(), record.place().offset(), record.time())
}

#[test]
fn all_files_of_a_directory_are_read_in_order() {
    let mut directory = Directory::open(path()).unwrap();
    let mut found = Vec::new();
    while let Some(record) = directory.next().unwrap() {
        found.push(describe(&record));
    }
    let mut main = Reader::open(path().join("data")).unwrap();
    assert_eq!(directory.head(), Some(main.head()));
    let events = directory.events().unwrap().as_slice();
    assert_eq!((events.len(), events.is_empty()), (main.events().as_slice().len(), false));
    let mut count = 0;
    while main.next().unwrap().is_some() {
        count += 1;
    }
    let parts: Vec<_> = found.iter().map(|(part, ..)| *part).collect();
    assert_eq!(parts[..count], vec![None; count]);
    // The second numbered file is empty.
    assert!(parts[count..].iter().all(|part| *part == Some(0)) && parts.len() > count);
    println!("{count} records, and {} of data.0", parts.len() - count);
    assert_eq!(parts.len(), 28);
}

#[test]
fn all_files_of_a_directory_are_sorted_by_time() {
    let mut sorted = Directory::open(path()).unwrap().sorted();
    let mut found = Vec::new();
    while let Some(record) = sorted.next().unwrap() {
        found.push(describe(&record));
    }
    let times: Vec<_> = found.iter().filter_map(|(.., time)| time.filter(|time| *time > 0)).collect();
    assert!(times.is_sorted() && times.len() > 10, "{times:?}");
    let mut directory = Directory::open(path()).unwrap();
    let mut expected = Vec::new();
    while let Some(record) = directory.next().unwrap() {
        expected.push(describe(&record));
    }
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn records_of_all_files_are_merged_by_time() {
    let folder = std::env::temp_dir().join(format!("perf-file-directory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let round = || record(record_type::FINISHED_ROUND, &[]);
    std::fs::write(folder.join("data"), file(&[sample(20), sample(50)])).unwrap();
    std::fs::write(folder.join("data.0"), [sample(10), sample(40), round()].concat()).unwrap();
    std::fs::write(folder.join("data.7"), [sample(60), sample(30)].concat()).unwrap();
    let mut sorted = Directory::open(&folder).unwrap().sorted();
    let mut found = Vec::new();
    while let Some(record) = sorted.next().unwrap() {
        found.push((record.part(), record.time()));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    // Records without a time are not kept back.
    let expected = [
        (Some(0), None),
        (Some(0), Some(10)),
        (None, Some(20)),
        (Some(7), Some(30)),
        (Some(0), Some(40)),
        (None, Some(50)),
        (Some(7), Some(60)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn directory_without_a_header_is_an_error() {
    let error = Directory::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap_err();
    assert!(matches!(error.reason(), perf_file::Reason::Io(_)), "{error}");
}
