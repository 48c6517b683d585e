//! A captured directory of `perf record --threads`.

use crate::support::read::{all, times, until_error};
use std::path::{Path, PathBuf};

use crate::support::made_up::{attr, file, record, sample};
use perf_file::format::{Feature, record_type};
use perf_file::writer::{Features, RecordedEvent, Writer};
use perf_file::{FeatureData, FileRecord, Reader, Reason};

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
    let mut directory = Reader::open(path()).unwrap();
    let found = all(&mut directory, |record| describe(&record));
    let mut main = Reader::open(path().join("data")).unwrap();
    assert_eq!(directory.header(), main.header());
    let events = directory.events().as_slice();
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
    let mut sorted = Reader::open(path()).unwrap().sorted();
    let mut found = all(&mut sorted, |record| describe(&record));
    let times: Vec<_> = found.iter().filter_map(|(.., time)| time.filter(|time| *time > 0)).collect();
    assert!(times.is_sorted() && times.len() > 10, "{times:?}");
    let mut directory = Reader::open(path()).unwrap();
    let mut expected = all(&mut directory, |record| describe(&record));
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn records_of_all_files_are_merged_by_time() {
    let folder = Folder::new("merged");
    let folder = &folder.0;
    let round = || record(record_type::FINISHED_ROUND, &[]);
    std::fs::write(folder.join("data"), file(&[sample(20), sample(50)])).unwrap();
    std::fs::write(folder.join("data.0"), [sample(10), sample(40), round()].concat()).unwrap();
    std::fs::write(folder.join("data.1"), [sample(60), sample(30)].concat()).unwrap();
    let mut sorted = Reader::open(folder).unwrap().sorted();
    let found = all(&mut sorted, |record| (record.part(), record.time()));
    // Records without a time are not kept back.
    let expected = [
        (Some(0), None),
        (Some(0), Some(10)),
        (None, Some(20)),
        (Some(1), Some(30)),
        (Some(0), Some(40)),
        (None, Some(50)),
        (Some(1), Some(60)),
    ];
    assert_eq!(found, expected);
    assert_eq!((sorted.late(), sorted.early()), (0, 0));
}

#[test]
fn late_records_of_all_files_are_counted_once() {
    let folder = Folder::new("late");
    let folder = &folder.0;
    let round = || record(record_type::FINISHED_ROUND, &[]);
    std::fs::write(folder.join("data"), file(&[sample(50)])).unwrap();
    std::fs::write(folder.join("data.0"), [sample(60), round(), round(), sample(30)].concat()).unwrap();
    let mut sorted = Reader::open(folder).unwrap().sorted();
    let found = times(&mut sorted);
    assert_eq!((found, sorted.late()), (vec![50, 60, 30], 1));
    assert_eq!(Reader::open(folder).unwrap().late(), 0, "not sorted");
}

#[test]
fn records_of_one_time_are_in_the_order_of_their_files_and_not_late() {
    let folder = Folder::new("same");
    std::fs::write(folder.0.join("data"), file(&[sample(20)])).unwrap();
    std::fs::write(folder.0.join("data.0"), sample(20)).unwrap();
    std::fs::write(folder.0.join("data.1"), sample(20)).unwrap();
    let mut sorted = Reader::open(&folder.0).unwrap().sorted();
    let parts = all(&mut sorted, |record| record.part());
    assert_eq!((parts, sorted.late()), (vec![None, Some(0), Some(1)], 0));
}

#[test]
fn directory_of_version_0_needs_no_numbered_file() {
    let folder = Folder::new("version");
    for version in [0, 1] {
        let mut features = Features::new();
        assert!(features.set(Feature::DIR_FORMAT, &FeatureData::DirectoryFormat(version)));
        let data = std::fs::File::create(folder.0.join("data")).unwrap();
        let mut writer = Writer::file(data, &[RecordedEvent::new(attr(), "cpu-clock")]).unwrap();
        writer.write_records(&sample(5)).unwrap();
        writer.finish(&features).unwrap();
        let (records, error) = until_error(&mut Reader::open(&folder.0).unwrap(), |_| ());
        assert_eq!((records.len(), error.is_some()), (1, version > 0));
    }
}

#[test]
fn data_after_a_record_is_read_from_its_own_file() {
    let folder = Folder::new("payload");
    let folder = &folder.0;
    let body = [8_u64, 0, 0, 0, 0].map(u64::to_le_bytes).concat();
    let data = |byte: u8| [record(record_type::AUXTRACE, &body), vec![byte; 8]].concat();
    std::fs::write(folder.join("data"), file(&[data(1), sample(5)])).unwrap();
    std::fs::write(folder.join("data.0"), data(2)).unwrap();
    for is_sorted in [false, true] {
        let reader = Reader::open(folder).unwrap();
        let mut reader = if is_sorted { reader.sorted() } else { reader };
        let mut found = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            let (part, kind, mut bytes) = (record.part(), record.kind(), Vec::new());
            reader.read_payload(&mut bytes).unwrap();
            assert_eq!(bytes.len(), if kind == record_type::AUXTRACE { 8 } else { 0 });
            found.extend(bytes.first().map(|&byte| (part, byte)));
        }
        assert_eq!(found, [(None, 1), (Some(0), 2)], "{is_sorted}");
    }
}

/// A folder of a test, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("perf-file-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn directory_without_a_header_is_an_error_that_says_so() {
    let error = Reader::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap_err();
    assert!(matches!(error.reason, Reason::NoDataFile), "{error}");
    assert_eq!((error.to_string().contains("`data`"), error.offset), (true, None), "{error}");
    let error = Reader::open("/nowhere/at/all").unwrap_err();
    assert_eq!((error.raw_os_error(), error.offset), (Some(2), None));
}

/// Returns the number of records before the end, and the errors.
fn count(mut next: impl FnMut() -> perf_file::Result<bool>) -> (usize, Vec<String>) {
    let (mut records, mut errors) = (0, Vec::new());
    loop {
        match next() {
            Ok(true) => records += 1,
            Ok(false) => return (records, errors),
            Err(error) => errors.push(error.to_string()),
        }
    }
}

#[test]
fn missing_numbered_file_is_an_error_after_the_records_of_the_others() {
    let folder = Folder::new("missing");
    std::fs::copy(path().join("data"), folder.0.join("data")).unwrap();
    let of_main = {
        let mut main = Reader::open(path().join("data")).unwrap();
        count(|| main.next().map(|record| record.is_some())).0
    };
    // The second file of the capture is empty; without both, the header has the only sign.
    for (files, missing) in [(&["data.1"][..], "`data.0`"), (&[], "`data.0`")] {
        for file in files {
            std::fs::copy(path().join(file), folder.0.join(file)).unwrap();
        }
        let mut directory = Reader::open(&folder.0).unwrap();
        let mut sorted = Reader::open(&folder.0).unwrap().sorted();
        for (records, errors) in [
            count(|| directory.next().map(|record| record.is_some())),
            count(|| sorted.next().map(|record| record.is_some())),
        ] {
            assert_eq!((records, errors.len()), (of_main, 1), "{errors:?}");
            assert!(errors.iter().all(|error| error.contains(missing)), "{errors:?}");
        }
        for file in files {
            std::fs::remove_file(folder.0.join(file)).unwrap();
        }
    }
}

#[test]
#[cfg(unix)]
fn pipe_in_a_directory_is_not_opened() {
    let folder = Folder::new("fifo");
    let fifo = |name| {
        let made = std::process::Command::new("mkfifo").arg(folder.0.join(name)).status();
        assert!(made.unwrap().success());
    };
    fifo("data");
    let error = Reader::open(&folder.0).unwrap_err();
    assert!(matches!(error.reason, Reason::NotRegularFile { .. }), "{error}");
    std::fs::remove_file(folder.0.join("data")).unwrap();
    std::fs::write(folder.0.join("data"), file(&[])).unwrap();
    fifo("data.0");
    let error = Reader::open(&folder.0).unwrap_err();
    assert!(error.to_string().contains("data.0"), "{error}");
}

#[test]
fn features_of_the_main_file_are_well_formed() {
    let mut directory = Reader::open(path()).unwrap();
    directory.verify_features().unwrap();
}
