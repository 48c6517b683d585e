use perf_abi::{AttrFlags, Header, Misc, SampleType, Software};
use perf_decode::testing::builder::SampleBuilder;
use zerocopy::FromBytes;

use super::*;
use crate::synthesize::{Mapping, SideBand};

fn attr() -> Attr {
    Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::IP | SampleType::TIME)
        .with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::BUILD_ID)
}

fn sample(time: u64) -> Vec<u64> {
    SampleBuilder::new(&attr()).ip(1).time(time).finish()
}

#[test]
fn samples_and_their_times_are_counted_over_the_seam() {
    let words = [sample(7), sample(3), sample(5)].concat();
    let mut inventory = Inventory::new(&attr());
    let (first, second) = words.split_at(4);
    inventory.note(Window::from_slices(first, second));
    assert_eq!((inventory.samples(), inventory.side_band()), (3, 0));
    assert_eq!(inventory.sample_times(), Some((3, 7)));
    assert_eq!((inventory.bytes(), inventory.damaged()), (words.len() as u64 * 8, 0));
}

#[test]
fn losses_are_summed() {
    let header =
        |kind, words: u16| zerocopy::transmute!(Header { kind, misc: Misc::empty(), size: words * 8 });
    let lost: [u64; 4] = [header(RecordType::LOST, 4), 0, 9, 0]; // id, lost, time
    let samples: [u64; 3] = [header(RecordType::LOST_SAMPLES, 3), 4, 0]; // lost, time
    let mut inventory = Inventory::new(&attr());
    for _ in 0..2 {
        inventory.note(Window::from_slices(&lost, &samples));
    }
    assert_eq!((inventory.lost(), inventory.lost_samples()), (18, 8));
    let kinds = [(RecordType::LOST, 2), (RecordType::LOST_SAMPLES, 2)];
    assert!(inventory.kinds().eq(kinds) && inventory.sample_times().is_none());
}

#[test]
fn mapped_files_have_the_build_ids_of_their_records() {
    let mut side_band = SideBand::new(&attr());
    side_band.mmap2(&Mapping { path: b"/a", build_id: Some(&[1; 20]), ..Mapping::default() });
    side_band.mmap2(&Mapping { path: b"/b", ..Mapping::default() });
    let words = <[u64]>::ref_from_bytes(side_band.as_bytes()).unwrap();
    let mut inventory = Inventory::new(&attr());
    inventory.note(Window::from_slices(words, &[]));
    assert!(inventory.files().eq([(&b"/a"[..], Some(&[1; 20][..])), (&b"/b"[..], None)]));
}

#[test]
fn bytes_that_are_no_records_are_counted() {
    let words = [sample(1), vec![0, 0]].concat();
    let mut inventory = Inventory::new(&attr());
    inventory.note(Window::from_slices(&words, &[]));
    assert_eq!((inventory.samples(), inventory.damaged()), (1, 16));
}

#[test]
fn each_record_is_passed_on_in_order() {
    let words = [sample(7), sample(3)].concat();
    let layout = SampleLayout::new(&attr());
    let mut times = Vec::new();
    Inventory::new(&attr())
        .note_with(Window::from_slices(&words, &[]), |record| times.extend(record.time(&layout)));
    assert_eq!(times, [7, 3]);
}
