//! Decoding and framing of records in memory: `decode-TOUCH-LOOP/WORKLOAD/DECODER`,
//! `framing/WORKLOAD/DECODER`. One loop also reads an input that is larger than the L2 cache.

use std::collections::BTreeMap;

use criterion::measurement::Measurement;
use criterion::{BenchmarkId, Criterion, Throughput};
use perfkit_benches::consumers::{Case, FITS_L2, Input, LARGE, cases};
use perfkit_benches::{Result, bench_main};

fn decode<M: Measurement>(criterion: &mut Criterion<M>) -> Result<()> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for case in cases() {
        groups.entry(case.group()).or_default().push(case);
    }
    for (size, suffix) in [(FITS_L2, ""), (LARGE, "-8MiB")] {
        let mut inputs = BTreeMap::new();
        for (name, cases) in &groups {
            let cases = cases.iter().filter(|case| size == FITS_L2 || case.shape == "question");
            for case in cases {
                let input = inputs.entry(case.workload).or_insert_with(|| (case.input)(size));
                compare(criterion, &format!("{name}{suffix}"), case, input);
            }
        }
    }
    Ok(())
}

fn compare<M: Measurement>(criterion: &mut Criterion<M>, name: &str, case: &Case, input: &mut Input) {
    case.check(input);
    let mut group = criterion.benchmark_group(name);
    let (elements, bytes) = (input.records() as u64, input.bytes().len() as u64);
    group.throughput(Throughput::ElementsAndBytes { elements, bytes });
    for consumer in &case.consumers {
        group.bench_function(BenchmarkId::new(case.workload, consumer.name), |bencher| {
            bencher.iter(|| (consumer.run)(input));
        });
    }
    group.finish();
}

bench_main!(decode);
