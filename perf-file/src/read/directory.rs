//! The directory form: a file with the header, and files with records only.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::vec::Vec;

use super::kept::Next;
use super::{FileEvents, FileRecord, Reader, Sorted, Stream};
use crate::format::Section;
use crate::{Error, FileHeader, Reason, Result};

/// Reads the records of a directory, which `perf record --threads` writes.
///
/// The file `data` in it has a header and records. The files `data.0`,
/// `data.1` and so on have only records. [`FileRecord::part`] returns the number of the file.
#[derive(Debug)]
pub struct Directory {
    parts: Vec<Reader<Stream<File>>>,
    /// Index of the part that is read.
    current: usize,
    /// The error of the first file that is missing, which is returned at the end.
    missing: Option<Error>,
}

impl Directory {
    /// Opens all files of a directory. Only regular files are opened.
    ///
    /// # Errors
    ///
    /// [`Reason::NoDataFile`] if there is no file with the header, and an error of [`Reader::open`] of this file;
    /// [`Reason::NotRegularFile`] and [`Reason::Io`] of the others. A missing numbered file is not an error here,
    /// but after the records of the files that are there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let numbered = numbered(path)?;
        let main = [path.join("data"), path.join("header")].into_iter().find(|file| file.exists());
        let main = main.ok_or_else(|| Error::of_file(Reason::NoDataFile))?;
        let mut main = Reader::from_file(open_regular(main)?)?;
        let (head, events) = (*main.header(), main.events().clone());
        // The directory of a recording of one thread has version 0 and no numbered files.
        let has_parts = main.directory_version().is_some_and(|version| version > 0);
        let missing = first_missing(&numbered, has_parts);
        let mut parts = std::vec![main];
        for (number, path) in numbered {
            parts.push(Reader::part(open_regular(path)?, head, events.clone(), number));
        }
        Ok(Self { parts, current: 0, missing })
    }

    /// Returns the main file: its features, and records without those of the numbered files. `None` never.
    pub fn main(&mut self) -> Option<&mut Reader<Stream<File>>> {
        self.parts.first_mut()
    }

    /// Returns the header of the main file.
    #[must_use]
    pub fn header(&self) -> Option<&FileHeader> {
        self.parts.first().map(Reader::header)
    }

    /// Returns the events, which are the same for all files.
    #[must_use]
    pub fn events(&self) -> Option<&FileEvents> {
        self.parts.first().map(Reader::events)
    }

    /// Reads the next record: those of the main file, then those of the numbered ones; `None` at
    /// the end.
    ///
    /// # Errors
    ///
    /// An error of [`Reader::next`]; the next call continues with the next file. [`Reason::NoPart`] at the end if
    /// a numbered file is missing.
    #[expect(clippy::should_implement_trait, reason = "the record borrows the reader")]
    pub fn next(&mut self) -> Result<Option<FileRecord<'_>>> {
        loop {
            let Some(part) = self.parts.get_mut(self.current) else {
                return self.missing.take().map_or(Ok(None), Err);
            };
            if let Some(found) = part.step()? {
                return match self.parts.get(self.current) {
                    Some(part) => part.record(found).map(Some),
                    None => Ok(None),
                };
            }
            self.current += 1;
        }
    }

    /// Sorts the records of all files by time; keeps up to [`Sorted::CAPACITY`] bytes of them.
    #[must_use]
    pub fn sorted(self) -> SortedDirectory {
        let capacity = Sorted::<Stream<File>>::CAPACITY / self.parts.len().max(1);
        let sorted =
            |reader| Part { sorted: Sorted::with_capacity(reader, capacity), next: None, is_ended: false };
        SortedDirectory { parts: self.parts.into_iter().map(sorted).collect(), error: self.missing }
    }
}

/// Reads the records of a directory in the order of time.
#[derive(Debug)]
pub struct SortedDirectory {
    parts: Vec<Part>,
    /// The first error of a part, which is returned at the end.
    error: Option<Error>,
}

#[derive(Debug)]
struct Part {
    sorted: Sorted<Stream<File>>,
    /// The next record with its time; 0 if it has none.
    next: Option<(u64, Next)>,
    is_ended: bool,
}

impl SortedDirectory {
    /// Reads the next record in the order of time; `None` at the end.
    ///
    /// # Errors
    ///
    /// The first error of a file, after all whole records of all files.
    #[expect(clippy::should_implement_trait, reason = "the record borrows the reader")]
    pub fn next(&mut self) -> Result<Option<FileRecord<'_>>> {
        for part in self.parts.iter_mut().filter(|part| part.next.is_none() && !part.is_ended) {
            match part.sorted.step() {
                Ok(Some(next)) => part.next = Some((next.time(), next)),
                Ok(None) => part.is_ended = true,
                Err(error) => {
                    part.is_ended = true;
                    self.error.get_or_insert(error);
                }
            }
        }
        let time = |part: &&mut Part| part.next.as_ref().map_or(u64::MAX, |(time, _)| *time);
        let first = self.parts.iter_mut().filter(|part| part.next.is_some()).min_by_key(time);
        let Some((part, (_, next))) = first.and_then(|part| part.next.take().map(|next| (part, next))) else {
            return self.error.take().map_or(Ok(None), Err);
        };
        part.sorted.record(next)
    }
}

impl Reader<Stream<File>> {
    /// Reads a numbered file of a directory, which has only records.
    fn part(file: File, head: FileHeader, events: FileEvents, number: u32) -> Self {
        let mut reader = Self::new(Stream::file(file), head, events, Section::default(), false);
        reader.context.part = Some(number);
        reader
    }
}

/// Opens a file of a directory if it is a regular one: opening a pipe would wait for a writer.
fn open_regular(path: PathBuf) -> Result<File> {
    if !path.metadata().map_err(io)?.is_file() {
        return Err(Error::of_file(Reason::NotRegularFile { path }));
    }
    File::open(path).map_err(io)
}

/// Returns an error if a number is missing. A tool counts from 0; it is unknown how many files it wrote.
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
