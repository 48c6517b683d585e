//! `perfkit dump` on real rings, compared with what another decoder made of them, and on damaged ones.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

mod support;

use support::run::{dump, dump_bytes, left_early};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-decode/tests/data")
}

/// Every real ring, by name.
fn rings() -> Vec<String> {
    let names = fs::read_dir(data()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut rings: Vec<_> = names.filter_map(|name| Some(name.strip_suffix(".bin")?.to_owned())).collect();
    rings.sort();
    rings
}

fn path(ring: &str) -> PathBuf {
    data().join(format!("{ring}.bin"))
}

/// The records of all snapshots as the other decoder wrote them.
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
fn every_record_of_a_real_ring_is_what_the_oracle_says() {
    let (mut compared, mut wrapped) = (0, 0);
    for ring in rings() {
        let (run, expected) = (dump(&path(&ring), &["--json"]), oracle(&ring));
        assert_eq!(run.code, Some(0), "{ring}: {:?}", run.complaints);
        let found = run.records();
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{ring}");
            wrapped += usize::from(found["wraps"] == true);
        }
        assert_eq!(found.len(), expected.len(), "{ring}");
        compared += found.len();
    }
    println!("{compared} records compared, {wrapped} of them across the end");
    assert_eq!((rings().len(), compared, wrapped), (21, 2710, 38));
}

#[test]
fn a_line_for_people_is_printed_for_every_record() {
    for ring in rings() {
        let run = dump(&path(&ring), &[]);
        assert_eq!((run.code, run.lines.len()), (Some(0), oracle(&ring).len()), "{ring}");
    }
    let lines = dump(&path("ring-multi-0"), &[]).lines;
    let first = "0 0x0000    64 [dummy] COMM pid=8205 tid=8205 comm=ringcap-0 | \
                 pid=8205 tid=8205 time=3687212645915 cpu=1 identifier=8326";
    assert_eq!(lines[0], first);
}

#[test]
fn an_overwritten_forward_ring_has_no_records_and_says_why() {
    let run = dump(&path("ring-ovwfwd-0"), &["--json"]);
    assert_eq!((run.code, run.lines.len(), run.complaints.len()), (Some(0), 0, 1));
    assert!(run.complaints[0].contains("no records"), "{run:?}");
}

/// Cuts a ring at `count` places; what is printed must be the beginning of `whole`, and never less than
/// for a shorter file.
fn cut(ring: &str, count: usize, more: &[&str]) {
    let (bytes, whole) = (fs::read(path(ring)).unwrap(), dump(&path(ring), more).lines);
    let mut before = 0;
    for index in 0..count {
        let len = index * bytes.len() / count;
        let run = dump_bytes(&format!("cut-{ring}{}", more.len()), &bytes[..len], more);
        assert!(run.complained_once(), "{ring} of {len} bytes: {run:?}");
        assert!(whole.starts_with(&run.lines), "{ring} of {len} bytes");
        assert!(run.lines.len() >= before, "{ring} of {len} bytes has {} of {before}", run.lines.len());
        before = run.lines.len();
    }
}

#[test]
fn a_cut_file_gives_the_records_that_are_whole() {
    cut("ring-multi-0", 200, &["--json"]);
    cut("ring-bwd-0", 200, &[]);
    for ring in rings().iter().filter(|ring| *ring != "ring-ovwfwd-0") {
        cut(ring, 20, &["--json"]);
    }
}

#[test]
fn a_flipped_byte_is_never_a_panic() {
    let mut random = 1_u64;
    for ring in ["ring-multi-0", "ring-bwdmulti-0", "ring-allbits-0", "ring-sys-0"] {
        let whole = fs::read(path(ring)).unwrap();
        for _ in 0..60 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // One byte of the first kilobyte, where lengths and attrs are, and one anywhere.
            let (near, far) = ((random >> 33) as usize % 1024, (random >> 40) as usize % whole.len());
            let mut bytes = whole.clone();
            bytes[near] ^= (random >> 24) as u8;
            bytes[far] ^= (random >> 16) as u8;
            let run = dump_bytes(&format!("flipped-{ring}"), &bytes, &["--json"]);
            assert!(run.is_clean() || run.complained_once(), "{ring} at {near} and {far}: {run:?}");
            run.records();
        }
    }
}

#[test]
fn a_file_that_is_no_ring_is_refused_in_one_line() {
    for (name, bytes) in [("empty", &b""[..]), ("other", &b"PERFILE2 and more"[..])] {
        let run = dump_bytes(name, bytes, &["--json"]);
        assert!(run.complained_once() && run.lines.is_empty(), "{run:?}");
    }
    let run = dump(Path::new("does/not/exist"), &[]);
    assert!(run.complained_once(), "{run:?}");
    assert!(run.complaints[0].contains("does/not/exist"), "{run:?}");
}

#[test]
fn a_reader_that_leaves_early_ends_the_dump_quietly() {
    let run = left_early(&path("ring-bpf-0"), 0, &[]);
    assert!(run.is_clean(), "{run:?}");
}
