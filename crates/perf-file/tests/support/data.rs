//! The captures of `perf-decode/tests/data`.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../perf-decode/tests/data").join(name)
}

/// Returns the content of `NAME.data`.
pub(crate) fn file(name: &str) -> Vec<u8> {
    fs::read(path(&format!("{name}.data"))).expect(name)
}

/// Returns what the oracle printed about `NAME.data`.
pub(crate) fn oracle(name: &str) -> Json {
    let packed = fs::read(path(&format!("{name}.records.json.gz"))).expect(name);
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut text).expect(name);
    serde_json::from_slice(&text).expect(name)
}

/// Returns the names of all captured files, without `.data`.
pub(crate) fn names() -> Vec<String> {
    let entries = fs::read_dir(path("")).expect("perf-decode/tests/data");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.to_str()?.strip_suffix(".data")?.to_owned())).collect();
    names.sort();
    names
}
