//! The `format` texts that the tracepoint tests share: every file below `events/` of Linux 6.18 on x86-64, each under
//! a line `=== PATH`.

use std::io::Read as _;

/// The content of `tests/data/NAME`, unpacked if it is gzip.
pub(crate) fn load(name: &str) -> String {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect(&path);
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect(&path);
    } else {
        text = String::from_utf8(bytes).expect(&path);
    }
    text
}

/// Path below `events/` and content of each file in such a collection.
pub(crate) fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let text = text.strip_prefix("=== ").unwrap_or(text);
    text.split("\n=== ").map(|section| section.split_once('\n').unwrap_or((section, "")))
}
