//! The example `ring_json` on captured, built and damaged rings: the JSON of every kind of record
//! and of every field of samples, as `docs/dump-json.md` describes it.

#![cfg(target_endian = "little")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test's helpers may fail it"
)]

use serde_json::Value;

mod captures;
mod damage;
#[allow(dead_code, reason = "the program's own part is not called")]
#[path = "../../../examples/ring_json.rs"]
mod example;
mod file;
mod kinds;
mod rings;
mod samples;

use example::End;

/// Result of a run.
#[derive(Debug)]
struct Run {
    end: End,
    lines: Vec<String>,
}

impl Run {
    fn records(&self) -> Vec<Value> {
        self.lines.iter().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    fn is_clean(&self) -> bool {
        self.end == End::Complete
    }

    /// Returns the error, or nothing.
    fn error(&self) -> &str {
        if let End::Damaged(text) = &self.end { text } else { "" }
    }
}

fn dump(file: &[u8]) -> Run {
    let mut out = Vec::new();
    let end = example::print(&mut out, file).unwrap();
    Run { end, lines: String::from_utf8(out).unwrap().lines().map(str::to_owned).collect() }
}

/// Returns the records of an undamaged file.
fn undamaged(file: &[u8]) -> Vec<Value> {
    let run = dump(file);
    assert!(run.is_clean(), "{run:?}");
    run.records()
}

/// Returns the fields of the records of an undamaged file.
fn fields(file: &[u8]) -> Vec<Value> {
    undamaged(file).iter_mut().map(|record| record["fields"].take()).collect()
}
