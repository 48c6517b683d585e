//! Measures the parsing of event names, by the event in `PERFKIT_BENCH_EVENT`, instructions by
//! default.

#![allow(missing_docs)] // of `benches`, by criterion's macro

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use criterion_perf::{PerfMeasurement, PerfMeasurementOptions};
use perf_session::expression::Expression;

fn measurement() -> PerfMeasurement {
    let event = std::env::var("PERFKIT_BENCH_EVENT").unwrap_or_else(|_| "instructions".to_owned());
    PerfMeasurementOptions::new(event).clock_if_refused().open().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1)
    })
}

fn parse(criterion: &mut Criterion<PerfMeasurement>) {
    let mut group = criterion.benchmark_group("parse");
    for text in ["cycles", "{cycles,instructions}:S", "cpu/event=0xc0,umask=1,period=1000/u"] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(text, |bencher| bencher.iter(|| black_box(text).parse::<Expression>()));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(measurement());
    targets = parse
}
criterion_main!(benches);
