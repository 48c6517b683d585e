//! The losses of a profile.

use perf_decode::LostCounts;

use super::saturating_sum;

/// Lost records, incomplete stacks and missing names.
///
/// Sums saturate at `u64::MAX`, because damaged or crafted recordings can contain any numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Losses {
    /// Records and samples that were lost.
    pub lost: LostCounts,
    /// Records that were older than an earlier record. Samples in between may be attributed to a
    /// wrong file.
    pub late_records: u64,
    /// Waits of threads with an unknown end: see [`Waits::broken`](crate::Waits::broken).
    pub broken_waits: u64,
    /// Waits of threads without a stack, because their start was not sampled.
    pub waits_without_stack: u64,
    /// Waits of threads with an unknown wakeup, in a profile with other wakeups. Their time without
    /// a CPU after the wakeup is included in the time for which they were blocked.
    pub waits_without_wakeup: u64,
    /// Samples with incomplete stacks by reason, the most frequent first.
    pub incomplete_stacks: Vec<(u64, String)>,
    /// Samples whose stack reached the outermost function. Not a loss.
    pub complete_stacks: u64,
    /// Samples whose stack ends without a reason, as callchains do, so that completeness is
    /// unproven. Not a loss.
    pub unverified_stacks: u64,
    /// Addresses of callchains that were left out, starting at the first address outside of code:
    /// see [`Stack::leave_out_unmapped`](perf_symbols::Stack::leave_out_unmapped).
    pub left_out_addresses: u64,
    /// Smallest stack copy in bytes that reaches the next frame of each truncated stack, a multiple
    /// of 8 that an event can request; 0 if no stack is truncated. Outer frames may need more.
    pub needed_stack_bytes: u64,
    /// Addresses without a name by reason, the most frequent first.
    pub unnamed_addresses: Vec<(u64, String)>,
    /// Samples of all events with an unnamed address in their stack.
    pub unnamed_samples: u64,
    /// Addresses in JIT-compiled code that had several functions in turn, and have the name of the
    /// last one: see [`Resolver::with_monotonic_time`](crate::Resolver::with_monotonic_time).
    pub reused_addresses: u64,
    /// Named addresses whose line or inlined functions are unknown although their file has debug
    /// information, by reason, the most frequent first.
    pub addresses_without_lines: Vec<(u64, String)>,
    /// Files that were not found, with the reasons.
    pub missing_files: Vec<String>,
}

/// Maximum `sample_stack_user` in bytes: records have a 16-bit size.
const MAX_STACK_SIZE: u64 = 65528;

/// Returns a size of stack copies in bytes that an event can request and that contains `needed`
/// bytes. Outer frames need more, so that it is a power of two.
fn stack_size_for(needed: u64) -> u64 {
    needed.checked_next_power_of_two().map_or(MAX_STACK_SIZE, |size| size.min(MAX_STACK_SIZE))
}

const INCOMPLETE_STACKS: &str = "incomplete_stacks";

/// The reasons of one kind of loss with their counts: returned by [`Losses::reasons`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reasons<'a> {
    /// Name of the field in [`Losses`].
    pub key: &'static str,
    /// The noun for count 1.
    pub one: &'static str,
    /// The noun for other counts.
    pub several: &'static str,
    /// The reasons, the most frequent first.
    pub list: &'a [(u64, String)],
    /// Total number including items without a loss; 0 if that was not counted.
    pub total: u64,
}

impl Reasons<'_> {
    /// Returns a count with its noun, such as `3 incomplete stacks of 10`.
    pub fn counted(&self, count: u64) -> String {
        let noun = if count == 1 { self.one } else { self.several };
        // The sum has saturated.
        let least = if count == u64::MAX { "at least " } else { "" };
        match self.total {
            0 => format!("{least}{count} {noun}"),
            total => format!("{least}{count} {noun} of {total}"),
        }
    }
}

impl Losses {
    /// Returns the lists of reasons. A new list needs a field and a row here; texts and JSON follow
    /// from it.
    pub fn reasons(&self) -> impl Iterator<Item = Reasons<'_>> {
        let stacks = saturating_sum([self.complete_stacks, self.unverified_stacks, self.incomplete()]);
        [
            Reasons {
                key: INCOMPLETE_STACKS,
                one: "incomplete stack",
                several: "incomplete stacks",
                list: &self.incomplete_stacks,
                total: stacks,
            },
            Reasons {
                key: "unnamed_addresses",
                one: "address without a name",
                several: "addresses without a name",
                list: &self.unnamed_addresses,
                total: 0,
            },
            Reasons {
                key: "addresses_without_lines",
                one: "address without inlined functions",
                several: "addresses without inlined functions",
                list: &self.addresses_without_lines,
                total: 0,
            },
        ]
        .into_iter()
    }

    /// Returns true if nothing is missing.
    pub fn is_empty(&self) -> bool {
        *self
            == Self {
                complete_stacks: self.complete_stacks,
                unverified_stacks: self.unverified_stacks,
                ..Self::default()
            }
    }

    /// Returns the number of samples with incomplete stacks.
    pub fn incomplete(&self) -> u64 {
        saturating_sum(self.incomplete_stacks.iter().map(|(count, _)| *count))
    }

    /// Returns the number of addresses without a name.
    pub fn unnamed(&self) -> u64 {
        saturating_sum(self.unnamed_addresses.iter().map(|(count, _)| *count))
    }

    /// Returns a line of text for each kind of loss and each missing file.
    pub fn lines(&self) -> Vec<String> {
        let counted = |count: u64, one: &str, several: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            // The sum has saturated.
            u64::MAX => Some(format!("at least {count} {several}")),
            _ => Some(format!("{count} {several}")),
        };
        let mut lines = Vec::new();
        lines.extend((!self.lost.is_empty()).then(|| self.lost.to_string()));
        lines.extend(counted(self.late_records, "record came out of order", "records came out of order"));
        let (wait, waits) = ("wait of a thread has an unknown end", "waits of threads have an unknown end");
        lines.extend(counted(self.broken_waits, wait, waits));
        let wait = "wait has no stack: no sample was recorded where it began";
        let waits = "waits have no stack: no sample was recorded where they began";
        lines.extend(counted(self.waits_without_stack, wait, waits));
        let (wait, waits) = ("wait has no known wakeup", "waits have no known wakeup");
        let wakeup = counted(self.waits_without_wakeup, wait, waits);
        lines.extend(wakeup.map(|waits| format!("{waits}: the time for a CPU after it is not known")));
        for reasons in self.reasons() {
            let line = |(count, reason): &(u64, String)| format!("{}: {reason}", reasons.counted(*count));
            lines.extend(reasons.list.iter().map(line));
            if reasons.key == INCOMPLETE_STACKS && self.needed_stack_bytes > 0 {
                let needed = self.needed_stack_bytes;
                let size = stack_size_for(needed);
                lines.push(format!(
                    "copies of the stack of at least {needed} bytes lead to more frames; record with --call-graph \
                     dwarf,{size} (at most {MAX_STACK_SIZE})"
                ));
            }
        }
        let (address, addresses) = ("address of a runtime has", "addresses of runtimes have");
        let reused = counted(self.reused_addresses, address, addresses);
        lines.extend(reused.map(|addresses| {
            format!(
                "{addresses} the last of several names; record with the clock of the jitdump (perf record -k mono)"
            )
        }));
        lines.extend(self.missing_files.iter().map(|file| format!("missing file: {file}")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_size_of_stack_copies_can_be_requested() {
        for (needed, size) in [(8, 8), (9000, 16384), (40_000, 65528), (65528, 65528), (u64::MAX, 65528)] {
            assert_eq!(stack_size_for(needed), size, "{needed}");
        }
    }

    #[test]
    fn lines_are_in_the_singular_for_1_and_in_the_plural_for_more() {
        let losses = |count| Losses {
            lost: LostCounts::new(count, count),
            late_records: count,
            broken_waits: count,
            waits_without_stack: count,
            waits_without_wakeup: count,
            incomplete_stacks: vec![(count, "short".to_owned())],
            complete_stacks: count,
            unverified_stacks: count,
            left_out_addresses: count,
            needed_stack_bytes: 9000,
            unnamed_addresses: vec![(count, "no file".to_owned())],
            unnamed_samples: count,
            addresses_without_lines: vec![(count, "no package".to_owned())],
            reused_addresses: count,
            missing_files: vec!["/lib/a".to_owned()],
        };
        let needed = "copies of the stack of at least 9000 bytes lead to more frames; record with --call-graph dwarf,16384 (at most 65528)";
        let one = [
            "1 record and 1 sample lost",
            "1 record came out of order",
            "1 wait of a thread has an unknown end",
            "1 wait has no stack: no sample was recorded where it began",
            "1 wait has no known wakeup: the time for a CPU after it is not known",
            "1 incomplete stack of 3: short",
            needed,
            "1 address without a name: no file",
            "1 address without inlined functions: no package",
            "1 address of a runtime has the last of several names; record with the clock of the jitdump (perf record -k mono)",
            "missing file: /lib/a",
        ];
        assert_eq!(losses(1).lines(), one);
        let several = [
            "2 records and 2 samples lost",
            "2 records came out of order",
            "2 waits of threads have an unknown end",
            "2 waits have no stack: no sample was recorded where they began",
            "2 waits have no known wakeup: the time for a CPU after it is not known",
            "2 incomplete stacks of 6: short",
            needed,
            "2 addresses without a name: no file",
            "2 addresses without inlined functions: no package",
            "2 addresses of runtimes have the last of several names; record with the clock of the jitdump (perf record -k mono)",
            "missing file: /lib/a",
        ];
        assert_eq!(losses(2).lines(), several);
        assert!(Losses::default().lines().is_empty());
        let complete = Losses { complete_stacks: 2, unverified_stacks: 3, ..Losses::default() };
        assert!(complete.lines().is_empty() && complete.is_empty() && !losses(1).is_empty());
        let late = "at least 18446744073709551615 records came out of order";
        assert_eq!(losses(u64::MAX).lines()[1], late);
    }
}
