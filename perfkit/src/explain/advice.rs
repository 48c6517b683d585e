//! Unreliable parts of a profile, and the commands to run next.

use perf_profile::Profile;
use perf_profile::read::Metadata;

use super::facts::Facts;
use crate::out::message::count;

/// Samples below which shares are coarse: the share of a function with a tenth of 400 samples is
/// known to 3 percent points.
const FEW_SAMPLES: u64 = 400;
/// Share in percent from which a function is worth its instructions.
const HOT: f64 = 10.0;
/// Mean number of CPUs below which a program waits for most of the time.
const MOSTLY_WAITING: f64 = 0.5;

/// Returns what the losses of a profile do not have.
pub(super) fn unreliable(profile: &Profile, facts: &Facts<'_>) -> Vec<String> {
    let samples = profile.sample_count(facts.event);
    let mut lines = Vec::new();
    if samples > 0 && samples < FEW_SAMPLES {
        // Twice the standard error of a share of one half.
        #[allow(clippy::cast_precision_loss)]
        let error = 100.0 / (samples as f64).sqrt();
        let samples = count(samples, "sample");
        lines.push(format!("{samples} only: shares may be wrong by up to {error:.0} percent points"));
    }
    if facts.path.is_empty() && samples > 0 {
        lines.push("no stacks were recorded: who calls the functions is unknown".to_owned());
    }
    lines
}

/// Returns the commands to run next with their reasons, the most useful first.
pub(super) fn next(profile: &Profile, about: &Metadata, facts: &Facts<'_>) -> Vec<(String, String)> {
    let mut next = Vec::new();
    let mut add = |command: &str, reason: &str| next.push((command.to_owned(), reason.to_owned()));
    let samples = profile.sample_count(facts.event);
    let is_waits = facts.waits.is_some();
    let option = facts.waits.map_or_else(String::new, |option| format!(" {option}"));
    if samples == 0 {
        add("perfkit doctor", "there are no samples: what can be measured here");
        add("perfkit record --off-cpu CMD", "a program that waits has no samples of a clock");
        return next;
    }
    if profile.losses().lost.samples() > 0 {
        add("perfkit record -m 4M CMD", "samples were lost: larger rings, or a lower frequency by -F");
    }
    let losses = profile.losses();
    let incomplete =
        losses.incomplete_stacks.iter().fold(0_u64, |sum, (count, _)| sum.saturating_add(*count));
    if incomplete.saturating_mul(10) > samples {
        add(
            &format!("perfkit record{option} --call-graph dwarf CMD"),
            "many stacks are incomplete: this copies them for unwinding",
        );
    }
    if facts.path.is_empty() {
        add(
            "perfkit record --call-graph dwarf CMD",
            "for stacks; -g costs less if all code has frame pointers",
        );
    }
    if facts.busy_cpus.is_some_and(|cpus| cpus < MOSTLY_WAITING) {
        add(
            "perfkit record --off-cpu CMD",
            "the threads are off the CPU for most of the time: where they wait, or for a CPU",
        );
    }
    if samples < FEW_SAMPLES && about.command.is_some() && !is_waits {
        add("perfkit record -F 10000 CMD", "for more samples, or run it for longer");
    }
    if profile.losses().unnamed_samples.saturating_mul(10) > samples {
        add(
            "perfkit report -s dso",
            "many addresses have no names: install the debug packages of these objects",
        );
    }
    let hottest = facts.functions.iter().find(|row| row.entry.function.is_some() && !row.entry.is_unnamed);
    if let Some(row) = hottest.filter(|_| !is_waits) {
        let is_hot = facts.shares.of(row.cost(facts.event).self_value) >= HOT;
        if let Some(name) = row.entry.function.filter(|_| is_hot && !row.entry.is_kernel) {
            let name = quoted(name);
            add(&format!("perfkit annotate {name}"), "its instructions and source lines with their shares");
        }
    }
    if !facts.path.is_empty() {
        add(&format!("perfkit report{option} -g caller"), "all paths as a tree");
        add(&format!("perfkit flamegraph{option}"), "all paths as a picture");
    }
    next
}

/// Returns a name as a word of a shell.
fn quoted(name: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_.:@/-".contains(character);
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_shell() {
        assert_eq!(quoted("core::fmt::write"), "core::fmt::write");
        assert_eq!(quoted("<a as b>::c'd"), "'<a as b>::c'\\''d'");
        assert_eq!(quoted(""), "''");
    }
}
