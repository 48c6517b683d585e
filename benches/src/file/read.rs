//! Reading of a generated `perf.data` file: in the order of the file and by time, beside the raw decoder and
//! `linux-perf-data`. Each reader runs in a process, as `file READER PATH`, which prints its time and peak memory.

use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::Path;
use std::process::Command;

use perf_decode::{Record, SampleLayout, Window};
use perf_file::writer::{Features, RecordedEvent, Writer};
use perf_file::{FileRecord, PerfData, Reader, Source};
use zerocopy::IntoBytes;

use super::{Samples, attr, cpu_time};
use crate::table::Result;

/// Reads all samples: of the words in memory, or of the file.
type Read = fn(&[u64], &Path) -> Result<Sum>;

/// The readers, in the order of the table.
const READERS: [(&str, Read); 7] = [
    ("decoder, in memory", |words, _| decoder(words)),
    ("frames, in memory", |words, _| frames(words.as_bytes())),
    ("perf-file, in memory", |words, _| sum(Reader::from_bytes(words.as_bytes())?)),
    ("perf-file", |_, path| sum(Reader::open(path)?)),
    ("sorted, in memory", |words, _| sum(Reader::from_bytes(words.as_bytes())?.sorted())),
    ("sorted", |_, path| sum(Reader::open(path)?.sorted())),
    ("linux-perf-data", |_, path| linux_perf_data(path)),
];

pub(crate) fn read(arguments: &[String]) -> Result<()> {
    match arguments {
        [reader, path] => {
            let (name, read) = READERS.iter().find(|(name, _)| name == reader).ok_or("no such reader")?;
            let path = Path::new(path);
            let words = if name.ends_with("memory") { loaded(path)? } else { Vec::new() };
            let start = cpu_time();
            let sum = read(&words, path)?;
            println!("{} {} {} {}", cpu_time() - start, peak_memory()?, sum.count, sum.value);
            Ok(())
        }
        _ => compare(arguments.first().map_or(Ok(100), |size| size.parse())?),
    }
}

fn compare(megabytes: usize) -> Result<()> {
    let path = std::env::temp_dir().join(format!("perfkit-bench-{}.data", std::process::id()));
    generate(&path, megabytes)?;
    // Reads the file once, so that all readers find it in memory.
    let size = fs::read(&path)?.len() as f64;
    println!("{:20} {:>10} {:>10} {:>12}", "reader", "MB/s", "peak MB", "records");
    let mut sums = Vec::new();
    for (name, _) in READERS {
        let mut best: Option<(f64, u64)> = None;
        for _ in 0..3 {
            let output = Command::new(std::env::current_exe()?).arg("file").arg(name).arg(&path).output()?;
            let text = String::from_utf8(output.stdout)?;
            let numbers: Vec<u64> =
                text.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?;
            let [time, peak, count, value] = numbers[..] else {
                return Err(format!("{name}: {text}").into());
            };
            sums.push((count, value));
            let time = time as f64;
            best = Some(best.map_or((time, peak), |(least, _)| (least.min(time), peak)));
        }
        let (time, peak) = best.ok_or("no run")?;
        let count = sums.last().map_or(0, |(count, _)| *count);
        println!("{name:20} {:10.0} {:10.1} {count:12}", size / time, peak as f64 / 1024.0);
    }
    fs::remove_file(&path)?;
    if sums.iter().any(|sum| *sum != sums[0]) {
        return Err(format!("the readers disagree: {sums:?}").into());
    }
    Ok(())
}

/// The number of samples, and the sum of their addresses.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    value: u64,
}

impl Sum {
    fn add(&mut self, ip: Option<u64>, frames: impl Iterator<Item = u64>) {
        self.count += 1;
        self.value = frames.fold(self.value.wrapping_add(ip.unwrap_or(0)), u64::wrapping_add);
    }

    fn add_decoded(&mut self, record: &Record<'_>) {
        if let Record::Sample(sample) = record {
            let frames = sample.callchain().map_or(&[][..], |chain| chain.words());
            self.add(sample.ip(), frames.iter().copied());
        }
    }

    fn add_record(&mut self, record: &FileRecord<'_>) -> Result<()> {
        if record.kernel().is_some() {
            self.add_decoded(&record.decode()?);
        }
        Ok(())
    }
}

/// Writes samples of four rings in rounds of 500 from each, with callchains of 4 to 35 addresses.
fn generate(path: &Path, megabytes: usize) -> Result<()> {
    let mut writer = Writer::file(File::create(path)?, &[RecordedEvent::new(attr(), "cpu-clock")])?;
    let (mut records, mut samples, mut time) = (Vec::new(), Samples::default(), 1_000_000);
    while writer.position() < megabytes as u64 * 1_000_000 {
        records.clear();
        for ring in 0..4 {
            (0..500).for_each(|index| samples.push(&mut records, time + index * 1000 + ring * 10, ring));
        }
        time += 500_000;
        writer.write_window(Window::from_slices(&records, &[]))?;
        writer.finish_round()?;
    }
    writer.finish(&Features::new())?;
    Ok(())
}

/// Returns the bytes of a file as words, without a partial one at its end.
fn loaded(path: &Path) -> Result<Vec<u64>> {
    let mut words = vec![0_u64; fs::metadata(path)?.len() as usize / 8];
    File::open(path)?.read_exact(words.as_mut_bytes())?;
    Ok(words)
}

fn decoder(words: &[u64]) -> Result<Sum> {
    let layout = SampleLayout::new(&attr());
    let mut sum = Sum::default();
    // Offset and length of the records, in the file's header.
    let (start, len) = (words[5] as usize / 8, words[6] as usize / 8);
    for record in Window::from_slices(&words[start..start + len], &[]).records(&mut []) {
        let record = record?;
        if record.kind().0 < 64 {
            sum.add_decoded(&record.decode(&layout)?);
        }
    }
    Ok(sum)
}

fn frames(bytes: &[u8]) -> Result<Sum> {
    let layout = SampleLayout::new(&attr());
    let mut sum = Sum::default();
    for frame in PerfData::new(bytes)?.frames() {
        if let Some(raw) = frame?.raw() {
            sum.add_decoded(&raw.decode(&layout)?);
        }
    }
    Ok(sum)
}

fn sum<S: Source>(mut reader: Reader<S>) -> Result<Sum> {
    let mut sum = Sum::default();
    while let Some(record) = reader.next()? {
        sum.add_record(&record)?;
    }
    Ok(sum)
}

fn linux_perf_data(path: &Path) -> Result<Sum> {
    use linux_perf_data::linux_perf_event_reader::EventRecord;
    use linux_perf_data::{PerfFileReader, PerfFileRecord};
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(BufReader::new(File::open(path)?))?;
    let mut sum = Sum::default();
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        if let PerfFileRecord::EventRecord { record, .. } = record
            && let EventRecord::Sample(sample) = record.parse()?
        {
            let chain = sample.callchain;
            let frames = (0..chain.map_or(0, |chain| chain.len()))
                .filter_map(|index| chain.and_then(|chain| chain.get(index)));
            sum.add(sample.ip, frames);
        }
    }
    Ok(sum)
}

/// Returns the peak memory of this process in kB.
fn peak_memory() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
