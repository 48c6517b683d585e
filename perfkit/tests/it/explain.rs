//! Tests of `perfkit explain`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::captures::Captures;
use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn page_has_the_hottest_functions_what_is_unreliable_and_the_next_command() {
    let captures = Captures::new();
    let output = captures.run(&["explain", "cpuclock-fp.data"]);
    let page = text(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    for part in ["hottest functions", "hottest path", "missing or unreliable", "next:\n- perfkit "] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // Some 2000 tokens.
    assert!(page.lines().count() < 70 && page.len() < 8000, "{page}");
}

#[test]
fn page_of_any_recording_is_small() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let mut made = Made::with_callchains();
    let name = vec![b'x'; 3000];
    for pid in 1..200 {
        made.comm(pid, &name);
        made.map(pid, 0x1000, &[b"/", &name[..]].concat(), None);
        made.callchain(pid, &[0x1010; 100]);
    }
    made.write(&file);
    let output = perfkit().arg("explain").arg(&file).output().unwrap();
    let page = text(&output.stdout);
    assert!(output.status.success() && page.len() < 10_000, "{} bytes: {page}", page.len());
}

#[test]
fn recording_without_samples_has_advice() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let mut made = Made::new();
    made.comm(10, b"a");
    made.write(&file);
    let output = perfkit().args(["explain", "--json", "-i"]).arg(&file).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["next"][0]["command"], "perfkit doctor", "{value}");
    assert_eq!(value["functions"], Value::Array(Vec::new()));
}

#[test]
fn each_key_of_the_json_is_documented() {
    let captures = Captures::new();
    let output = captures.run(&["explain", "cpuclock-fp.data", "-j"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/explain-json.md");
    let document = fs::read_to_string(document).unwrap();
    for key in value.as_object().unwrap().keys() {
        assert!(document.contains(&format!("| `{key}` |")), "docs/explain-json.md has no `{key}`");
    }
    for list in ["functions", "path", "next", "threads"] {
        for key in value[list][0].as_object().unwrap().keys() {
            assert!(document.contains(&format!("`{key}`")), "docs/explain-json.md has no `{key}`");
        }
    }
}
