//! Reading of a generated `perf.data` file: in the order of the file and by time, beside the raw
//! decoder and `linux-perf-data`.
//!
//! `file [MEGABYTES]` generates a file in the target folder and runs each reader in a process, which
//! prints its time and its peak memory. `file READER PATH` is one of these runs.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::ops::Deref;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{ptr, slice};

use perf_abi::{Attr, Header, Misc};
use perf_decode::{Record, SampleLayout, Window, words_from_bytes};
use perf_file::format::record_type;
use perf_file::{FileRecord, PerfData, Reader, Sorted, Source};
use perfkit_benches::recording::{Samples, attr, cpu_time};
use rustix::mm::{MapFlags, ProtFlags};
use zerocopy::IntoBytes;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Reads all samples of a file.
type Read = fn(&Path) -> Result<Sum>;

/// The readers, in the order of the table.
const READERS: [(&str, Read); 7] = [
    ("decoder, mapped", |path| decoder(&mapped(path)?)),
    ("frames, mapped", |path| frames(&mapped(path)?)),
    ("perf-file, mapped", |path| in_file_order(Reader::from_bytes(&mapped(path)?)?)),
    ("perf-file", |path| in_file_order(Reader::open(path)?)),
    ("sorted, mapped", |path| sorted(Reader::from_bytes(&mapped(path)?)?)),
    ("sorted", |path| sorted(Reader::open(path)?)),
    ("linux-perf-data", linux_perf_data),
];

/// Commands of the perf tool, at the end of the table if it is installed.
const PERF: [&[&str]; 2] = [&["script", "-D"], &["report", "--stdio"]];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [reader, path] => {
            let (_, read) = READERS.iter().find(|(name, _)| name == reader).ok_or("no such reader")?;
            let start = cpu_time();
            let sum = read(Path::new(path))?;
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
            let output = Command::new(std::env::current_exe()?).arg(name).arg(&path).output()?;
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
    for arguments in PERF {
        perf(arguments, &path, size)?;
    }
    fs::remove_file(&path)?;
    if sums.iter().any(|sum| *sum != sums[0]) {
        return Err(format!("the readers disagree: {sums:?}").into());
    }
    Ok(())
}

/// Runs a command of the perf tool once. It has no sum, and prints what it reads.
fn perf(arguments: &[&str], path: &Path, size: f64) -> Result<()> {
    let name = format!("perf {}", arguments.join(" "));
    let before = children_time()?;
    let mut command = Command::new("perf");
    command.args(arguments).arg("-i").arg(path).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Err(error) => println!("{name:20} skipped: {error}"),
        Ok(status) if !status.success() => println!("{name:20} failed: {status}"),
        Ok(_) => println!("{name:20} {:10.1}", size / (children_time()? - before)),
    }
    Ok(())
}

/// Returns the CPU time in µs of the processes that this one waited for.
fn children_time() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no name in stat")?;
    // cutime and cstime, in ticks: fields 16 and 17 of proc(5), where the name is the second.
    let ticks: Vec<u64> =
        fields.split_whitespace().skip(13).take(2).map(str::parse).collect::<std::result::Result<_, _>>()?;
    Ok(ticks.iter().sum::<u64>() as f64 * 1e6 / rustix::param::clock_ticks_per_second() as f64)
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

/// Bytes of the attr in the file: that of Linux 6.1, whose tools refuse longer ones.
const ATTR_SIZE: usize = 128;
/// Offset of the records: after the header, the id of the event, and the attr with the section of its ids.
const DATA: usize = 104 + 8 + ATTR_SIZE + 16;

/// Writes samples of four rings in rounds of 500 from each, with callchains of 4 to 35 addresses.
fn generate(path: &Path, megabytes: usize) -> Result<()> {
    const RINGS: u64 = 4;
    let mut file = BufWriter::new(File::create(path)?);
    let attr = Attr { size: ATTR_SIZE as u32, ..attr() };
    let attr_size = ATTR_SIZE as u64 + 16;
    let data = DATA as u64;
    let (mut records, mut samples, mut time) = (Vec::new(), Samples::default(), 1_000_000);
    while records.len() * 8 < megabytes * 1_000_000 {
        for ring in 0..RINGS {
            (0..500).for_each(|index| samples.push(&mut records, time + index * 1000 + ring * 10, ring));
        }
        time += 500_000;
        let mark = Header { kind: record_type::FINISHED_ROUND, misc: Misc::empty(), size: 8 };
        records.push(mark.to_word());
    }
    let header = [
        u64::from_ne_bytes(*b"PERFILE2"),
        104,
        attr_size,
        112,
        attr_size,
        data,
        records.len() as u64 * 8,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
    ];
    for word in header {
        file.write_all(&word.to_ne_bytes())?;
    }
    file.write_all(&attr.as_bytes()[..ATTR_SIZE])?;
    for word in [104_u64, 8] {
        file.write_all(&word.to_ne_bytes())?;
    }
    file.write_all(records.as_bytes())?;
    Ok(file.flush()?)
}

/// A file in memory, mapped as a whole.
struct Mapped {
    start: *mut core::ffi::c_void,
    len: usize,
}

fn mapped(path: &Path) -> Result<Mapped> {
    let file = File::open(path)?;
    let len = usize::try_from(file.metadata()?.len())?;
    let (read, private) = (ProtFlags::READ, MapFlags::PRIVATE);
    // SAFETY: the kernel chooses an address that is not in use.
    let start = unsafe { rustix::mm::mmap(ptr::null_mut(), len, read, private, &file, 0) }?;
    Ok(Mapped { start, len })
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` bytes are mapped for reading until `drop`, and no process writes the file.
        unsafe { slice::from_raw_parts(self.start.cast(), self.len) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped with this length, and no slice of it outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.start, self.len) };
    }
}

/// Decodes the records of the data section, which is all of the file after the header.
fn decoder(bytes: &[u8]) -> Result<Sum> {
    let layout = SampleLayout::new(&attr());
    let mut sum = Sum::default();
    let words = words_from_bytes(bytes)?;
    for record in Window::from_slices(&words[DATA / 8..], &[]).records(&mut []) {
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

fn in_file_order<S: Source>(mut reader: Reader<S>) -> Result<Sum> {
    let mut sum = Sum::default();
    while let Some(record) = reader.next()? {
        sum.add_record(&record)?;
    }
    Ok(sum)
}

fn sorted<S: Source>(reader: Reader<S>) -> Result<Sum> {
    let mut sorted = Sorted::new(reader);
    let mut sum = Sum::default();
    while let Some(record) = sorted.next()? {
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
