//! Captured `perf.data` files, read here and by another decoder: every record, field and event must
//! agree.
//!
//! The files were recorded on x86-64. On a big-endian machine this tests the swapping of records.

use crate::support::read::all;
use crate::support::{data, describe, oracle};
use perf_file::{Reader, Source};
use serde_json::Value as Json;

/// Numbers of compared items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Compared {
    files: usize,
    events: usize,
    records: usize,
    values: usize,
}

impl Compared {
    fn compare<S: Source>(&mut self, name: &str, mut reader: Reader<S>, oracle: &Json) {
        let found = all(&mut reader, describe::record_of_file);
        self.records += describe::same(&found, &describe::expected(oracle), name);
        self.values += found.iter().map(oracle::leaves).sum::<usize>();
        let events: Vec<Json> = reader.events().as_slice().iter().map(describe::event).collect();
        assert_eq!(Json::Array(events), oracle["attrs"], "{name}");
        assert_eq!(reader.header().is_pipe(), oracle["pipe"], "{name}");
        self.files += 1;
        self.events += reader.events().as_slice().len();
    }
}

/// The numbers of the oracle.
const ALL: Compared = Compared { files: 44, events: 88, records: 5199, values: 78690 };

#[test]
fn captured_files_in_memory_equal_the_oracle() {
    let mut compared = Compared::default();
    for name in data::names() {
        let bytes = data::file(&name);
        compared.compare(&name, Reader::from_bytes(&bytes).expect(&name), &data::oracle(&name));
    }
    println!("{compared:?}");
    assert_eq!(compared, ALL);
}

#[test]
fn captured_files_read_from_disk_equal_the_oracle() {
    let mut compared = Compared::default();
    for name in data::names() {
        let path = data::path(&format!("{name}.data"));
        compared.compare(&name, Reader::open(path).expect(&name), &data::oracle(&name));
    }
    assert_eq!(compared, ALL);
}

#[test]
fn captured_pipes_equal_the_oracle() {
    let mut compared = Compared::default();
    for name in ["pipe", "pipe-tracepoint"] {
        let bytes = data::file(name);
        compared.compare(name, Reader::from_pipe(&bytes[..]).expect(name), &data::oracle(name));
    }
    assert_eq!(compared.files, 2);
}
