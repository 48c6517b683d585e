//! The events that a sample of the recording is one of.

use perf_abi::{Attr, SampleType};
use perf_decode::{Layout, Record, Sample};

use super::Metadata;
use crate::collect::{LeaderSampling, MemberCount};

/// The events of groups of which only the leader samples (`{a,b}:S`): its samples have the counts of all of them.
#[derive(Debug)]
pub struct Members<'a> {
    about: &'a Metadata,
    counts: LeaderSampling,
    /// Counts of ids that no event of the recording has.
    unknown: u64,
}

impl<'a> Members<'a> {
    /// Makes one that has seen no record.
    pub fn new(about: &'a Metadata) -> Self {
        Self { about, counts: LeaderSampling::new(), unknown: 0 }
    }

    /// Applies a record: all of them, in the order of time.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        self.counts.update(record);
    }

    /// Returns the index of each event in the file and what it counted since the last sample; `None` if the sample is one of
    /// the event that wrote it, with its period. Call it for all samples, also for those that a filter leaves out.
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

    /// Returns the damage that it found.
    pub fn damage(&self) -> Option<String> {
        let unknown = self.unknown;
        (unknown > 0).then(|| format!("{unknown} counts of events that the recording does not have"))
    }
}
