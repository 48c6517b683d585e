//! Everything that a file can be asked.

use std::fmt::Write as _;

use perf_file::format::Feature;
use perf_file::{FileRecord, PerfData, RawFileRecord, Reader, Source};

/// Reads all records of a reader. Returns their number, and whether there was an error.
pub fn read_all<S: Source>(reader: &mut Reader<S>) -> (usize, bool) {
    let (mut count, mut last) = (0, 0);
    let failed = loop {
        match reader.next() {
            Ok(Some(record)) => {
                read(&record);
                assert!(record.place().offset() >= last, "the offset went down");
                last = record.place().offset();
                count += 1;
            }
            Ok(None) => break false,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                break true;
            }
        }
    };
    assert!(matches!(reader.next(), Ok(None)), "a record after the end");
    (count, failed)
}

/// Reads all records by time. Returns their number.
pub fn read_sorted<S: Source>(reader: Reader<S>, capacity: usize) -> usize {
    let mut sorted = reader.sorted_with_capacity(capacity);
    let (mut count, mut late, mut latest) = (0, 0, 0);
    while let Ok(Some(record)) = sorted.next() {
        read(&record);
        count += 1;
        let time = record.time().filter(|time| *time != 0 && *time != u64::MAX);
        if let Some(time) = time {
            late += u64::from(time < latest);
            latest = latest.max(time);
        }
    }
    assert_eq!(late, sorted.late());
    count
}

fn read(record: &FileRecord<'_>) {
    let mut text = String::new();
    if record.kernel().is_some() {
        if let Ok(decoded) = record.decode() {
            write!(text, "{decoded}").unwrap();
            assert!(decoded.fields().count() < 100_000);
        }
    } else if let Ok(tool) = record.user() {
        write!(text, "{tool:?}").unwrap();
    }
    assert!(record.bytes().len() == usize::from(record.header().size));
}

/// Views all parts of a file in memory. Returns the number of whole records.
pub fn view(bytes: &[u8]) -> usize {
    let Ok(file) = PerfData::new(bytes) else { return 0 };
    let mut text = String::new();
    for attr in file.attrs().take(100) {
        write!(text, "{attr:?}").unwrap();
    }
    for section in file.features() {
        match section {
            Ok(section) => drop(section.data().map(|data| write!(text, "{data:?}"))),
            Err(error) => write!(text, "{error}").unwrap(),
        }
    }
    for feature in Feature::ALL {
        assert_eq!(matches!(file.feature(*feature), Ok(None)), !file.header().features().contains(*feature));
    }
    file.frames().filter_map(Result::ok).filter(|frame: &RawFileRecord<'_>| frame.kind().0 > 0).count()
}
