//! `perfkit dump` on real rings, compared with what another decoder made of them, and on damaged ones.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

mod ring;

use ring::Ring;

/// What one run gave.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    lines: Vec<String>,
    complaints: Vec<String>,
}

impl Run {
    fn records(&self) -> Vec<Value> {
        self.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Whether it ended as programs do that meet damage: with one line that says so, or without any.
    fn ended_well(&self) -> bool {
        matches!((self.code, self.complaints.len()), (Some(0), 0) | (Some(1), 1))
    }
}

fn lines(output: Vec<u8>) -> Vec<String> {
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

fn dump(file: &Path, more: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfkit"));
    let output = command.arg("dump").arg("--ring").arg(file).args(more).output().unwrap();
    Run { code: output.status.code(), lines: lines(output.stdout), complaints: lines(output.stderr) }
}

/// Writes `bytes` to a file of this name and dumps it.
fn dump_bytes(name: &str, bytes: &[u8], more: &[&str]) -> Run {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    dump(&path, more)
}

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
    let first = "0 0x0000    64 [dummy] COMM ringcap-0:8205/8205 | \
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
        assert!(run.code == Some(1) && run.ended_well(), "{ring} of {len} bytes: {run:?}");
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
            assert!(run.ended_well(), "{ring} at {near} and {far}: {run:?}");
            run.records();
        }
    }
}

#[test]
fn a_file_that_is_no_ring_is_refused_in_one_line() {
    for (name, bytes) in [("empty", &b""[..]), ("other", &b"PERFILE2 and more"[..])] {
        let run = dump_bytes(name, bytes, &["--json"]);
        assert!(run.code == Some(1) && run.ended_well() && run.lines.is_empty(), "{run:?}");
    }
    let run = dump(Path::new("does/not/exist"), &[]);
    assert!(run.code == Some(1) && run.ended_well(), "{run:?}");
    assert!(run.complaints[0].contains("does/not/exist"), "{run:?}");
}

#[test]
fn a_reader_that_leaves_early_ends_the_dump_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_perfkit"))
        .args(["dump", "--ring"])
        .arg(path("ring-bpf-0"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert!(child.wait().unwrap().success() && complaint.is_empty(), "{complaint}");
}

#[test]
fn a_record_without_an_event_or_a_meaning_is_kept_and_counted() {
    // TID, IDENTIFIER and sample_id_all: LOST has 16 bytes of body and 16 of trailer.
    let mut ring = Ring::new(&[(70, 1 << 16 | 2), (71, 1 << 16 | 2)]);
    ring.record(2, &[71, 5, u64::MAX, 71]);
    ring.record(2, &[71, 5, 0, 72]);
    ring.record(77, &[0x1122]);
    ring.record(9, &[70, 0, 0]);
    let run = dump_bytes("unknown", &ring.finish(), &["--json"]);
    let expected = [
        json!({"type": 2, "name": "LOST", "misc": 0, "size": 40, "snapshot": 0, "offset": 0, "wraps": false,
               "attr": 1, "fields": {"id": 71, "lost": 5,
                                     "sample_id": {"pid": -1, "tid": -1, "identifier": 71}}}),
        json!({"type": 2, "name": "LOST", "misc": 0, "size": 40, "snapshot": 0, "offset": 40, "wraps": false,
               "error": "no event with id 72 is known for this ring"}),
        json!({"type": 77, "name": "RecordType(77)", "misc": 0, "size": 16, "snapshot": 0, "offset": 80,
               "wraps": false, "fields": {"raw": "2211000000000000"}}),
        json!({"type": 9, "name": "SAMPLE", "misc": 0, "size": 32, "snapshot": 0, "offset": 96,
               "wraps": false, "attr": 0,
               "error": "SAMPLE: 8 bytes behind the last field: is this the attr of the event?"}),
    ];
    assert_eq!(run.records(), expected);
    assert_eq!((run.code, run.complaints.len()), (Some(1), 1));
    assert!(run.complaints[0].ends_with("the first of 2 errors"), "{run:?}");
}

#[test]
fn kinds_that_the_captures_lack_have_the_forms_of_the_schema() {
    let mut ring = Ring::new(&[(1, 0)]);
    ring.record(3, &[7 | 8 << 32, u64::from_le_bytes(*b"\xffa\"\n\0\0\0\0")]);
    ring.record(11, &[4096, 64, 0x101]);
    ring.record(20, &[0xff00, 0x0403_0201_0003_0002, 5]);
    ring.record(22, &[0xabc, 1, 0x40_1000]);
    let records = dump_bytes("rare", &ring.finish(), &["--json"]).records();
    let fields: Vec<_> = records.iter().map(|record| &record["fields"]).collect();
    let expected = [
        json!({"pid": 7, "tid": 8, "comm": "\u{fffd}a\"\n"}),
        json!({"aux_offset": 4096, "aux_size": 64, "flags": "0x101"}),
        json!({"addr": "0xff00", "old_len": 2, "new_len": 3, "bytes": "0102030405"}),
        json!({"cookie": "0xabc", "ips": ["0x401000"]}),
    ];
    assert_eq!(fields, expected.iter().collect::<Vec<_>>());
}
