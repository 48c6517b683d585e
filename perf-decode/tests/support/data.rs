//! The files of `tests/data`.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Returns the content of `NAME`, unpacked if it is gzip.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let bytes = fs::read(path(name)).expect(name);
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).expect(name);
    unpacked
}

/// Returns the JSON in `NAME`.
pub(crate) fn json(name: &str) -> Json {
    serde_json::from_slice(&bytes(name)).expect(name)
}

/// Returns the stems of the file names that end with `suffix`, in order.
pub(crate) fn stems(suffix: &str) -> Vec<String> {
    let names =
        fs::read_dir(path("")).expect("tests/data").map(|entry| entry.expect("tests/data").file_name());
    let mut stems: Vec<String> =
        names.filter_map(|name| Some(name.to_str()?.strip_suffix(suffix)?.to_owned())).collect();
    stems.sort();
    stems
}
