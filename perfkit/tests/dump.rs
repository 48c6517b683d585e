//! `perfkit dump` on captured rings, compared with the output of another decoder, and on damaged
//! files.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

mod support;

use support::run::{dump, dump_bytes, dump_to_closed_pipe};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-decode/tests/data")
}

/// Returns the names of all captured rings.
fn rings() -> Vec<String> {
    let names = fs::read_dir(data()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut rings: Vec<_> = names.filter_map(|name| Some(name.strip_suffix(".bin")?.to_owned())).collect();
    rings.sort();
    rings
}

fn path(ring: &str) -> PathBuf {
    data().join(format!("{ring}.bin"))
}

/// Returns the records of all snapshots as the other decoder printed them.
fn oracle(ring: &str) -> Vec<Value> {
    let packed = fs::File::open(data().join(format!("{ring}.json.gz"))).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    let mut records = Vec::new();
    for (index, snapshot) in whole["snapshots"].as_array().unwrap().iter().enumerate() {
        for record in snapshot["records"].as_array().unwrap() {
            let mut record = record.clone();
            record["snapshot"] = index.into();
            records.push(record);
        }
    }
    records
}

#[test]
fn every_record_of_a_captured_ring_equals_that_of_the_oracle() {
    let (mut compared, mut wrapped) = (0, 0);
    for ring in rings() {
        let (run, expected) = (dump(&path(&ring), &["--json"]), oracle(&ring));
        assert_eq!(run.code, Some(0), "{ring}: {:?}", run.errors);
        let found = run.records();
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{ring}");
            wrapped += usize::from(found["wraps"] == true);
        }
        assert_eq!(found.len(), expected.len(), "{ring}");
        compared += found.len();
    }
    println!("{compared} records compared, {wrapped} of which wrap");
    assert_eq!((rings().len(), compared, wrapped), (21, 2710, 38));
}

#[test]
fn every_record_is_one_line_of_text() {
    for ring in rings() {
        let run = dump(&path(&ring), &[]);
        assert_eq!((run.code, run.lines.len()), (Some(0), oracle(&ring).len()), "{ring}");
    }
    let lines = dump(&path("ring-multi-0"), &[]).lines;
    let first = "0 0x0000    64 [dummy] COMM pid=8205 tid=8205 comm=ringcap-0 | \
                 time=3687212645915 cpu=1 identifier=8326";
    assert_eq!(lines[0], first);
}

#[test]
fn overwritten_forward_ring_has_a_note_instead_of_records() {
    let run = dump(&path("ring-ovwfwd-0"), &["--json"]);
    assert_eq!((run.code, run.lines.len(), run.errors.len()), (Some(0), 0, 1));
    assert!(run.errors[0].contains("no records"), "{run:?}");
}

/// Truncates a ring file to `count` lengths. Each output must be a prefix of the complete one, and
/// not shorter than that of a shorter file.
fn truncate(ring: &str, count: usize, more: &[&str]) {
    let (bytes, whole) = (fs::read(path(ring)).unwrap(), dump(&path(ring), more).lines);
    let mut before = 0;
    for index in 0..count {
        let len = index * bytes.len() / count;
        let run = dump_bytes(&format!("truncated-{ring}{}", more.len()), &bytes[..len], more);
        assert!(run.has_one_error(), "{ring} of {len} bytes: {run:?}");
        assert!(whole.starts_with(&run.lines), "{ring} of {len} bytes");
        assert!(run.lines.len() >= before, "{ring} of {len} bytes has {} of {before}", run.lines.len());
        before = run.lines.len();
    }
}

#[test]
fn truncated_file_has_the_records_before_its_end() {
    truncate("ring-multi-0", 200, &["--json"]);
    truncate("ring-bwd-0", 200, &[]);
    for ring in rings().iter().filter(|ring| *ring != "ring-ovwfwd-0") {
        truncate(ring, 20, &["--json"]);
    }
}

#[test]
fn flipped_bytes_do_not_panic() {
    let mut random = 1_u64;
    for ring in ["ring-multi-0", "ring-bwdmulti-0", "ring-allbits-0", "ring-sys-0"] {
        let whole = fs::read(path(ring)).unwrap();
        for _ in 0..60 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // One byte of the first 1024, which hold lengths and attrs, and one anywhere.
            let (near, far) = ((random >> 33) as usize % 1024, (random >> 40) as usize % whole.len());
            let mut bytes = whole.clone();
            bytes[near] ^= (random >> 24) as u8;
            bytes[far] ^= (random >> 16) as u8;
            let run = dump_bytes(&format!("flipped-{ring}"), &bytes, &["--json"]);
            assert!(run.is_clean() || run.has_one_error(), "{ring} at {near} and {far}: {run:?}");
            run.records();
        }
    }
}

#[test]
fn file_that_is_not_a_ring_is_one_error() {
    for (name, bytes) in [("empty", &b""[..]), ("other", &b"PERFILE2 and more"[..])] {
        let run = dump_bytes(name, bytes, &["--json"]);
        assert!(run.has_one_error() && run.lines.is_empty(), "{run:?}");
    }
    let run = dump(Path::new("does/not/exist"), &[]);
    assert!(run.has_one_error(), "{run:?}");
    assert!(run.errors[0].contains("does/not/exist"), "{run:?}");
}

#[test]
fn closed_output_ends_the_dump_without_an_error() {
    let run = dump_to_closed_pipe(&path("ring-bpf-0"), 0, &[]);
    assert!(run.is_clean(), "{run:?}");
}
