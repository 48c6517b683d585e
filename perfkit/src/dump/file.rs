//! Dump of a `perf.data` file.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

use perf_decode::Record;
use perf_file::{Directory, FileRecord, Place, Reader, Result, Sorted, SortedDirectory, Source};

use super::json::Object;
use super::{Options, Printer, content, tool_record};

/// Prints the records of a file, or of standard input if the path is `-`.
pub(super) fn run(out: &mut dyn Write, path: &Path, options: &Options) -> io::Result<()> {
    let mut printer = Printer::new(out, options.json);
    let end = if path.as_os_str() == "-" {
        let stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        if stdin.metadata()?.is_file() {
            print_all(&mut printer, Reader::from_file(stdin), options.sorted)?
        } else {
            print_all(&mut printer, Reader::from_pipe(stdin), options.sorted)?
        }
    } else if path.is_dir() {
        match Directory::open(path) {
            Ok(directory) if options.sorted => print_each(&mut printer, &mut directory.sorted())?,
            Ok(mut directory) => print_each(&mut printer, &mut directory)?,
            Err(error) => Err(error),
        }
    } else {
        print_all(&mut printer, Reader::open(path), options.sorted)?
    };
    printer.out.flush()?;
    if let Err(error) = end {
        printer.damage.add(error);
    }
    match printer.damage.into_text() {
        Some(text) => Err(io::Error::other(format!("{}: {text}", path.display()))),
        None => Ok(()),
    }
}

/// Prints all records. Returns the error at which the file ends, if there is one.
fn print_all<S: Source>(
    printer: &mut Printer<'_>,
    reader: Result<Reader<S>>,
    sorted: bool,
) -> io::Result<Result<()>> {
    match reader {
        Ok(reader) if sorted => print_each(printer, &mut Sorted::new(reader)),
        Ok(mut reader) => print_each(printer, &mut reader),
        Err(error) => Ok(Err(error)),
    }
}

/// Records in one of the two orders.
trait Records {
    fn next(&mut self) -> Result<Option<FileRecord<'_>>>;
}

impl<S: Source> Records for Reader<S> {
    fn next(&mut self) -> Result<Option<FileRecord<'_>>> {
        self.next()
    }
}

impl<S: Source> Records for Sorted<S> {
    fn next(&mut self) -> Result<Option<FileRecord<'_>>> {
        self.next()
    }
}

impl Records for Directory {
    fn next(&mut self) -> Result<Option<FileRecord<'_>>> {
        self.next()
    }
}

impl Records for SortedDirectory {
    fn next(&mut self) -> Result<Option<FileRecord<'_>>> {
        self.next()
    }
}

fn print_each(printer: &mut Printer<'_>, records: &mut impl Records) -> io::Result<Result<()>> {
    loop {
        match records.next() {
            Ok(Some(record)) => {
                let entry = Entry::new(record);
                if let Some(error) = entry.error() {
                    printer.damage.add(error);
                }
                printer.print(&entry, Entry::json)?;
            }
            Ok(None) => return Ok(Ok(())),
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// A record with its content.
struct Entry<'r> {
    record: FileRecord<'r>,
    /// Index of its event, if the file has several.
    event: Option<usize>,
    content: Content<'r>,
}

enum Content<'r> {
    Kernel(Result<Record<'r>>),
    Tool(Result<Object>),
}

impl<'r> Entry<'r> {
    fn new(record: FileRecord<'r>) -> Self {
        let Some(raw) = record.kernel() else {
            return Self { record, event: None, content: Content::Tool(tool_record::fields(&record)) };
        };
        // The fields of an unknown kind are the same for every event, and the offset of its id is
        // unknown.
        if raw.kind().name().is_none() {
            return Self { record, event: None, content: Content::Kernel(Ok(Record::Unknown(raw))) };
        }
        let event = record.event().ok().map(|(index, _)| index).filter(|_| record.events().len() > 1);
        Self { record, event, content: Content::Kernel(record.decode()) }
    }

    /// Returns why the record could not be decoded.
    fn error(&self) -> Option<&perf_file::Error> {
        match &self.content {
            Content::Kernel(decoded) => decoded.as_ref().err(),
            Content::Tool(parsed) => parsed.as_ref().err(),
        }
    }

    fn name(&self) -> String {
        tool_record::name(self.record.kind())
    }

    /// Returns the record as one object.
    fn json(&self) -> Object {
        let header = self.record.header();
        let mut json = Object::new();
        let mut put = |key: &str, value| json.insert(key.to_owned(), value);
        put("type", header.kind.0.into());
        put("name", self.name().into());
        put("misc", header.misc.bits().into());
        put("size", header.size.into());
        match self.record.place() {
            Place::Offset(offset) => put("offset", offset.into()),
            Place::InCompressed(offset) => put("in_compressed", offset.into()),
        };
        if let Some(part) = self.record.part() {
            put("part", part.into());
        }
        if let Some(event) = self.event {
            put("attr", event.into());
        }
        match &self.content {
            Content::Kernel(decoded) => content::put(&mut json, decoded),
            Content::Tool(Ok(fields)) if fields.is_empty() => {}
            Content::Tool(Ok(fields)) => {
                put("fields", fields.clone().into());
            }
            Content::Tool(Err(error)) => {
                put("error", error.to_string().into());
            }
        }
        json
    }
}

impl fmt::Display for Entry<'_> {
    /// One line: offset, size, the event if the file has several, and the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = self.record.part() {
            write!(f, "data.{part} ")?;
        }
        let size = self.record.header().size;
        match self.record.place() {
            Place::Offset(offset) => write!(f, "{offset:#08x} {size:5} ")?,
            // In the compressed record at the offset.
            Place::InCompressed(offset) => write!(f, "{offset:#08x}z{size:5} ")?,
        }
        if let Some(event) = self.event {
            write!(f, "[{event}] ")?;
        }
        match &self.content {
            Content::Kernel(Ok(record)) => write!(f, "{record}"),
            Content::Kernel(Err(error)) | Content::Tool(Err(error)) => {
                write!(f, "{} of {size} bytes: {error}", self.name())
            }
            Content::Tool(Ok(fields)) => {
                f.write_str(&self.name())?;
                fields.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
            }
        }
    }
}
