//! The gaps of a profile, as messages.

use perf_profile::Profile;

use crate::message::note;

/// Prints what the profile lacks, each with its most frequent reason.
pub(crate) fn note_losses(profile: &Profile) {
    let losses = profile.losses();
    let lost = losses.lost_records + losses.lost_samples;
    if lost > 0 {
        note(format_args!("{lost} records or samples were lost"));
    }
    let lists = [
        ("stacks are incomplete", &losses.incomplete_stacks),
        ("addresses have no name", &losses.unnamed_addresses),
    ];
    for (what, list) in lists {
        if let Some((most, reason)) = list.first() {
            let count: u64 = list.iter().map(|(count, _)| count).sum();
            note(format_args!("{count} {what}, {most} of them because: {reason}"));
        }
    }
}
