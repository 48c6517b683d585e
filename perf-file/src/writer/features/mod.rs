//! The feature sections of a recording.

use std::collections::BTreeMap;

use crate::format::{Feature, FeatureSet};
use content::Content;

mod build_id;
mod content;
mod events;
mod machine;

pub use build_id::BuildId;
pub use events::EventGroup;
pub use machine::{CpuCache, CpuTopology, MemoryNode, NumaNode};

/// The facts about the machine, the tool and the events that a recording has beside its records: the
/// content of each feature section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(BTreeMap<Feature, Vec<u8>>);

impl Features {
    /// Returns no features.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the content of a section, in the machine's byte order, also of a feature that this crate does not
    /// know. Returns `false`, without a change, if the number is [`FeatureSet::BITS`] or above.
    pub fn set(&mut self, feature: Feature, content: Vec<u8>) -> bool {
        let is_known = feature.0 < FeatureSet::BITS;
        if is_known {
            self.0.insert(feature, content);
        }
        is_known
    }

    /// Returns the content of a section.
    pub fn get(&self, feature: Feature) -> Option<&[u8]> {
        self.0.get(&feature).map(Vec::as_slice)
    }

    /// Removes a section. Returns whether it was there.
    pub fn remove(&mut self, feature: Feature) -> bool {
        self.0.remove(&feature).is_some()
    }

    /// Returns the sections by number.
    pub fn iter(&self) -> impl Iterator<Item = (Feature, &[u8])> + '_ {
        self.0.iter().map(|(feature, content)| (*feature, content.as_slice()))
    }

    /// Sets a section that is one text: [`Feature::HOSTNAME`], [`Feature::OSRELEASE`],
    /// [`Feature::VERSION`], [`Feature::ARCH`], [`Feature::CPUDESC`], [`Feature::CPUID`].
    pub fn set_text(&mut self, feature: Feature, text: &str) -> bool {
        let mut content = Content::default();
        content.text(text);
        self.set(feature, content.0)
    }

    /// Sets [`Feature::TRACING_DATA`], as `synthesize::tracing_data` returns it.
    pub fn set_tracing_data(&mut self, data: Vec<u8>) {
        self.0.insert(Feature::TRACING_DATA, data);
    }

    /// Sets [`Feature::CMDLINE`]: the path of the recording program and its arguments.
    pub fn set_command_line<S: AsRef<str>>(&mut self, arguments: &[S]) {
        self.fill(Feature::CMDLINE, |content| content.list(arguments));
    }

    /// Sets [`Feature::NRCPUS`]: one more than the highest CPU that is present, and the number of CPUs
    /// that are online.
    pub fn set_cpus(&mut self, available: u32, online: u32) {
        self.fill(Feature::NRCPUS, |content| {
            content.u32(available);
            content.u32(online);
        });
    }

    /// Sets [`Feature::TOTAL_MEM`], in kB.
    pub fn set_total_memory(&mut self, kilobytes: u64) {
        self.fill(Feature::TOTAL_MEM, |content| content.u64(kilobytes));
    }

    /// Sets [`Feature::SAMPLE_TIME`]: the times of the first and the last sample, in ns of the
    /// events' clock.
    pub fn set_sample_time(&mut self, first: u64, last: u64) {
        self.fill(Feature::SAMPLE_TIME, |content| {
            content.u64(first);
            content.u64(last);
        });
    }

    /// Sets [`Feature::CLOCKID`] and [`Feature::CLOCK_DATA`], which convert the times of events with
    /// `use_clockid` to the wall clock.
    ///
    /// `clock` is the attr's `clockid` and `resolution` its resolution in ns; `wall_time`, in ns since 1970,
    /// and `clock_time` were read at the same instant.
    pub fn set_clock(&mut self, clock: u32, resolution: u64, wall_time: u64, clock_time: u64) {
        self.fill(Feature::CLOCKID, |content| content.u64(resolution));
        self.fill(Feature::CLOCK_DATA, |content| {
            content.u32(1); // version
            content.u32(clock);
            content.u64(wall_time);
            content.u64(clock_time);
        });
    }

    /// Sets [`Feature::PMU_MAPPINGS`]: `attr.type` and name of each PMU.
    pub fn set_pmus<S: AsRef<str>>(&mut self, pmus: &[(u32, S)]) {
        self.fill(Feature::PMU_MAPPINGS, |content| {
            content.count(pmus.len());
            for (kind, name) in pmus {
                content.u32(*kind);
                content.text(name.as_ref());
            }
        });
    }

    /// Sets [`Feature::COMPRESSED`].
    #[cfg(feature = "zstd")]
    pub(super) fn set_compression(&mut self, level: u32, ratio: u32, chunk: u32) {
        self.fill(Feature::COMPRESSED, |content| {
            for value in [1, crate::format::COMPRESSION_ZSTD, level, ratio, chunk] {
                content.u32(value);
            }
        });
    }

    /// Sets a section whose number is known to be valid.
    fn fill(&mut self, feature: Feature, write: impl FnOnce(&mut Content)) {
        let mut content = Content::default();
        write(&mut content);
        self.0.insert(feature, content.0);
    }
}

#[cfg(test)]
mod tests;
