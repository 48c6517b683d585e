//! Attributes a sample to the events of its group.

use perf_abi::{Attr, SampleType};
use perf_decode::{Layout, Record, Sample};

use super::Metadata;
use crate::collect::{LeaderSampling, MemberCount};

/// Tracks groups in which only the leader samples (`{a,b}:S`). The leader's samples have the counts
/// of all events of the group.
#[derive(Debug)]
pub struct Members<'a> {
    about: &'a Metadata,
    counts: LeaderSampling,
    /// Number of counts whose id belongs to no event of the recording.
    unknown: u64,
}

impl<'a> Members<'a> {
    /// Creates a tracker that has seen no record.
    pub fn new(about: &'a Metadata) -> Self {
        Self { about, counts: LeaderSampling::new(), unknown: 0 }
    }

    /// Applies a record. Pass all records, in time order.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        self.counts.update(record);
    }

    /// Returns the index of each event in the file with its count since the last sample. Returns
    /// `None` if the sample belongs to the event that wrote it, with its period. Call it for all
    /// samples, even if a filter rejects them.
    #[inline]
    pub fn of<L: Layout>(&mut self, attr: &Attr, sample: &Sample<'_, L>) -> Option<Vec<(usize, u64)>> {
        if !attr.sample_type.contains(SampleType::READ) {
            return None;
        }
        let about = self.about;
        let members = self.counts.members(attr, sample)?;
        let known = |member: &MemberCount| Some((about.index_of_id(member.id)?, member.value));
        let known: Vec<_> = members.iter().filter_map(known).collect();
        self.unknown += (members.len() - known.len()) as u64;
        Some(known)
    }

    /// Returns a description of the damage in the records so far; `None` without damage.
    pub fn damage(&self) -> Option<String> {
        let unknown = self.unknown;
        (unknown > 0).then(|| format!("{unknown} counts of events that the recording does not have"))
    }
}
