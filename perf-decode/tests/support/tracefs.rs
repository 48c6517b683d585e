//! The `format` texts that the tracepoint tests share: every file below `events/` of Linux 6.18 on
//! x86-64, each under a line `=== PATH`.

use super::data;

/// Returns the text of `tests/data/NAME`, unpacked if it is gzip.
pub(crate) fn load(name: &str) -> String {
    String::from_utf8(data::bytes(name)).expect(name)
}

/// Returns the path below `events/` and the content of each file in such a collection.
pub(crate) fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let text = text.strip_prefix("=== ").unwrap_or(text);
    text.split("\n=== ").map(|section| section.split_once('\n').unwrap_or((section, "")))
}
