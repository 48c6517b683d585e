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
}
