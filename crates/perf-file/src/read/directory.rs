//! The directory form: a file with the header, and files with records only.

use std::boxed::Box;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::vec;
use std::vec::Vec;

use perf_decode::{Head, Heads};

use super::step::Found;
use super::{FileRecord, Reader, Source, Stream};
use crate::error::{Error, Reason, Result};

/// The numbered files of a directory, next to the reader of its main file.
#[derive(Debug)]
pub(super) struct Parts<S> {
    pub(super) numbered: Vec<Reader<S>>,
    /// The file whose record was returned last: 0 for the main file, and 1 for the first of
    /// `numbered`.
    current: usize,
    /// The error to return at the end: a missing file, or the first error of a sorted reader.
    error: Option<Error>,
    /// `None` if the files are read one after the other.
    merge: Option<Merge>,
}

/// The order of the files by the time of their next records. Each file is already in order.
#[derive(Debug)]
struct Merge {
    heads: Heads<Vec<Head>>,
    /// The next record of each file, which is `Some` if the file is in `heads`.
    next: Vec<Option<Found>>,
    /// Whether `heads` has the files. Reading starts with the request for the first record.
    is_started: bool,
    /// The latest time that was returned.
    latest: u64,
    late: u64,
}

impl<S: Source> Parts<S> {
    /// Sorts the records of all files; keeps up to `bytes` bytes of each.
    pub(super) fn sort(&mut self, bytes: usize) {
        for part in &mut self.numbered {
            part.sort_within(bytes);
        }
        let files = self.numbered.len() + 1;
        let heads = Heads::new(vec![Head::default(); files]);
        self.merge = Some(Merge { heads, next: vec![None; files], is_started: false, latest: 0, late: 0 });
    }

    pub(super) fn late(&self) -> u64 {
        self.merge.as_ref().map_or(0, |merge| merge.late)
    }
}

impl<S: Source> Reader<S> {
    /// Returns the file that the last record came from: this one, or a numbered file.
    pub(super) fn last_part(&mut self) -> Option<&mut Self> {
        match self.parts.as_ref().map_or(0, |parts| parts.current) {
            0 => Some(self),
            current => self.parts.as_mut()?.numbered.get_mut(current - 1),
        }
    }

    /// Makes a numbered file the current one, and finds its next record; `None` if the file does
    /// not exist.
    fn step_part(&mut self, index: usize) -> Option<Result<Option<Found>>> {
        self.parts.as_mut()?.current = index;
        self.last_part().map(Self::step_sorted)
    }

    /// Reads the next record of a directory.
    pub(super) fn next_of_parts(&mut self) -> Result<Option<FileRecord<'_>>> {
        // Taken out, because both are changed.
        let merge = self.parts.as_mut().and_then(|parts| parts.merge.take());
        let found = match merge {
            Some(mut merge) => {
                let found = self.merge_parts(&mut merge);
                if let Some(parts) = &mut self.parts {
                    parts.merge = Some(merge);
                }
                found
            }
            None => self.step_parts()?,
        };
        let Some(found) = found else {
            return self.parts.as_mut().and_then(|parts| parts.error.take()).map_or(Ok(None), Err);
        };
        let part = self.parts.as_ref().and_then(|parts| parts.numbered.get(parts.current.checked_sub(1)?));
        part.unwrap_or(self).record(found)
    }

    /// Finds the next record of the current file, or of the next one that has one.
    fn step_parts(&mut self) -> Result<Option<Found>> {
        let mut index = self.parts.as_ref().map_or(0, |parts| parts.current);
        while let Some(found) = self.step_part(index) {
            if let Some(found) = found? {
                return Ok(Some(found));
            }
            index += 1;
        }
        Ok(None)
    }

    /// Finds the earliest next record of all files.
    fn merge_parts(&mut self, merge: &mut Merge) -> Option<Found> {
        if merge.is_started {
            // The last record was borrowed from its file until now.
            let last = merge.heads.first()?;
            let next = self.step_merged(last);
            merge.heads.advance(next.map(time));
            merge.next.get_mut(last).into_iter().for_each(|slot| *slot = next);
        } else {
            for (index, slot) in merge.next.iter_mut().enumerate() {
                *slot = self.step_merged(index);
                if let Some(next) = slot {
                    merge.heads.insert(index, time(*next));
                }
            }
            merge.is_started = true;
        }
        let first = merge.heads.first()?;
        let next = merge.next.get(first).copied().flatten()?;
        // A record without a time is not late, because it is returned at once.
        let time = time(next);
        merge.late += u64::from(time != 0 && time < merge.latest);
        merge.latest = merge.latest.max(time);
        self.parts.as_mut()?.current = first;
        Some(next)
    }

    /// Finds the next record of a file. Its error waits for the end of all files, so that it hides
    /// no records.
    fn step_merged(&mut self, index: usize) -> Option<Found> {
        match self.step_part(index)? {
            Ok(next) => next,
            Err(error) => {
                self.parts.as_mut()?.error.get_or_insert(error);
                None
            }
        }
    }
}

/// Returns the time by which the files are merged: 0 for a record that is returned at once.
fn time(found: Found) -> u64 {
    match found {
        Found::Kept { time, .. } => time,
        _ => 0,
    }
}

impl Reader<Stream<File>> {
    /// Opens all files of a directory.
    pub(super) fn open_directory(path: &Path) -> Result<Self> {
        let files = numbered(path)?;
        let main = [path.join("data"), path.join("header")].into_iter().find(|file| file.exists());
        let main = main.ok_or_else(|| Error::of_file(Reason::NoDataFile))?;
        let mut main = Self::from_file(open_regular(main)?)?;
        // The directory of a recording of one thread has version 0 and no numbered files.
        let has_parts = matches!(main.directory_version(), Ok(Some(1..)));
        let error = first_missing(&files, has_parts);
        let mut numbered = Vec::new();
        for (number, path) in files {
            // It has only records.
            let (source, events) = (Stream::file(open_regular(path)?), main.events().clone());
            let mut part = Self::new(source, *main.header(), events, 0, None);
            part.context.part = Some(number);
            numbered.push(part);
        }
        main.parts = Some(Box::new(Parts { numbered, current: 0, error, merge: None }));
        Ok(main)
    }
}

/// Opens a file of a directory if it is a regular one: opening a pipe would wait for a writer.
fn open_regular(path: PathBuf) -> Result<File> {
    if !path.metadata().map_err(io)?.is_file() {
        return Err(Error::of_file(Reason::NotRegularFile { path }));
    }
    File::open(path).map_err(io)
}

/// Returns an error if a number is missing. A tool counts from 0; it is unknown how many files it
/// wrote.
fn first_missing(numbered: &[(u32, PathBuf)], has_parts: bool) -> Option<Error> {
    let gap = (0..).zip(numbered).find(|(expected, (number, _))| expected != number);
    let number = match gap {
        Some((expected, _)) => expected,
        None if has_parts && numbered.is_empty() => 0,
        None => return None,
    };
    Some(Error::of_file(Reason::NoPart { number }))
}

/// Returns the files `data.N` of a directory, by number.
fn numbered(path: &Path) -> Result<Vec<(u32, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("data.")?.parse().ok());
        files.extend(number.map(|number| (number, entry.path())));
    }
    files.sort();
    Ok(files)
}

fn io(error: std::io::Error) -> Error {
    Error::of_file(Reason::Io(error))
}
