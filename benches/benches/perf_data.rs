//! `perf.data` files: `perf-data-read/callchains/READER`, and `perf-data-write/callchains/WRITER`
//! from rings to memory (`/dev/shm`), compared with a copy of the same bytes as `cat` makes it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use criterion::measurement::Measurement;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use perf_decode::Window;
use perf_file::writer::{Features, Inventory, RecordedEvent, Writer};
use perfkit_benches::consumers::perf_data::READERS;
use perfkit_benches::workloads::perf_data::{self, Samples, attr};
use perfkit_benches::{Result, bench_main};
use zerocopy::IntoBytes;

/// Size of a file in bytes.
const BYTES: u64 = 64 << 20;
const WORKLOAD: &str = "callchains";
/// Buffer of `cat` in GNU coreutils, in bytes.
const CAT_BUFFER: usize = 128 << 10;
/// Number of samples that are unread in a ring when it is written, about 230 KiB.
const PART: usize = 1200;

fn perf_data<M: Measurement>(criterion: &mut Criterion<M>) -> Result<()> {
    let folder = Path::new("/dev/shm").join(format!("perfkit-bench-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let result = read(criterion, &folder.join("source")).and_then(|()| write(criterion, &folder));
    fs::remove_dir_all(&folder)?;
    result
}

fn read<M: Measurement>(criterion: &mut Criterion<M>, path: &Path) -> Result<()> {
    let (_, samples) = perf_data::write(File::create(path)?, BYTES)?;
    let mut words = vec![0_u64; fs::metadata(path)?.len() as usize / 8];
    File::open(path)?.read_exact(words.as_mut_bytes())?;
    let expected = (READERS[0].1)(&words, path)?;
    assert_eq!(expected.count, samples);
    let mut group = criterion.benchmark_group("perf-data-read");
    group.throughput(Throughput::ElementsAndBytes { elements: samples, bytes: words.len() as u64 * 8 });
    for (name, read) in READERS {
        group.bench_function(BenchmarkId::new(WORKLOAD, name), |bencher| {
            bencher.iter(|| assert_eq!(read(&words, path).expect("a readable file"), expected, "{name}"));
        });
    }
    group.finish();
    Ok(())
}

/// The words of all parts, with the end of each part.
struct Parts {
    words: Vec<u64>,
    ends: Vec<usize>,
    samples: u64,
}

impl Parts {
    fn new() -> Self {
        let (mut words, mut ends, mut samples) = (Vec::new(), vec![0], Samples::default());
        while words.len() * 8 < BYTES as usize {
            (0..PART).for_each(|_| samples.push(&mut words, ends.len() as u64 * 1_000_000, 0));
            ends.push(words.len());
        }
        let samples = (ends.len() - 1) * PART;
        Self { words, ends, samples: samples as u64 }
    }
}

fn write<M: Measurement>(criterion: &mut Criterion<M>, folder: &Path) -> Result<()> {
    let (source, output, parts) = (folder.join("source"), folder.join("output"), Parts::new());
    fs::write(&source, parts.words.as_bytes())?;
    let mut group = criterion.benchmark_group("perf-data-write");
    let bytes = parts.words.len() as u64 * 8;
    group.throughput(Throughput::ElementsAndBytes { elements: parts.samples, bytes });
    type Writing<'a> = (&'static str, &'a dyn Fn() -> Result<()>);
    let writers: [Writing<'_>; 4] = [
        ("cat", &|| cat(&source, &output)),
        ("writer", &|| record(&parts, &output, false, false)),
        ("recorder", &|| record(&parts, &output, true, false)),
        ("compressed", &|| record(&parts, &output, true, true)),
    ];
    for (name, write) in writers {
        // Fails if the machine has too little memory for the file.
        write()?;
        // Frees the pages of the previous file, which would be measured otherwise. The first time,
        // the file does not exist.
        let remove = || _ = fs::remove_file(&output);
        group.bench_function(BenchmarkId::new(WORKLOAD, name), |bencher| {
            bencher.iter_batched(remove, |()| write().expect("as before"), BatchSize::PerIteration);
        });
    }
    group.finish();
    Ok(())
}

fn cat(source: &Path, output: &Path) -> Result<()> {
    let (mut source, mut output) = (File::open(source)?, File::create(output)?);
    let mut buffer = vec![0; CAT_BUFFER];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(()),
            read => output.write_all(&buffer[..read])?,
        }
    }
}

/// Writes the unread parts of rings, which wrap at the end. A recorder also copies the parts out of
/// the ring and keeps an [`Inventory`], which frames all records.
fn record(parts: &Parts, path: &Path, recorder: bool, compressed: bool) -> Result<()> {
    let mut writer = Writer::file(File::create(path)?, &[RecordedEvent::new(attr(), "cpu-clock")])?;
    if compressed {
        writer = writer.compressed()?;
    }
    let (mut inventory, mut copy) = (Inventory::new(&attr()), Vec::new());
    for ends in parts.ends.windows(2) {
        let part = &parts.words[ends[0]..ends[1]];
        let (first, second) = part.split_at(part.len() / 3);
        let mut window = Window::from_slices(first, second);
        if recorder {
            copy.clear();
            copy.extend_from_slice(first);
            copy.extend_from_slice(second);
            window = Window::from_slices(&copy, &[]);
            inventory.note(window);
        }
        writer.write_window(window)?;
        writer.finish_round()?;
    }
    writer.finish(&Features::new())?;
    if inventory.malformed == 0 { Ok(()) } else { Err("the stream is damaged".into()) }
}

bench_main!(perf_data);
