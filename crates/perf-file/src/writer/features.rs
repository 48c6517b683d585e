//! The events of a recording and its feature sections.

use std::collections::BTreeMap;
use std::mem::discriminant;

use perf_abi::{Attr, RecordType};
use zerocopy::IntoBytes;

use crate::attr::FileAttr;
use crate::encoder::Encoder;
use crate::feature::{EventDesc, FeatureData, FeatureSection};
use crate::format::{Feature, FeatureSet};
use crate::list::Write as _;
use crate::order::ByteOrder;

/// An event of a recording: its attr, its name, and the ids of all its file descriptors (one for
/// each CPU or thread).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    /// The attr with which the event was opened.
    pub attr: Attr,
    /// The name by which tools print the event.
    pub name: String,
    /// The ids, as `PERF_EVENT_IOC_ID` returns them.
    pub ids: Vec<u64>,
}

impl RecordedEvent {
    /// Returns an event without ids, which is enough if there is only one event.
    pub fn new(attr: Attr, name: impl Into<String>) -> Self {
        Self { attr, name: name.into(), ids: Vec::new() }
    }

    /// Adds ids.
    #[must_use]
    pub fn with_ids(mut self, ids: impl IntoIterator<Item = u64>) -> Self {
        self.ids.extend(ids);
        self
    }
}

/// The published lengths from `PERF_ATTR_SIZE_VER5` on, which all supported versions of the perf
/// tool read.
const SIZES: [u32; 5] = [Attr::SIZE_VER5, Attr::SIZE_VER6, Attr::SIZE_VER7, Attr::SIZE_VER8, Attr::SIZE_VER9];

/// Returns the smallest published length that holds every field that an event sets.
///
/// The perf tool cannot read attrs that are longer than those that it knows.
pub(super) fn attr_size(events: &[RecordedEvent]) -> u32 {
    let fits = |size: u32| {
        events.iter().all(|event| {
            let rest = event.attr.as_bytes().get(size as usize..).unwrap_or_default();
            rest.iter().all(|byte| *byte == 0)
        })
    };
    SIZES.into_iter().find(|size| fits(*size)).unwrap_or(Attr::SIZE)
}

/// The facts about the machine, the tool and the events in a recording: the content of each feature
/// section.
///
/// ```
/// use perf_file::feature::{CpuCount, FeatureData};
/// use perf_file::format::Feature;
/// use perf_file::writer::Features;
///
/// let mut features = Features::new();
/// assert!(features.set(Feature::HOSTNAME, &FeatureData::Text(b"some-host")));
/// assert!(features.set(Feature::NRCPUS, &FeatureData::CpuCount(CpuCount { available: 4, online: 3 })));
/// let arguments: [&[u8]; 2] = [b"perfkit", b"record"];
/// assert!(features.set(Feature::CMDLINE, &FeatureData::CommandLine(arguments[..].into())));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(BTreeMap<Feature, Vec<u8>>);

impl Features {
    /// Returns no features.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a section. The data of a file that was read can be written too, whatever its byte
    /// order.
    ///
    /// Returns `false`, without a change, if `feature` has data of another kind than `data`, or for
    /// a [`CpuTopology`](crate::feature::CpuTopology) that was read from a file of the other byte
    /// order: such a section cannot be swapped without the number of CPUs.
    pub fn set(&mut self, feature: Feature, data: &FeatureData<'_>) -> bool {
        let mut out = Encoder::new(ByteOrder::NATIVE);
        if matches!(data, FeatureData::CpuTopology(topology) if !topology.can_have_order(out.order)) {
            return false;
        }
        data.write(&mut out);
        // A reader derives the kind of the data from the feature, so the written data must be read
        // as the same kind.
        let section = FeatureSection::new(feature, &out.bytes, out.order, 0);
        let is_same = section.data().is_ok_and(|read| discriminant(&read) == discriminant(data));
        is_same && self.set_bytes(feature, out.bytes)
    }

    /// Sets the content of a section, in the machine's byte order. Returns `false`, without a
    /// change, if the number is [`FeatureSet::BITS`] or above.
    pub fn set_bytes(&mut self, feature: Feature, content: Vec<u8>) -> bool {
        let has_bit = feature.0 < FeatureSet::BITS;
        if has_bit {
            self.0.insert(feature, content);
        }
        has_bit
    }

    /// Sets [`Feature::EVENT_DESC`]: names, attrs and ids of the events.
    pub fn set_events<'e>(&mut self, events: &'e [RecordedEvent]) {
        let size = attr_size(events) as usize;
        let describe = |event: &'e RecordedEvent| {
            let bytes = event.attr.as_bytes().get(..size).unwrap_or_default();
            let attr = FileAttr::new(bytes, event.ids.as_slice().into(), ByteOrder::NATIVE);
            EventDesc { event: attr, name: event.name.as_bytes() }
        };
        let list: Vec<EventDesc<'_>> = events.iter().map(describe).collect();
        self.set(Feature::EVENT_DESC, &FeatureData::Events(list.as_slice().into()));
    }

    /// Returns the content of a section, in the machine's byte order.
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

    /// Returns the entries of [`Feature::BUILD_ID`] as records of a kind; no bytes if they are
    /// malformed.
    pub(super) fn build_id_records(&self, kind: RecordType) -> Vec<u8> {
        let mut out = Encoder::new(ByteOrder::NATIVE);
        let content = self.get(Feature::BUILD_ID).unwrap_or_default();
        let section = FeatureSection::new(Feature::BUILD_ID, content, out.order, 0);
        if let Ok(FeatureData::BuildIds(ids)) = section.data() {
            ids.iter().for_each(|id| id.write_record(kind, &mut out));
        }
        out.bytes
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{CpuMode, Misc, Software};
    use proptest::prelude::*;

    use super::*;
    use crate::feature::{
        BuildId, CacheLevel, CoreId, CpuTopology, Dies, GroupDesc, MemoryNode, MemoryTopology, NumaNode,
    };

    /// Writes and reads data, and returns the text of the result.
    fn read_back(feature: Feature, data: &FeatureData<'_>) -> String {
        let mut features = Features::new();
        assert!(features.set(feature, data), "{feature}: {data:?}");
        let section = FeatureSection::new(feature, features.get(feature).unwrap(), ByteOrder::NATIVE, 0);
        format!("{:?}", section.data().unwrap())
    }

    proptest! {
        #[test]
        fn read_data_is_what_was_written(
            texts in prop::collection::vec(prop::collection::vec(1_u8.., 0..200), 1..4),
            numbers in prop::collection::vec(any::<u64>(), 1..4),
            small: [u32; 4],
        ) {
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let (text, [level, line_size, sets, ways], first) = (texts[0], small, numbers[0]);
            let groups = [GroupDesc { name: text, leader: level, members: sets }];
            let caches = [CacheLevel { level, line_size, sets, ways, kind: text, size: b"", cpus: texts[texts.len() - 1] }];
            let nodes = [NumaNode { node: level, total: first, free: numbers[numbers.len() - 1], cpus: text }];
            let bits = 64 * numbers.len() as u64 - u64::from(level % 64);
            let memory = [MemoryNode { node: first, bits, blocks: numbers.as_slice().into() }];
            let build_ids: Vec<BuildId<'_>> = texts
                .iter()
                .map(|text| BuildId::new(text, &[7; 20], if sets % 2 == 0 { CpuMode::USER } else { CpuMode::KERNEL }))
                .collect();
            for (feature, data) in [
                (Feature::CPUID, FeatureData::Text(text)),
                (Feature::CMDLINE, FeatureData::CommandLine(texts.as_slice().into())),
                (Feature::GROUP_DESC, FeatureData::Groups(groups[..].into())),
                (Feature::CACHE, FeatureData::Caches(caches[..].into())),
                (Feature::NUMA_TOPOLOGY, FeatureData::NumaNodes(nodes[..].into())),
                (Feature::BUILD_ID, FeatureData::BuildIds(build_ids.as_slice().into())),
                (
                    Feature::MEM_TOPOLOGY,
                    FeatureData::MemoryTopology(MemoryTopology { block_size: first, nodes: memory[..].into() }),
                ),
            ] {
                prop_assert_eq!(read_back(feature, &data), format!("{:?}", data));
            }
        }
    }

    #[test]
    fn topology_in_memory_is_read_as_it_was_written() {
        let ids = [CoreId { core: 1, package: 2 }, CoreId { core: -1, package: -1 }];
        let package: [&[u8]; 1] = [b"0-1"];
        let dies = Dies { lists: package[..].into(), ids: [3, 4][..].into() };
        for dies in [None, Some(dies)] {
            let topology = CpuTopology::new(&package, &[b"0", b"1"], &ids, dies);
            let mut features = Features::new();
            assert!(features.set(Feature::CPU_TOPOLOGY, &FeatureData::CpuTopology(topology)));
            let content = features.get(Feature::CPU_TOPOLOGY).unwrap();
            let section = FeatureSection::new(Feature::CPU_TOPOLOGY, content, ByteOrder::NATIVE, 0);
            let Ok(FeatureData::CpuTopology(read)) = section.data() else { panic!() };
            let mut copy = Features::new();
            assert!(copy.set(Feature::CPU_TOPOLOGY, &FeatureData::CpuTopology(read)));
            assert_eq!(copy, features);
            for topology in [topology, read] {
                assert!(topology.packages.iter().eq([b"0-1"]));
                assert_eq!(topology.core_ids(2).unwrap(), ids[..].into());
                assert_eq!(topology.dies(2).unwrap(), dies);
            }
        }
    }

    #[test]
    fn topology_of_the_other_byte_order_is_not_set() {
        let mut section = Encoder::new(ByteOrder::NATIVE.other());
        section.u32(0).u32(0).u32(1).u32(2); // no packages, no cores, core and package of a CPU
        let section = FeatureSection::new(Feature::CPU_TOPOLOGY, &section.bytes, section.order, 0);
        assert!(!Features::new().set(Feature::CPU_TOPOLOGY, &section.data().unwrap()));
    }

    #[test]
    fn text_is_padded_to_64_bytes_with_its_nul() {
        let mut features = Features::new();
        for (len, padded) in [(3, 64), (63, 64), (64, 128)] {
            assert!(features.set(Feature::HOSTNAME, &FeatureData::Text(&b"x".repeat(len))));
            let mut expected = u32::to_ne_bytes(padded).to_vec();
            expected.extend(b"x".repeat(len));
            expected.resize(4 + padded as usize, 0);
            assert_eq!(features.get(Feature::HOSTNAME), Some(&expected[..]));
        }
    }

    #[test]
    fn data_of_another_feature_or_number_is_not_set() {
        let mut features = Features::new();
        assert!(!features.set(Feature::HOSTNAME, &FeatureData::TotalMemory(0)));
        assert!(!features.set(Feature::TOTAL_MEM, &FeatureData::ClockResolution(1)));
        assert!(!features.set(Feature(256), &FeatureData::Unknown(b"x")));
        assert_eq!(features.iter().count(), 0);
        assert!(features.set(Feature(255), &FeatureData::Unknown(b"x")));
        assert!(features.remove(Feature(255)));
        assert!(!features.remove(Feature(255)));
    }

    #[test]
    fn event_description_has_attr_ids_and_name() {
        let event = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock").with_ids([7]);
        let mut features = Features::new();
        features.set_events(&[event]);
        let content = features.get(Feature::EVENT_DESC).unwrap();
        assert_eq!(content.get(..8).unwrap(), [1_u32.to_ne_bytes(), 112_u32.to_ne_bytes()].concat());
        let mut after_attr = Encoder::new(ByteOrder::NATIVE);
        after_attr.u32(1).string(b"cpu-clock").u64(7);
        assert_eq!(content.get(8 + 112..).unwrap(), after_attr.bytes);
        // The attr names its length.
        assert_eq!(content.get(12..16), Some(&112_u32.to_ne_bytes()[..]));
    }

    #[test]
    fn attrs_have_the_length_of_the_longest_that_this_crate_knows() {
        let attr = |len| FileAttr::new(&[0; 256][..len], [][..].into(), ByteOrder::NATIVE);
        let (short, longer, unknown) = (attr(64), attr(112), attr(256));
        for (events, len) in [([short, longer], 112), ([longer, short], 112), ([short, unknown], Attr::SIZE)]
        {
            let events = events.map(|event| EventDesc { event, name: b"e" });
            let mut features = Features::new();
            assert!(features.set(Feature::EVENT_DESC, &FeatureData::Events(events[..].into())));
            assert_eq!(features.get(Feature::EVENT_DESC).unwrap()[4..8], len.to_ne_bytes());
        }
    }

    #[test]
    fn build_id_is_written_with_its_size_and_a_padded_path() {
        for (len, padded) in [(63, 64), (64, 128), (5000, 4096 + 64)] {
            let id = BuildId { misc: Misc::empty(), pid: 7, build_id: &[9; 16], filename: &b"x".repeat(len) };
            let mut features = Features::new();
            assert!(features.set(Feature::BUILD_ID, &FeatureData::BuildIds([id][..].into())));
            let mut expected = Encoder::new(ByteOrder::NATIVE);
            expected.u32(0).u16(0x8000).u16(36 + padded).u32(7).text(&[9; 16], 20).text(&[16], 4);
            expected.text(&b"x".repeat(len.min(4096)), padded.into());
            assert_eq!(features.get(Feature::BUILD_ID), Some(&expected.bytes[..]));
        }
    }

    #[test]
    fn bitmap_has_all_its_words_whatever_the_number_of_blocks() {
        for bits in [0, 65, 129] {
            let nodes = [MemoryNode { node: 1, bits, blocks: [3, 4][..].into() }];
            let topology = MemoryTopology { block_size: 8, nodes: nodes[..].into() };
            let data = FeatureData::MemoryTopology(topology);
            assert_eq!(read_back(Feature::MEM_TOPOLOGY, &data), format!("{data:?}"));
        }
    }

    #[test]
    fn build_id_is_a_record_of_kind_0_in_the_file_form() {
        let mut features = Features::new();
        // Too long for the format.
        let id = BuildId::new(b"/bin/a", &[9; 32], CpuMode::USER);
        features.set(Feature::BUILD_ID, &FeatureData::BuildIds((&[id][..]).into()));
        let expected = |kind| {
            let mut record = Encoder::new(ByteOrder::NATIVE);
            // type; misc: user, size is valid; size; pid
            record.u32(kind).u16(0x8002).u16(100).u32(u32::MAX);
            record.bytes(&[9; 20]).bytes(&[20, 0, 0, 0]).text(b"/bin/a", 64);
            record.bytes
        };
        assert_eq!(features.get(Feature::BUILD_ID), Some(&expected(0)[..]));
        assert_eq!(features.build_id_records(RecordType(67)), expected(67));

        features.set_bytes(Feature::BUILD_ID, vec![0; 9]);
        assert_eq!(features.build_id_records(RecordType(67)), []);
    }

    #[test]
    fn attr_has_the_shortest_length_that_holds_its_fields() {
        let plain = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock");
        assert_eq!(attr_size(std::slice::from_ref(&plain)), Attr::SIZE_VER5);
        let mut long = plain.clone();
        long.attr.sig_data = 1;
        assert_eq!(attr_size(&[plain.clone(), long.clone()]), Attr::SIZE_VER7);
        long.attr.config4 = 1;
        assert_eq!(attr_size(&[long, plain]), Attr::SIZE_VER9);
    }
}
