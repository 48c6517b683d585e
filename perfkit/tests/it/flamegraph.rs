//! `perfkit flamegraph`: the texts of pictures, and what is left after a failure.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::support::captures::Captures;
use crate::support::made::{KERNEL, Made};
use crate::support::recording::{Folder, perfkit};
use crate::support::snapshot::expect_snapshot;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn flamegraph(options: &[&str]) -> Output {
    perfkit().arg("flamegraph").args(options).stdin(Stdio::null()).output().unwrap()
}

/// Returns the picture of a recording, as standard output.
fn svg(recording: &Path, options: &[&str]) -> String {
    svg_of(flamegraph(&[&["-i", recording.to_str().unwrap(), "-o", "-"], options].concat()))
}

fn svg_of(output: Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the title, the subtitle, and each frame with its place, size and color.
fn texts(svg: &str) -> String {
    let between = |text: &str, start: &str, end: &str| {
        let (_, rest) = text.split_once(start).unwrap();
        rest.split_once(end).unwrap().0.to_owned()
    };
    let mut texts = String::new();
    for id in ["title", "subtitle"] {
        let element = between(svg, &format!("<text id=\"{id}\""), "</text>");
        writeln!(texts, "{id}: {}", element.split_once('>').unwrap().1).unwrap();
    }
    for group in svg.split("<g>").skip(1) {
        let title = between(group, "<title>", "</title>");
        let [y, x, width] = ["y", "fg:x", "fg:w"].map(|name| between(group, &format!(" {name}=\""), "\""));
        let color = between(group, "fill=\"", "\"");
        writeln!(texts, "{y} {x} {width} {color} {title}").unwrap();
    }
    texts
}

/// Checks that a picture has no characters that XML does not permit, and no markup but inferno's.
fn expect_valid(svg: &str) {
    assert!(
        !svg.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')),
        "{svg}"
    );
    assert!(!svg.contains(['\u{fffe}', '\u{ffff}', '\u{202e}']), "{svg}");
    let elements = ["svg", "g", "title", "rect", "text", "defs", "linearGradient", "stop", "style", "script"];
    // Without the script, in which `<` is an operator.
    let mut rest = svg.to_owned();
    while let Some((before, after)) = rest.split_once("<![CDATA[") {
        rest = format!("{before}{}", after.split_once("]]>").unwrap().1);
    }
    for part in rest.split('<').skip(1).filter(|part| !part.starts_with(['/', '?', '!'])) {
        let name = part.split([' ', '>', '/', '\n']).next().unwrap();
        assert!(elements.contains(&name), "{part}");
    }
}

fn captured(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-decode/tests/data").join(name)
}

#[test]
fn pictures_of_captured_files_have_the_texts_of_the_snapshots() {
    let captures = Captures::new();
    let cases: [(&str, &[&str]); 4] = [
        ("callchain", &[]),
        ("reversed", &["--reverse", "--inverted", "--counts", "--root", "none"]),
        (
            "palette",
            &["--palette", "hot", "--root", "tid", "--title", "a & <b>", "--subtitle", "x", "--width", "500"],
        ),
        ("narrow", &["--min-width", "20", "--time", "50%-100%"]),
    ];
    for (name, options) in cases {
        let words = [&["flamegraph", "-i", "cpuclock-fp.data", "-o", "-"], options].concat();
        let picture = svg_of(captures.run(&words));
        expect_valid(&picture);
        assert_eq!(picture, svg_of(captures.run(&words)), "{name}: not the same bytes");
        expect_snapshot("flamegraph", name, &texts(&picture));
    }
}

/// Writes a recording of samples at addresses in two programs: twice as many at the first for each
/// sample at the second.
fn made(path: &Path, first: usize, second: usize) {
    let mut made = Made::new();
    made.comm(10, b"<\x1b[31m&\"';\n\xff\xe2\x80\xae\xef\xbf\xbf 12");
    made.map(10, 0x1000, b"/nonexistent/first & \x01", None);
    made.map(10, 0x5000, b"/nonexistent/second 7", None);
    for _ in 0..first {
        made.sample(10, 0x1010);
    }
    for _ in 0..second {
        made.sample(10, 0x5010);
    }
    made.write(path);
}

#[test]
fn bad_names_are_texts() {
    let folder = Folder::new();
    let recording = folder.path("perf.data");
    made(&recording, 3, 1);
    for options in [&[][..], &["--reverse"], &["--root", "none"], &["--title", "\u{1b}\u{ffff}", "--counts"]]
    {
        let picture = svg(&recording, options);
        expect_valid(&picture);
        let texts = texts(&picture);
        assert!(texts.contains("[first &amp; \u{fffd}] (3 "), "{texts}");
        // Not a number of samples.
        assert!(texts.contains("[second 7] (1 "), "{texts}");
    }
    let texts = texts(&svg(&recording, &[]));
    assert!(
        texts.contains("title: cpu-clock: ")
            && texts.contains("subtitle: 4 samples, none lost, 0 incomplete stacks")
    );
    assert!(
        texts.contains(
            " &lt;\u{fffd}[31m&amp;&quot;&apos;:\u{fffd}\u{fffd}\u{fffd}\u{fffd}_12 (4 us, 100.00%)"
        ),
        "{texts}"
    );
}

#[test]
fn kernel_and_user_space_have_other_colors() {
    let folder = Folder::new();
    let recording = folder.path("perf.data");
    let mut made = Made::new();
    made.comm(10, b"a");
    made.sample(10, KERNEL + 16);
    made.sample(10, 0x1000);
    made.write(&recording);
    let texts = texts(&svg(&recording, &["--root", "none"]));
    let colors: Vec<&str> = texts.lines().filter_map(|line| line.split(' ').nth(3)).collect();
    assert_eq!(colors.len(), 4, "{texts}");
    // Orange, grey.
    assert!(texts.lines().any(|line| line.contains(" rgb(2")), "{texts}");
    assert!(
        texts.lines().any(|line| line.contains("[unknown] (1 us") && line.contains(" rgb(17")),
        "{texts}"
    );
}

#[test]
fn difference_names_the_base_and_what_is_gone() {
    let folder = Folder::new();
    let (old, new) = (folder.path("old.data"), folder.path("new.data"));
    made(&old, 3, 1);
    made(&new, 0, 2);
    let diff = |options: &[&str]| {
        let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
        let output = flamegraph(&[&["--diff", old, new, "-o", "-"], options].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        expect_valid(&text(&output.stdout));
        texts(&text(&output.stdout))
    };
    let texts = diff(&[]);
    assert!(texts.contains("title: cpu-clock: new.data compared with the base old.data\n"), "{texts}");
    let subtitle = "subtitle: red: more than in the base, blue: less; gone and not drawn: 75.0% of the base; \
                    samples: 2 (base 4), lost: 0 (0), incomplete stacks: 0 (0)\n";
    assert!(texts.contains(subtitle), "{texts}");
    assert!(texts.contains("rgb(255,") && texts.contains("[second 7] (2 us, 100.00%; +50.00%)"), "{texts}");
    let normalized = diff(&["--normalize", "--counts"]);
    assert!(normalized.contains("; base times 0.50"), "{normalized}");
    // A quarter of 2 is rounded.
    assert!(normalized.contains("[second 7] (2 samples, 100.00%; +50.00%)"), "{normalized}");
}

#[test]
fn programs_of_different_names_are_compared() {
    let folder = Folder::new();
    let recorded = |name: &str| {
        let mut made = Made::new();
        made.comm(10, name.as_bytes());
        made.kernel_function(KERNEL, b"function");
        for _ in 0..300 {
            made.sample(10, KERNEL + 16);
        }
        made.sample(10, 0x1010);
        let path = folder.path(name);
        made.write(&path);
        path.to_str().unwrap().to_owned()
    };
    let (old, new) = (recorded("app-old"), recorded("app-new"));
    let diff = |options: &[&str]| flamegraph(&[&["--diff", &old, &new, "-o", "-"], options].concat());
    let same = diff(&[]);
    // The names that are missing in both are not reported.
    assert!(same.stderr.is_empty(), "{same:?}");
    let texts = texts(&svg_of(same));
    assert!(texts.contains("function (300 us, 99.67%; 0.00%)") && !texts.contains("gone"), "{texts}");
    let by_name = diff(&["--root", "comm"]);
    let errors = text(&by_name.stderr);
    assert!(errors.contains("--root none compares threads of different names"), "{errors}");
    assert!(svg_of(by_name).contains("gone and not drawn: 100.0% of the base"));
}

#[test]
fn subtitle_fits_the_page() {
    let folder = Folder::new();
    let recording = folder.path("perf.data");
    made(&recording, 3, 1);
    let path = recording.to_str().unwrap();
    let subtitle = |options: &[&str]| {
        let picture = svg_of(flamegraph(&[&["-o", "-", "--width", "500"], options].concat()));
        texts(&picture).lines().find_map(|line| Some(line.strip_prefix("subtitle: ")?.to_owned())).unwrap()
    };
    for options in [&["--diff", path, path][..], &["-i", path, "--subtitle", &"x".repeat(300)]] {
        let found = subtitle(options);
        assert!(found.chars().count() <= 65 && found.ends_with('\u{2026}'), "{found}");
    }
    assert_eq!(subtitle(&["-i", path]), "4 samples, none lost, 0 incomplete stacks");
}

#[test]
fn refused_pictures_leave_the_file_that_was_there() {
    let folder = Folder::new();
    let (recording, empty, other) =
        (folder.path("perf.data"), folder.path("empty.data"), folder.path("other.data"));
    made(&recording, 1, 0);
    Made::new().write(&empty);
    let mut faults = Made::with_event("page-faults");
    faults.comm(1, b"a");
    faults.sample(1, 1);
    faults.write(&other);
    let out = folder.path("x.svg");
    fs::write(&out, "old").unwrap();
    let [recording, empty, other, out] =
        [&recording, &empty, &other, &out].map(|path| path.to_str().unwrap());
    let is_refused = |options: &[&str], code: i32, words: &str| {
        let output = flamegraph(&[&["-o", out], options].concat());
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{options:?} {errors}");
        assert!(errors.contains(words) && output.stdout.is_empty(), "{options:?} {errors}");
        assert_eq!(fs::read_to_string(out).unwrap(), "old", "{options:?}");
    };
    is_refused(&["-i", empty], 1, "empty.data: no samples of cpu-clock to draw");
    is_refused(&["-i", recording, "--comm", "nobody"], 1, "the options choose none of them");
    is_refused(&["-i", recording, "-e", "cycles"], 1, "no event `cycles`");
    is_refused(&["-i", "/nonexistent/x"], 1, "/nonexistent/x: No such file");
    is_refused(&["--diff", recording, other], 1, "found cpu-clock and page-faults");
    is_refused(&["--diff", recording, empty], 1, "empty.data: no samples");
    is_refused(&["--diff", recording], 2, "2 values required");
    is_refused(&["--diff", recording, other, "-i", empty], 2, "cannot be used with");
    is_refused(&["-i", recording, "--normalize"], 2, "--diff");
    is_refused(&["-i", recording, "--palette", "x"], 2, "origin");
    is_refused(&["-i", recording, "--width", "1"], 2, "100..");
    is_refused(&["-i", recording, "--min-width", "NaN"], 2, "percent");
    let missing = folder.path("missing/x.svg");
    let output = flamegraph(&["-i", recording, "-o", missing.to_str().unwrap()]);
    assert!(text(&output.stderr).contains("missing/x.svg: No such file"), "{output:?}");

    let output = flamegraph(&["-i", recording, "-o", out]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        text(&output.stderr)
            .contains("x.svg: 1 sample, none lost, 0 incomplete stacks; open it in a browser"),
        "{output:?}"
    );
    assert!(fs::read_to_string(out).unwrap().ends_with("</svg>"));
}

#[test]
fn damage_is_reported_after_the_picture_is_written() {
    let folder = Folder::new();
    let recording = folder.path("cut.data");
    let bytes = fs::read(captured("cpuclock-fp.data")).unwrap();
    fs::write(&recording, bytes.get(..bytes.len() / 2).unwrap()).unwrap();
    let output = flamegraph(&["-i", recording.to_str().unwrap(), "-o", "-"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("cut.data: "), "{output:?}");
    if !output.stdout.is_empty() {
        assert!(text(&output.stdout).ends_with("</svg>"));
    }
}
