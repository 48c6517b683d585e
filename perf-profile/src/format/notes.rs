//! Losses as lines of text.

use crate::profile::Losses;

/// Returns a line for each kind of loss.
pub(super) fn notes(losses: &Losses) -> Vec<String> {
    let counted = |count: u64, text: &str| (count > 0).then(|| format!("{count} {text}"));
    let mut notes = Vec::new();
    notes.extend(counted(losses.lost_records, "records were lost"));
    notes.extend(counted(losses.lost_samples, "samples were lost"));
    notes.extend(counted(losses.late_records, "records came out of order"));
    let stacks = losses.incomplete_stacks.iter();
    notes.extend(stacks.map(|(count, reason)| format!("{count} incomplete stacks: {reason}")));
    notes.extend(counted(losses.needed_stack_bytes, "bytes of stack copy would lead to the next frames"));
    let addresses = losses.unnamed_addresses.iter();
    notes.extend(addresses.map(|(count, reason)| format!("{count} addresses without a name: {reason}")));
    notes.extend(losses.missing_files.iter().map(|file| format!("missing file: {file}")));
    notes
}
