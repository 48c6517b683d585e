//! Writing of a `perf.data` file from rings to `/dev/shm`, beside a copy of the same bytes as `cat` makes it. It
//! needs three times the memory of the file.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use perf_decode::Window;
use perf_file::writer::{Features, Inventory, RecordedEvent, Writer};
use zerocopy::IntoBytes;

use super::{Samples, attr, cpu_time};
use crate::number;
use crate::table::{Result, table};

/// The buffer of `cat` in GNU coreutils, in bytes.
const CAT_BUFFER: usize = 128 << 10;
/// Samples that are unread in a ring when it is written: about 230 KiB.
const PART: usize = 1200;

const NAMES: [&str; 4] = ["cat", "writer", "recorder", "compressed"];

pub(crate) fn write(arguments: &[String]) -> Result<()> {
    let (megabytes, passes): (usize, usize) = (number(arguments, 0, 500)?, number(arguments, 1, 5)?);
    let folder = Path::new("/dev/shm").join(format!("perfkit-bench-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let result = compare(megabytes, passes, &folder);
    fs::remove_dir_all(&folder)?;
    result
}

fn compare(megabytes: usize, passes: usize, folder: &Path) -> Result<()> {
    let (source, output) = (folder.join("source"), folder.join("output"));
    let (mut words, mut ends, mut samples) = (Vec::new(), vec![0], Samples::default());
    while words.len() < megabytes * 125_000 {
        (0..PART).for_each(|_| samples.push(&mut words, ends.len() as u64 * 1_000_000, 0));
        ends.push(words.len());
    }
    fs::write(&source, words.as_bytes())?;
    table("write a perf.data", ["ns/KiB", "MB/s"], &NAMES, passes, |index| {
        let start = cpu_time();
        match index {
            0 => cat(&source, &output)?,
            1 => record(&words, &ends, &output, false, false)?,
            2 => record(&words, &ends, &output, true, false)?,
            _ => record(&words, &ends, &output, true, true)?,
        }
        let time = (cpu_time() - start) as f64;
        fs::remove_file(&output)?;
        let bytes = (words.len() * 8) as f64;
        Ok([time * 1000.0 * 1024.0 / bytes, bytes / time])
    })
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

/// Writes the unread parts of rings, each of which wraps. A recorder also copies them out of the ring and keeps an
/// [`Inventory`], which frames all records.
fn record(words: &[u64], ends: &[usize], path: &Path, recorder: bool, compressed: bool) -> Result<()> {
    let mut writer = Writer::file(File::create(path)?, &[RecordedEvent::new(attr(), "cpu-clock")])?;
    if compressed {
        writer = writer.compressed()?;
    }
    let (mut inventory, mut copy) = (Inventory::new(&attr()), Vec::new());
    for part in ends.windows(2) {
        let part = &words[part[0]..part[1]];
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
