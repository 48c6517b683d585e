//! Recordings with values near 2^64: sums saturate and say so. The program has overflow checks in
//! the tests.

use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit};

/// Every command that sums up values of a recording.
const COMMANDS: &[&[&str]] = &[
    &["report"],
    &["report", "-g", "callee", "--percent-limit", "0"],
    &["report", "--json", "-g"],
    &["report", "-n", "-s", "dso,sym,srcline"],
    &["script"],
    &["dump"],
    &["dump", "--json"],
    &["export", "-f", "folded"],
    &["export", "-f", "json"],
    &["export", "-f", "json", "--sum"],
    &["export", "-o", "x.pb"],
    &["export", "-o", "x.profile.json"],
    &["export", "-o", "x.trace.json"],
    &["flamegraph"],
    &["flamegraph", "--counts", "--reverse"],
    &["diff", "--percent-limit", "0"],
    &["diff", "--absolute", "--children"],
    &["diff", "--json"],
    &["flamegraph", "--normalize", "--diff"],
];

/// Returns whether this build has a command.
fn has_command(words: &[&str]) -> bool {
    cfg!(feature = "flamegraph") || words.first() != Some(&"flamegraph")
}

/// Runs a command on `perf.data` of a folder. It returns 0 or an error, and does not panic.
fn run(folder: &Path, words: &[&str]) -> (String, String) {
    let mut command = perfkit();
    command.args(words).current_dir(folder);
    match words {
        ["diff", ..] | [.., "--diff"] => command.args(["perf.data", "perf.data"]),
        _ => command.args(["-i", "perf.data"]),
    };
    let output = command.output();
    assert!(output.is_ok(), "{words:?}: {output:?}");
    let Ok(output) = output else { return Default::default() };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (out, errors) = (text(output.stdout), text(output.stderr));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{words:?}: {:?}: {errors}", output.status);
    (out, errors)
}

#[test]
fn sums_that_do_not_fit_are_at_least_the_largest_number() {
    let folder = Folder::new();
    let mut made = Made::new();
    made.comm(7, b"large");
    for (ip, period) in [(0x1000, 1 << 63), (0x2000, 1 << 63), (0x3000, 5)] {
        made.sample_of(7, ip, 2_000_000_000, period);
    }
    made.lost(1 << 63, 1 << 63);
    made.lost(1 << 63, 1 << 63);
    made.write(&folder.path("perf.data"));
    let folder = folder.path("");
    let (report, _) = run(&folder, &["report", "-s", "comm"]);
    assert!(report.contains("# cpu-clock: 3 samples, at least 18446744073.709 s\n"), "{report}");
    let most = "at least 18446744073709551615";
    let lost = format!("{most} records and {most} samples lost");
    assert!(report.contains(&format!("# {lost}\n")), "{report}");
    assert!(report.contains("100.00%  large"), "{report}");
    let (json, _) = run(&folder, &["report", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["events"][0]["value"], u64::MAX);
    assert_eq!(json["losses"]["lost_samples"], u64::MAX);
    for words in
        [&["export", "-f", "folded"][..], &["flamegraph"]].into_iter().filter(|words| has_command(words))
    {
        let (_, errors) = run(&folder, words);
        assert!(errors.contains(&lost), "{errors}");
    }
    let (_, errors) = run(&folder, &["script"]);
    assert!(errors.contains(&lost), "{errors}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_values_and_losses_are_summed_up(
        samples in prop::collection::vec((0_u32..3, numbers(), numbers(), numbers()), 2..12),
        losses in prop::collection::vec((numbers(), numbers()), 0..3),
    ) {
        let folder = Folder::new();
        let mut made = Made::new();
        made.comm(1, b"one");
        made.map(1, 0x1000, b"/no/such/file", None);
        for (pid, ip, time, period) in samples {
            // In user space: the symbols of the kernel are many.
            made.sample_of(pid, ip >> 1, time, period);
        }
        for (records, samples) in losses {
            made.lost(records, samples);
        }
        made.write(&folder.path("perf.data"));
        for words in COMMANDS.iter().filter(|words| has_command(words)) {
            run(&folder.path(""), words);
        }
    }
}

/// Any numbers, and such whose sums are about 2^64.
fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0u64..9,
        (0u64..9).prop_map(|less| u64::MAX - less),
        Just(1 << 63),
        Just(0x2020)
    ]
}
