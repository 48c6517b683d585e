//! Sums near 2^64, as damaged recordings can have, saturate in every view and format.

use perf_abi::regs::Architecture;
use perf_abi::{Attr, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
use perf_decode::{LostCounts, RawRecord, Record, SampleLayout};
use perf_symbols::FileFinder;
use proptest::prelude::*;

use crate::format::testing::profiles;
use crate::{
    CallTree, Collector, Column, Diff, Direction, Event, Folded, LiveProfile, Order, Profile, ProfileBuilder,
    Resolver, Scale, Table,
};

const COLUMNS: &[Column] = &[Column::Comm, Column::Object, Column::Function, Column::Line];

/// Returns the exact sum, saturated at 2^64 - 1.
fn sum(values: impl Iterator<Item = u64>) -> u64 {
    let sum: u128 = values.map(u128::from).sum();
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// Builds every view and format of a profile, and compares the totals.
fn check(profile: &Profile) -> Result<(), TestCaseError> {
    let mut live = LiveProfile::new().keeping_eighths(8);
    for _ in 0..3 {
        live.add(profile);
    }
    for (event, _) in profile.event_ids() {
        let samples = || profile.samples().iter().filter(|sample| sample.event == event);
        prop_assert_eq!(profile.total(event), sum(samples().map(|sample| sample.value)));
        prop_assert_eq!(profile.sample_count(event), sum(samples().map(|sample| sample.count)));
        let three_times = (0..3).flat_map(|_| samples()).map(|sample| sample.value);
        prop_assert_eq!(live.profile().total(event), sum(three_times));
        let table = Table::new(profile, COLUMNS).sorted(event, Order::BySelf);
        prop_assert_eq!(sum(table.rows.iter().map(|row| row.cost(event).self_value)), profile.total(event));
        for direction in [Direction::FromOutermost, Direction::FromInnermost] {
            let tree = CallTree::new(profile, event, COLUMNS, direction);
            let roots = tree.nodes.iter().filter(|node| node.depth == 0);
            prop_assert_eq!(sum(roots.map(|node| node.cost.total_value)), profile.total(event));
        }
        for scale in [Scale::Share, Scale::Value] {
            let sides = [(profile, event), (live.profile(), event)];
            let diff = Diff::new(&sides, &sides[1..], COLUMNS, Order::ByTotal, scale);
            for row in diff.rows {
                prop_assert!(row.change().is_finite() && row.noise().is_finite(), "{:?}", row);
            }
        }
        Folded::new(event).write(profile, std::io::sink()).unwrap();
    }
    #[cfg(feature = "pprof")]
    crate::Pprof::new().write(profile, std::io::sink()).unwrap();
    #[cfg(feature = "json")]
    {
        let timed = crate::format::testing::with_times(profile);
        crate::JsonLines::new().write(&timed, std::io::sink()).unwrap();
        crate::Firefox::new().write(&timed, std::io::sink()).unwrap();
        crate::Chrome::new().write(&timed, std::io::sink()).unwrap();
    }
    Ok(())
}

/// Arbitrary numbers, and numbers with sums near 2^64.
fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0u64..9, (0u64..9).prop_map(|less| u64::MAX - less), Just(1 << 63)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_in_views_and_formats_saturate(profile in profiles()) {
        check(&profile)?;
    }

    #[test]
    fn sums_of_records_saturate(
        records in prop::collection::vec((0u32..4, numbers(), numbers()), 0..20),
        has_table: bool,
    ) {
        let fields = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::PERIOD;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields);
        let layout = SampleLayout::new(&attr);
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut collector = if has_table {
            Collector::with_table(resolver, COLUMNS).unwrap()
        } else {
            Collector::new(resolver, ProfileBuilder::new())
        };
        let event = collector.event(Event::new("cpu-clock", &attr));
        let (mut lost_records, mut lost_samples, mut broken, mut values) = (vec![], vec![], vec![], vec![]);
        for (kind, number, time) in records {
            let words = match kind {
                0 => {
                    lost_records.push(number);
                    RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[1, number]).finish()
                }
                1 => {
                    lost_samples.push(number);
                    RecordBuilder::new(RecordType::LOST_SAMPLES, Misc::empty()).words(&[number]).finish()
                }
                2 => {
                    broken.push(number);
                    lost_samples.push(number);
                    collector.add_broken_waits(number);
                    collector.note_lost(LostCounts::new(0, number));
                    continue;
                }
                _ => {
                    values.push(number);
                    SampleBuilder::new(&attr).tid(7, 7).ip(time).time(time).period(number).finish()
                }
            };
            let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
            collector.update(&record);
            if let Record::Sample(sample) = &record {
                collector.add(event, sample);
            }
        }
        let (profile, sums) = collector.finish_table();
        let losses = profile.losses();
        let lost = LostCounts::new(sum(lost_records.into_iter()), sum(lost_samples.into_iter()));
        prop_assert_eq!(losses.lost, lost);
        prop_assert_eq!(losses.broken_waits, sum(broken.into_iter()));
        prop_assert_eq!(profile.total(event), sum(values.into_iter()));
        prop_assert_eq!(sums.is_some(), has_table);
        if let Some(sums) = sums {
            let table = sums.table(&profile);
            prop_assert_eq!(sum(table.rows.iter().map(|row| row.cost(event).self_value)), profile.total(event));
        } else {
            check(&profile)?;
        }
    }
}
