//! A loss is counted once and has the same text in every command.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::process::Output;

use crate::support::recording::{Folder, perfkit, record};

/// Many programs, each with hundreds of page faults.
const LOAD: &str = "for i in 1 2 3 4 5 6 7 8; do ls -R /usr/share/doc >/dev/null; done";

/// The commands that read one recording, or several.
const COMMANDS: &[&[&str]] = &[
    &["report", "-i", "l.data"],
    &["report", "-i", "l.data", "-g", "caller"],
    &["diff", "l.data", "l.data"],
    &["script", "-i", "l.data"],
    &["export", "-i", "l.data", "-f", "folded"],
    &["export", "-i", "l.data", "-f", "json"],
    #[cfg(feature = "flamegraph")]
    &["flamegraph", "-i", "l.data", "-o", "l.svg"],
];

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// Returns the part of a text between commas or colons that ends with `lost`.
fn loss(text: &str) -> Option<&str> {
    let (before, _) = text.split_once(" lost")?;
    before.rsplit([',', ':', '#']).next().map(str::trim)
}

#[test]
fn all_commands_report_the_losses_of_a_recording_by_the_same_text() {
    let folder = Folder::new();
    let file = folder.path("l.data");
    let options = ["-m", "1", "-c", "1", "-e", "page-faults", "-o", file.to_str().unwrap()];
    let Some(recorded) = record(&[&options[..], &["--", "sh", "-c", LOAD]].concat()) else { return };
    let recorded = text(&recorded);
    let Some(lost) = loss(&recorded).filter(|lost| *lost != "none") else {
        panic!("a ring of one page has all page faults: {recorded}");
    };
    // The kernel counts records of any kind.
    assert!(lost.ends_with(" records"), "{recorded}");
    for words in COMMANDS {
        let output = perfkit().current_dir(folder.path("")).args(*words).output().unwrap();
        let text = text(&output);
        let losses: Vec<_> = text.lines().filter_map(loss).collect();
        assert!(output.status.success() && !losses.is_empty(), "{words:?}: {text}");
        assert!(losses.iter().all(|loss| *loss == lost), "{words:?}: {losses:?}, expected {lost}");
    }
}

#[test]
fn loss_that_the_perf_tool_wrote_by_two_records_is_counted_once() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../perf-decode/tests/data/lost-throttle.data");
    let report = perfkit().args(["report", "-i", file]).output().unwrap();
    let text = text(&report);
    assert_eq!(text.lines().find_map(loss), Some("12 records"), "{text}");
}

#[test]
fn trace_reports_the_sum_of_the_losses_that_it_prints() {
    let folder = Folder::new();
    let file = folder.path("trace.json");
    let mut trace = perfkit();
    trace.args(["trace", "--json", "-m", "1", "-o", file.to_str().unwrap(), "--"]);
    let dd = "dd if=/dev/zero of=/dev/null bs=1 count=400000 status=none";
    let output = trace.args(["sh", "-c", dd]).output().unwrap();
    let Ok(lines) = std::fs::read_to_string(&file) else {
        return crate::support::recording::skip_if_refused(&output);
    };
    let lines = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let lost = lines.filter(|line| line["type"] == "lost");
    let lost: u64 = lost.map(|line| line["records"].as_u64().unwrap()).sum();
    let expected = (lost > 0).then(|| format!("{lost} record{}", if lost == 1 { "" } else { "s" }));
    let text = text(&output);
    assert_eq!(loss(&text), expected.as_deref(), "{text}");
}
