//! Output of BPF programs: `bpf-array/BYTES/READER` and `bpf-ringbuf/BYTES/READER`, with records
//! that are already in the ring. Every reader has a ring of equal size, filled on CPU 0 by the same
//! program, and sums the first 4 bytes of each record. Needs root.

use std::cell::RefCell;

use criterion::measurement::Measurement;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use perfkit_benches::consumers::bpf::{PAGE, READERS, Sum};
use perfkit_benches::workloads::bpf::{Kind, RECORDS, load};
use perfkit_benches::{Result, bench_main};

const PAGES: usize = 64;

fn bpf<M: Measurement>(criterion: &mut Criterion<M>) -> Result<()> {
    let mut cpu_0 = rustix::thread::CpuSet::new();
    cpu_0.set(0);
    rustix::thread::sched_setaffinity(None, &cpu_0)?;
    for (group, kind) in [("bpf-array", Kind::Array), ("bpf-ringbuf", Kind::Ring)] {
        for size in [12, 28, 60, 124] {
            of_size(criterion, group, kind, size)?;
        }
    }
    Ok(())
}

fn of_size<M: Measurement>(criterion: &mut Criterion<M>, group: &str, kind: Kind, size: i16) -> Result<()> {
    // Fills three quarters of the ring. Records of both maps have at most 16 bytes more than the
    // payload.
    let runs = PAGES * PAGE * 3 / 4 / (size as usize + 16).next_multiple_of(8) / RECORDS as usize;
    let mut expected = None;
    let mut group = criterion.benchmark_group(group);
    let elements = runs as u64 * RECORDS;
    group.throughput(Throughput::ElementsAndBytes { elements, bytes: elements * size as u64 });
    for (name, _, open) in READERS.iter().filter(|reader| reader.1 == kind) {
        let (map, read) = open(PAGES)?;
        let program = load(kind, &map, size)?;
        let fill = || (0..runs).for_each(|_| _ = program.test_run(&[], None).expect("a program that runs"));
        let state = RefCell::new((read, Sum::default()));
        let drain = |()| {
            let (read, sum) = &mut *state.borrow_mut();
            let before = *sum;
            read(sum);
            Sum { records: sum.records - before.records, numbers: sum.numbers - before.numbers }
        };
        fill();
        let sum = drain(());
        assert_eq!(sum.records, elements, "{name}");
        assert_eq!(sum, *expected.get_or_insert(sum), "{name}");
        group.bench_function(BenchmarkId::new(format!("{size}-bytes"), name), |bencher| {
            bencher.iter_batched(fill, drain, BatchSize::PerIteration);
        });
    }
    group.finish();
    Ok(())
}

bench_main!(bpf);
