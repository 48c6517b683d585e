//! Writing of a `perf.data` file from rings, beside a copy of the same bytes as `cat` makes it.
//!
//! `write [MEGABYTES [PASSES]]` writes files of 500 MB to `/dev/shm`, 5 times each, and needs three times that
//! memory. It measures CPU time, because the machine may do other work.

use std::error::Error;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use perf_decode::Window;
use perf_file::writer::{Features, Inventory, RecordedEvent, Writer};
use perfkit_benches::median;
use perfkit_benches::recording::{Samples, attr, cpu_time};
use zerocopy::IntoBytes;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Rings of a round.
const RINGS: usize = 4;
/// Unread bytes of a ring, in turn.
const SIZES: [usize; 4] = [64 << 10, 512 << 10, 128 << 10, 256 << 10];
/// The buffer of `cat` in GNU coreutils.
const CAT_BUFFER: usize = 128 << 10;

/// Writes the records to a file, and returns its expected size.
type Run = fn(&Stream, &Path) -> Result<u64>;

const RUNS: [(&str, Run); 6] = [
    ("cat", cat),
    ("writer", |stream, path| write(stream, path, Recorder::default())),
    ("and a copy of the ring", |stream, path| {
        write(stream, path, Recorder { copies: true, ..Recorder::default() })
    }),
    ("and the inventory", |stream, path| {
        write(stream, path, Recorder { copies: true, counts: true, ..Recorder::default() })
    }),
    ("pipe form, all", |stream, path| {
        write(stream, path, Recorder { copies: true, counts: true, is_pipe: true, ..Recorder::default() })
    }),
    ("compressed, all", |stream, path| {
        write(stream, path, Recorder { copies: true, counts: true, compresses: true, ..Recorder::default() })
    }),
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let megabytes = arguments.next().unwrap_or(Ok(500))?;
    let passes = arguments.next().unwrap_or(Ok(5))?;
    let folder = Folder::new()?;
    let stream = Stream::new(megabytes, folder.0.join("source"))?;
    let output = folder.0.join("output");
    let mut times = vec![Vec::new(); RUNS.len()];
    for _ in 0..passes {
        for ((name, run), times) in RUNS.iter().zip(&mut times) {
            let start = cpu_time();
            let expected = run(&stream, &output)?;
            times.push((cpu_time() - start) as f64);
            let found = fs::metadata(&output)?.len();
            if expected != 0 && found != expected {
                return Err(format!("{name}: expected {expected} bytes, found {found}").into());
            }
            fs::remove_file(&output)?;
        }
    }
    let cat = times[0].clone();
    println!("{:24} {:>8} {:>13}", "written by", "MB/s", "speed of cat");
    for ((name, _), times) in RUNS.iter().zip(times) {
        // Of the same pass, because the speed of the machine varies.
        let ratio = median(cat.iter().zip(&times).map(|(cat, time)| cat / time).collect());
        let time = median(times);
        println!("{name:24} {:8.0} {:12.0}%", (stream.words.len() * 8) as f64 / time, 100.0 * ratio);
    }
    Ok(())
}

/// Whole records, and the same bytes in a file.
struct Stream {
    words: Vec<u64>,
    /// Word index of the end of each part that is read from a ring at once.
    ends: Vec<usize>,
    source: PathBuf,
}

impl Stream {
    /// Samples with callchains of 4 to 35 addresses.
    fn new(megabytes: usize, source: PathBuf) -> Result<Self> {
        let (mut words, mut ends) = (Vec::with_capacity(megabytes * 125_100), Vec::new());
        let (mut samples, mut time) = (Samples::default(), 1_000_000);
        let mut start = 0;
        while words.len() < megabytes * 125_000 {
            samples.push(&mut words, time, ends.len() as u64 % 4);
            time += 1000;
            if (words.len() - start) * 8 >= SIZES[ends.len() % SIZES.len()] {
                start = words.len();
                ends.push(start);
            }
        }
        ends.push(words.len());
        fs::write(&source, words.as_bytes())?;
        Ok(Self { words, ends, source })
    }

    /// Iterates over the unread parts of the rings, each of which wraps.
    fn windows(&self) -> impl Iterator<Item = Window<'_>> {
        self.ends.iter().scan(0, |start, end| {
            let part = &self.words[*start..*end];
            *start = *end;
            let (first, second) = part.split_at(part.len() / 3);
            Some(Window::from_slices(first, second))
        })
    }
}

fn cat(stream: &Stream, path: &Path) -> Result<u64> {
    let (mut source, mut output) = (File::open(&stream.source)?, File::create(path)?);
    let mut buffer = vec![0; CAT_BUFFER];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok((stream.words.len() * 8) as u64),
            read => output.write_all(&buffer[..read])?,
        }
    }
}

/// The parts of a recorder beside the writer.
#[derive(Clone, Copy, Default)]
struct Recorder {
    copies: bool,
    counts: bool,
    is_pipe: bool,
    compresses: bool,
}

fn write(stream: &Stream, path: &Path, recorder: Recorder) -> Result<u64> {
    let (output, event) = (File::create(path)?, RecordedEvent::new(attr(), "cpu-clock"));
    let mut writer = if recorder.is_pipe {
        Writer::pipe(output, &[event], &Features::new())?
    } else {
        Writer::file(output, &[event])?
    };
    if recorder.compresses {
        writer = writer.compressed()?;
    }
    let mut inventory = Inventory::new(&attr());
    let mut copy = Vec::new();
    for (index, window) in stream.windows().enumerate() {
        let window = if recorder.copies { copied(window, &mut copy) } else { window };
        writer.write_window(window)?;
        if recorder.counts {
            inventory.note(window);
        }
        if index % RINGS == RINGS - 1 {
            writer.finish_round()?;
        }
    }
    let size = writer.position();
    writer.finish(&Features::new())?;
    if inventory.damaged() != 0 {
        return Err("the stream is damaged".into());
    }
    // The compressed form adds a feature at the end.
    Ok(if recorder.compresses { 0 } else { size })
}

/// Copies the unread part of a ring, as `Batch::copy_into` does.
fn copied<'c>(window: Window<'_>, copy: &'c mut Vec<u64>) -> Window<'c> {
    let (first, second) = window.as_slices();
    copy.clear();
    copy.extend_from_slice(first);
    copy.extend_from_slice(second);
    Window::from_slices(copy, &[])
}

/// A folder in memory, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let folder = PathBuf::from(format!("/dev/shm/perfkit-bench-{}", std::process::id()));
        fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
