//! Gaps of a profile.

/// Lost records, incomplete stacks and missing names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Losses {
    /// Records that did not fit into the ring, of all kinds.
    pub lost_records: u64,
    /// Samples that the kernel could not write.
    pub lost_samples: u64,
    /// Records that came after a record of a later time: samples in between may have been given to a wrong file.
    pub late_records: u64,
    /// Waits of threads with an unknown end: see [`Waits::broken`](crate::Waits::broken).
    pub broken_waits: u64,
    /// Samples by the end of their stack, the most frequent first. Stacks that are complete, and callchains, which end
    /// without a reason, are not among them.
    pub incomplete_stacks: Vec<(u64, String)>,
    /// The least bytes of stack copy that lead to the next frame of each truncated stack; 0 if no stack is truncated.
    pub needed_stack_bytes: u64,
    /// Addresses without a name by reason, the most frequent first.
    pub unnamed_addresses: Vec<(u64, String)>,
    /// Files that were not found, each with the reason.
    pub missing_files: Vec<String>,
}

impl Losses {
    /// Returns whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns a line of text for each kind of loss and each missing file.
    pub fn lines(&self) -> Vec<String> {
        let counted = |count: u64, text: &str| (count > 0).then(|| format!("{count} {text}"));
        let plural = |count: u64, ending: &'static str| if count == 1 { "" } else { ending };
        let mut lines = Vec::new();
        lines.extend(counted(self.lost_records, "records were lost"));
        lines.extend(counted(self.lost_samples, "samples were lost"));
        lines.extend(counted(self.late_records, "records came out of order"));
        lines.extend(counted(self.broken_waits, "waits of threads have an unknown end"));
        let stacks = self.incomplete_stacks.iter();
        lines.extend(
            stacks
                .map(|(count, reason)| format!("{count} incomplete stack{}: {reason}", plural(*count, "s"))),
        );
        lines.extend(counted(self.needed_stack_bytes, "bytes of stack copy would lead to the next frames"));
        let addresses = self.unnamed_addresses.iter();
        lines.extend(addresses.map(|(count, reason)| {
            format!("{count} address{} without a name: {reason}", plural(*count, "es"))
        }));
        lines.extend(self.missing_files.iter().map(|file| format!("missing file: {file}")));
        lines
    }
}
