//! Every decoder in a `for` loop with a `match`, as `workload touch/size/decoder`, in records per second.
//!
//! `ratios` measures all shapes of loops.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use perfkit_benches::{FITS_L2, LARGE, selected};

fn decode(criterion: &mut Criterion) {
    for case in selected(&["a".into()]) {
        for (size, bytes) in [("512K", FITS_L2), ("8M", LARGE)] {
            let mut input = (case.input)(bytes);
            case.check(&mut input);
            let mut group = criterion.benchmark_group(format!("{} {}/{size}", case.workload, case.touch));
            group.throughput(Throughput::Elements(input.records() as u64));
            for consumer in &case.consumers {
                group.bench_function(BenchmarkId::from_parameter(consumer.name), |bencher| {
                    bencher.iter(|| (consumer.run)(&mut input));
                });
            }
        }
    }
}

criterion_group!(benches, decode);
criterion_main!(benches);
