use super::*;
use crate::writer::RecordedEvent;
use perf_abi::{Attr, RecordType, Software};

/// Bytes of a text in a section: the padded length, the text, NUL bytes.
fn text(text: &str) -> Vec<u8> {
    let mut bytes = 64_u32.to_ne_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(68, 0);
    bytes
}

#[test]
fn text_is_padded_to_64_bytes_with_its_nul() {
    let mut features = Features::new();
    assert!(features.set_text(Feature::HOSTNAME, "box"));
    assert_eq!(features.get(Feature::HOSTNAME), Some(&text("box")[..]));
    features.set_text(Feature::HOSTNAME, &"x".repeat(64));
    assert_eq!(features.get(Feature::HOSTNAME).map(<[u8]>::len), Some(4 + 128));
}

#[test]
fn number_without_a_bit_is_not_set() {
    let mut features = Features::new();
    assert!(!features.set(Feature(256), Vec::new()));
    assert_eq!(features.iter().count(), 0);
    assert!(features.set(Feature(255), Vec::new()) && features.remove(Feature(255)));
}

#[test]
fn event_description_has_attr_ids_and_name() {
    let event = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock").with_ids([7]);
    let mut features = Features::new();
    features.set_events(&[event]);
    let content = features.get(Feature::EVENT_DESC).unwrap();
    assert_eq!(content.get(..8).unwrap(), [1_u32.to_ne_bytes(), 112_u32.to_ne_bytes()].concat());
    let after_attr = content.get(8 + 112..).unwrap();
    assert_eq!(after_attr, [&1_u32.to_ne_bytes()[..], &text("cpu-clock"), &7_u64.to_ne_bytes()].concat());
}

#[test]
fn build_id_is_a_record_of_kind_0_in_the_file_form() {
    let mut features = Features::new();
    features.set_build_ids(&[BuildId { path: b"/bin/a".to_vec(), id: vec![9; 20], is_kernel: false }]);
    let mut expected = 0_u32.to_ne_bytes().to_vec(); // type
    expected.extend_from_slice(&0x8002_u16.to_ne_bytes()); // misc: user, size is valid
    expected.extend_from_slice(&100_u16.to_ne_bytes()); // size
    expected.extend_from_slice(&(-1_i32).to_ne_bytes()); // pid
    expected.extend_from_slice(&[9; 20]); // build_id
    expected.extend_from_slice(&[20, 0, 0, 0]); // size and padding
    expected.extend_from_slice(b"/bin/a");
    expected.resize(100, 0);
    assert_eq!(features.get(Feature::BUILD_ID), Some(&expected[..]));

    let records = features.build_id_records(RecordType(67));
    expected.splice(..4, 67_u32.to_ne_bytes());
    assert_eq!(records, [expected]);
}

#[test]
fn malformed_build_ids_are_no_records() {
    let mut features = Features::new();
    features.set(Feature::BUILD_ID, vec![0; 9]);
    assert_eq!(features.build_id_records(RecordType(67)).len(), 0);
}

#[test]
fn offline_cpu_has_no_core() {
    let topology = CpuTopology { cpus: vec![Some([1, 2, 3]), None], ..CpuTopology::default() };
    let mut features = Features::new();
    features.set_cpu_topology(&topology);
    // No packages, no cores, core and package of each CPU, no dies.
    let expected = [0, 0, 1, 2, u32::MAX, u32::MAX].map(u32::to_ne_bytes).concat();
    assert_eq!(features.get(Feature::CPU_TOPOLOGY), Some(&expected[..]));
}

#[test]
fn memory_blocks_are_bits() {
    let mut features = Features::new();
    features.set_memory(128, &[MemoryNode { node: 0, blocks: vec![0, 65, u64::MAX] }]);
    let expected = [1, 128, 1, 0, 66, 66, 1, 2].map(u64::to_ne_bytes).concat();
    assert_eq!(features.get(Feature::MEM_TOPOLOGY), Some(&expected[..]));
}
