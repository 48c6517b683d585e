//! The `format` texts that the tracepoint tests share: every file below `events/` of Linux 6.18 on
//! x86-64, each under a line `=== PATH`.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// Returns the text of `tests/data/NAME`, unpacked if it is gzip.
pub(crate) fn load(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let bytes = fs::read(path).expect(name);
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return String::from_utf8(bytes).expect(name);
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect(name);
    text
}

/// Returns the path below `events/` and the content of each file in such a collection.
pub(crate) fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let text = text.strip_prefix("=== ").unwrap_or(text);
    text.split("\n=== ").map(|section| section.split_once('\n').unwrap_or((section, "")))
}
