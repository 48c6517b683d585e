//! The gaps of a profile, as messages.

use perf_profile::{Losses, Profile};

use crate::out::message::{count, note};

/// Reasons for missing names are printed only if at least one of this many samples has an unnamed
/// address, because most recordings have a few stacks with an address at which nothing is mapped.
const FEW: u64 = 200;

/// Prints each kind of gap of the profile with its most frequent reason; `perfkit report` has all
/// reasons. Incomplete stacks below a thousandth are left out, because nearly every recording has
/// some.
pub(crate) fn note_losses(profile: &Profile) {
    lines(&losses(profile).0).iter().for_each(note);
}

/// Returns the gaps of the profile without the reasons for a few unnamed addresses, and the number
/// of these addresses.
pub(crate) fn losses(profile: &Profile) -> (Losses, u64) {
    let samples = profile.event_ids().map(|(id, _)| profile.sample_count(id)).fold(0, u64::saturating_add);
    let mut losses = profile.losses().clone();
    let unnamed = losses.unnamed();
    if !are_few(losses.unnamed_samples, samples) {
        return (losses, 0);
    }
    losses.unnamed_addresses.clear();
    losses.unnamed_samples = 0;
    (losses, unnamed)
}

/// Returns whether so few samples have an unnamed address that the reasons are not printed.
pub(crate) fn are_few(unnamed_samples: u64, samples: u64) -> bool {
    unnamed_samples.saturating_mul(FEW) < samples
}

fn lines(losses: &Losses) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend((!losses.lost.is_empty()).then(|| losses.lost.to_string()));
    if losses.broken_waits > 0 {
        let waits = count(losses.broken_waits, "wait");
        lines.push(format!("{waits} left out, because the end is unknown"));
    }
    if losses.waits_without_stack > 0 {
        lines.push(format!("{} without a stack", count(losses.waits_without_stack, "wait")));
    }
    if losses.waits_without_wakeup > 0 {
        let waits = count(losses.waits_without_wakeup, "wait");
        lines.push(format!("{waits} without a known wakeup: the time for a CPU after it is not known"));
    }
    for reasons in losses.reasons() {
        if let Some((most, reason)) = reasons.list.first() {
            let sum = reasons.list.iter().fold(0_u64, |sum, (count, _)| sum.saturating_add(*count));
            if sum < reasons.total / 1000 {
                continue;
            }
            let counted = reasons.counted(sum);
            lines.push(if *most == sum {
                format!("{counted}: {reason}")
            } else {
                format!("{counted}, {most} of them: {reason}")
            });
        }
    }
    lines.extend(reused(losses.reused_addresses));
    lines
}

/// Returns a message about addresses that were named after the last of several functions.
pub(crate) fn reused(addresses: u64) -> Option<String> {
    let addresses = (addresses > 0).then(|| count(addresses, "address"))?;
    Some(format!(
        "{addresses} of runtimes with the last of several names: record with the clock of the jitdump, perf record -k mono"
    ))
}

#[cfg(test)]
mod tests {
    use perf_decode::LostCounts;

    use super::*;

    #[test]
    fn reasons_of_a_few_addresses_without_a_name_are_left_out() {
        assert!(are_few(0, 1) && are_few(1, 201) && !are_few(1, 200) && !are_few(0, 0));
        assert!(!are_few(u64::MAX, u64::MAX));
    }

    #[test]
    fn losses_have_their_number_and_the_most_frequent_reason() {
        let mut losses = Losses::default();
        assert_eq!(lines(&losses), [""; 0]);
        losses.lost = LostCounts::new(0, 1);
        losses.incomplete_stacks = vec![(1, "too short".to_owned())];
        losses.unnamed_addresses = vec![(3, "no symbol".to_owned()), (1, "no file".to_owned())];
        let expected = [
            "1 sample lost",
            "1 incomplete stack of 1: too short",
            "4 addresses without a name, 3 of them: no symbol",
        ];
        assert_eq!(lines(&losses), expected);
        losses.lost = LostCounts::new(1, 1);
        losses.broken_waits = 2;
        losses.reused_addresses = 2;
        losses.incomplete_stacks = vec![(2, "too short".to_owned())];
        let lines = lines(&losses);
        assert!(lines[0] == "1 record and 1 sample lost" && lines[1].starts_with("2 waits left out"));
        assert_eq!(lines[2], "2 incomplete stacks of 2: too short");
        assert!(
            lines[4].starts_with("2 addresses of runtimes with the last of several names: "),
            "{lines:?}"
        );
        losses.unverified_stacks = 3000;
        assert!(!super::lines(&losses).iter().any(|line| line.contains("stack")));
        losses.unverified_stacks = 1000;
        assert_eq!(super::lines(&losses)[2], "2 incomplete stacks of 1002: too short");
    }
}
