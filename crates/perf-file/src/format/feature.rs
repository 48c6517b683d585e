//! The numbers of the feature sections, and sets of them.

use core::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

named_numbers! {
    /// The number of a feature section: a bit of [`FeatureSet`], and the number in a record
    /// [`HEADER_FEATURE`](super::record_type::HEADER_FEATURE) of the pipe form. Its
    /// [`name`](Self::name) lacks the prefix `HEADER_`.
    #[derive(PartialOrd, Ord)]
    pub struct Feature(u32);

    /// The formats of tracepoints, as tracefs shows them.
    "HEADER_TRACING_DATA" TRACING_DATA = 1;
    /// Build ids of the files in which samples were taken.
    "HEADER_BUILD_ID" BUILD_ID = 2;
    /// Name of the host.
    "HEADER_HOSTNAME" HOSTNAME = 3;
    /// Release of the kernel.
    "HEADER_OSRELEASE" OSRELEASE = 4;
    /// Version of the tool that recorded.
    "HEADER_VERSION" VERSION = 5;
    /// Machine as `uname -m` prints it.
    "HEADER_ARCH" ARCH = 6;
    /// Numbers of CPUs.
    "HEADER_NRCPUS" NRCPUS = 7;
    /// Name of the CPU model.
    "HEADER_CPUDESC" CPUDESC = 8;
    /// Identifier of the CPU model.
    "HEADER_CPUID" CPUID = 9;
    /// Memory in kB.
    "HEADER_TOTAL_MEM" TOTAL_MEM = 10;
    /// Command line of the tool.
    "HEADER_CMDLINE" CMDLINE = 11;
    /// Names, attrs and ids of the events.
    "HEADER_EVENT_DESC" EVENT_DESC = 12;
    /// Cores, packages and dies.
    "HEADER_CPU_TOPOLOGY" CPU_TOPOLOGY = 13;
    /// Nodes with their memory and CPUs.
    "HEADER_NUMA_TOPOLOGY" NUMA_TOPOLOGY = 14;
    /// Marker: samples have branch stacks.
    "HEADER_BRANCH_STACK" BRANCH_STACK = 15;
    /// Types and names of the PMUs.
    "HEADER_PMU_MAPPINGS" PMU_MAPPINGS = 16;
    /// Names, leaders and sizes of the event groups.
    "HEADER_GROUP_DESC" GROUP_DESC = 17;
    /// Positions of the AUX trace records.
    "HEADER_AUXTRACE" AUXTRACE = 18;
    /// Marker: the file was written by `perf stat`.
    "HEADER_STAT" STAT = 19;
    /// CPU caches.
    "HEADER_CACHE" CACHE = 20;
    /// Times of the first and the last sample.
    "HEADER_SAMPLE_TIME" SAMPLE_TIME = 21;
    /// Memory blocks of each node.
    "HEADER_MEM_TOPOLOGY" MEM_TOPOLOGY = 22;
    /// Resolution of the clock.
    "HEADER_CLOCKID" CLOCKID = 23;
    /// Marker: the file is a part of a directory.
    "HEADER_DIR_FORMAT" DIR_FORMAT = 24;
    /// BPF programs.
    "HEADER_BPF_PROG_INFO" BPF_PROG_INFO = 25;
    /// Type information of BPF programs.
    "HEADER_BPF_BTF" BPF_BTF = 26;
    /// Parameters of compressed records.
    "HEADER_COMPRESSED" COMPRESSED = 27;
    /// Capabilities of the CPU's PMU.
    "HEADER_CPU_PMU_CAPS" CPU_PMU_CAPS = 28;
    /// Wall clock and perf clock at one instant.
    "HEADER_CLOCK_DATA" CLOCK_DATA = 29;
    /// The PMUs of a hybrid CPU.
    "HEADER_HYBRID_TOPOLOGY" HYBRID_TOPOLOGY = 30;
    /// Capabilities of several PMUs.
    "HEADER_PMU_CAPS" PMU_CAPS = 31;
    /// Scheduling domains of the CPUs.
    "HEADER_CPU_DOMAIN_INFO" CPU_DOMAIN_INFO = 32;
    /// ELF machine and flags of the host.
    "HEADER_E_MACHINE" E_MACHINE = 33;
    /// Length of a cache line.
    "HEADER_CLN_SIZE" CLN_SIZE = 34;
    /// The threads that were there when a recording began, and where they waited: a section of
    /// `perf-record`. The perf tool does not know the number, and skips it.
    "PERFKIT_THREAD_STATES" THREAD_STATES = 240;
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The features of a file: 256 bits.
#[repr(transparent)]
#[derive(Clone, Copy, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct FeatureSet(pub [u64; 4]);

impl FeatureSet {
    /// The number of bits.
    pub const BITS: u32 = 256;

    /// Returns whether the feature is in the set.
    pub fn contains(self, feature: Feature) -> bool {
        let word = self.0.get(feature.0 as usize / 64).copied().unwrap_or(0);
        word >> (feature.0 % 64) & 1 != 0
    }

    /// Adds a feature. Returns `false`, without a change, if its number is [`FeatureSet::BITS`] or
    /// above.
    pub fn insert(&mut self, feature: Feature) -> bool {
        let Some(word) = self.0.get_mut(feature.0 as usize / 64) else { return false };
        *word |= 1 << (feature.0 % 64);
        true
    }

    /// Returns the features by number, which is the order of their table in the file.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        (0..Self::BITS).map(Feature).filter(move |feature| self.contains(*feature))
    }
}

impl fmt::Debug for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl FromIterator<Feature> for FeatureSet {
    /// Collects features; numbers of [`FeatureSet::BITS`] or above are left out.
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        let mut set = Self::default();
        for feature in features {
            set.insert(feature);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_listed_by_number() {
        let set: FeatureSet = [Feature(255), Feature::ARCH, Feature::CLN_SIZE].into_iter().collect();
        assert!(set.iter().eq([Feature::ARCH, Feature::CLN_SIZE, Feature(255)]));
        assert!(!set.contains(Feature::HOSTNAME));
        assert_eq!(
            std::format!("{set:?}"),
            std::format!("{{{:?}, {:?}, Feature(255)}}", Feature::ARCH, Feature::CLN_SIZE)
        );
    }

    #[test]
    fn number_past_the_last_bit_is_in_no_set() {
        let mut set = FeatureSet([u64::MAX; 4]);
        assert!(!set.insert(Feature(256)) && !set.contains(Feature(256)));
        assert_eq!(set.iter().count(), 256);
    }

    #[test]
    fn features_of_the_perf_tool_are_numbered_without_gaps() {
        let all = (1..=34).chain([240]);
        assert!(all.map(Feature).eq(Feature::ALL.iter().copied()));
    }

    #[test]
    fn unknown_number_prints_itself() {
        assert_eq!(std::format!("{} {:?}", Feature::NRCPUS, Feature(99)), "NRCPUS Feature(99)");
    }
}
