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
        let counted = |count: u64, one: &str, several: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {several}")),
        };
        let mut lines = Vec::new();
        lines.extend(counted(self.lost_records, "record was lost", "records were lost"));
        lines.extend(counted(self.lost_samples, "sample was lost", "samples were lost"));
        lines.extend(counted(self.late_records, "record came out of order", "records came out of order"));
        let (wait, waits) = ("wait of a thread has an unknown end", "waits of threads have an unknown end");
        lines.extend(counted(self.broken_waits, wait, waits));
        for (count, reason) in &self.incomplete_stacks {
            let stacks = counted(*count, "incomplete stack", "incomplete stacks");
            lines.extend(stacks.map(|stacks| format!("{stacks}: {reason}")));
        }
        let (byte, bytes) = ("byte of stack copy", "bytes of stack copy");
        let needed = counted(self.needed_stack_bytes, byte, bytes);
        lines.extend(needed.map(|bytes| format!("{bytes} would lead to the next frames")));
        for (count, reason) in &self.unnamed_addresses {
            let addresses = counted(*count, "address without a name", "addresses without a name");
            lines.extend(addresses.map(|addresses| format!("{addresses}: {reason}")));
        }
        lines.extend(self.missing_files.iter().map(|file| format!("missing file: {file}")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_in_the_singular_for_1_and_in_the_plural_for_more() {
        let losses = |count| Losses {
            lost_records: count,
            lost_samples: count,
            late_records: count,
            broken_waits: count,
            incomplete_stacks: vec![(count, "short".to_owned())],
            needed_stack_bytes: count,
            unnamed_addresses: vec![(count, "no file".to_owned())],
            missing_files: vec!["/lib/a".to_owned()],
        };
        let one = [
            "1 record was lost",
            "1 sample was lost",
            "1 record came out of order",
            "1 wait of a thread has an unknown end",
            "1 incomplete stack: short",
            "1 byte of stack copy would lead to the next frames",
            "1 address without a name: no file",
            "missing file: /lib/a",
        ];
        assert_eq!(losses(1).lines(), one);
        let several = [
            "2 records were lost",
            "2 samples were lost",
            "2 records came out of order",
            "2 waits of threads have an unknown end",
            "2 incomplete stacks: short",
            "2 bytes of stack copy would lead to the next frames",
            "2 addresses without a name: no file",
            "missing file: /lib/a",
        ];
        assert_eq!(losses(2).lines(), several);
        assert!(Losses::default().lines().is_empty());
    }
}
