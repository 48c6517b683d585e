//! Prints the records of a captured ring, one JSON object a line, as `docs/dump-json.md` describes
//! them.
//!
//! `cargo run -p perf-decode --example ring_json --features testing -- FILE`

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use perf_abi::SampleType;
use perf_decode::testing::capture::{Capture, Event, Mode, Snapshot};
use perf_decode::{
    BackwardRecords, Error, Layouts, RawRecord, Record, Records, Result, SampleLayout, Scratch, Window,
};
use serde_json::{Map, Value as Json, json};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(path), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: ring_json FILE");
        return ExitCode::from(2);
    };
    let path = Path::new(&path);
    let mut out = BufWriter::new(io::stdout().lock());
    let (code, text) = match std::fs::read(path).and_then(|bytes| print(&mut out, &bytes)) {
        Ok(End::Complete) => return ExitCode::SUCCESS,
        // Not an error, because the file is not damaged.
        Ok(End::Overwritten) => (
            ExitCode::SUCCESS,
            "no records: the start of the first record of an overwritten forward ring is unknown".to_owned(),
        ),
        Ok(End::Damaged(text)) => (ExitCode::FAILURE, text),
        // The reader of the output exited early, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(error) => {
            let text = error.to_string();
            (ExitCode::FAILURE, text.split(" (os error ").next().unwrap_or_default().to_owned())
        }
    };
    eprintln!("perfkit: {}: {text}", path.display());
    code
}

/// The end of a file, after all its whole records were printed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Complete,
    /// An overwritten forward ring, in which no record can be found.
    Overwritten,
    /// The first error and the number of errors.
    Damaged(String),
}

/// Prints the records of a captured ring.
pub(crate) fn print(out: &mut dyn Write, bytes: &[u8]) -> io::Result<End> {
    let (capture, end) = Capture::parse_prefix(bytes);
    let is_overwritten = capture.mode == Mode::Overwritten;
    let (events, mut errors) = (Events::new(&capture.events), Vec::new());
    let mut scratch = Scratch::new();
    for (index, snapshot) in capture.snapshots.iter().enumerate().filter(|_| !is_overwritten) {
        let mut records = match SnapshotRecords::new(snapshot, capture.mode, &mut scratch) {
            Ok(records) => records,
            Err(error) => {
                errors.push(format!("snapshot {index}: {error}"));
                continue;
            }
        };
        while let Some((offset, record)) = records.next() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    errors.push(format!("snapshot {index}: {error}"));
                    continue;
                }
            };
            let mut object = Map::from_iter([
                ("snapshot".to_owned(), index.into()),
                ("offset".to_owned(), offset.into()),
                ("wraps".to_owned(), (offset + record.size() as u64 > snapshot.size as u64).into()),
            ]);
            if let Err(error) = events.describe(record, &mut object)? {
                errors.push(format!("snapshot {index}, offset {offset:#x}: {error}"));
            }
            writeln!(out, "{}", Json::from(object))?;
        }
    }
    out.flush()?;
    errors.extend(end.err().map(|error| error.to_string()));
    Ok(match &errors[..] {
        [] if is_overwritten => End::Overwritten,
        [] => End::Complete,
        [error] => End::Damaged(error.clone()),
        [first, ..] => End::Damaged(format!("{first}; the first of {} errors", errors.len())),
    })
}

/// The records of a snapshot: oldest first, in a backward ring newest first.
struct SnapshotRecords<'a> {
    records: Direction<'a>,
    /// Position of the first record, free-running.
    start: u64,
    snapshot: &'a Snapshot,
}

enum Direction<'a> {
    Forward(Records<'a>),
    Backward(BackwardRecords<'a>),
}

impl<'a> SnapshotRecords<'a> {
    fn new(snapshot: &'a Snapshot, mode: Mode, scratch: &'a mut Scratch) -> Result<Self> {
        let Snapshot { head, tail, ref data, .. } = *snapshot;
        let is_backward = mode == Mode::Backward;
        let records = if snapshot.is_truncated() {
            Direction::Forward(present(snapshot, is_backward)?.records(scratch))
        } else if is_backward {
            Direction::Backward(BackwardRecords::new(data, head, scratch)?)
        } else {
            Direction::Forward(Window::new(data, tail, head)?.records(scratch))
        };
        Ok(Self { records, start: if is_backward { head } else { tail }, snapshot })
    }

    /// Returns the next record with its offset in the data area, in bytes.
    fn next(&mut self) -> Option<(u64, Result<RawRecord<'_>>)> {
        let position = match &self.records {
            Direction::Forward(records) => records.position(),
            Direction::Backward(records) => records.position(),
        };
        let offset = self.start.wrapping_add(position).checked_rem(self.snapshot.size as u64).unwrap_or(0);
        let next = match &mut self.records {
            Direction::Forward(records) => records.next(),
            Direction::Backward(records) => records.next(),
        }?;
        // The file ends within this record, which is reported as an error of the file.
        let is_cut = self.snapshot.is_truncated() && matches!(next, Err(Error::SizePastEnd { .. }));
        (!is_cut).then_some((offset, next))
    }
}

/// Returns the readable part of a data area whose end is missing in the file. What wraps to the
/// start of the area is not in it, because the sizes that lead there are missing.
fn present(snapshot: &Snapshot, is_backward: bool) -> Result<Window<'_>> {
    let Snapshot { head, tail, size, ref data } = *snapshot;
    let written = head.wrapping_neg().min(size as u64);
    let (from, to) = if is_backward { (head, head.wrapping_add(written)) } else { (tail, head) };
    let (start, len) = Window::span(size / 8, from, to)?;
    let end = (start + len).min(data.len());
    Ok(Window::from_slices(data.get(start..end).unwrap_or(&[]), &[]))
}

/// Finds the layout of each record of a ring.
enum Events {
    /// The layout of all records, if the ring has one event, or several with one layout and without
    /// ids.
    Single(SampleLayout),
    /// Layouts by the ids in the records, with the index of each event in the file; or the reason
    /// why the events cannot be distinguished.
    ById(Result<Layouts<Vec<(u64, SampleLayout)>>>, Vec<usize>),
}

impl Events {
    fn new(events: &[Event]) -> Self {
        const ID: SampleType = SampleType::IDENTIFIER.union(SampleType::ID);
        let mut table: Vec<_> = with_records(events)
            .into_iter()
            .map(|(index, event)| (event.id, SampleLayout::new(&event.attr), index))
            .collect();
        let has_id = events.iter().any(|event| event.attr.sample_type.intersects(ID));
        match &table[..] {
            [(_, layout, _)] if events.len() == 1 => Self::Single(*layout),
            [(_, layout, _), others @ ..]
                if !has_id && !others.is_empty() && others.iter().all(|(_, other, _)| other == layout) =>
            {
                Self::Single(*layout)
            }
            _ => {
                table.sort_by_key(|(id, ..)| *id);
                let layouts = table.iter().map(|(id, layout, _)| (*id, *layout)).collect();
                Self::ById(Layouts::from_sorted(layouts), table.iter().map(|(.., index)| *index).collect())
            }
        }
    }

    /// Adds the event and the content of a record, or why it could not be decoded.
    fn describe(&self, record: RawRecord<'_>, object: &mut Map<String, Json>) -> io::Result<Result<()>> {
        let decoded = match self.find(record) {
            // The fields of an unknown kind are the same for every event, and the offset of its id
            // is unknown.
            _ if record.kind().name().is_none() => Ok(Record::Unknown(record)),
            Ok((event, layout)) => {
                object.extend(event.map(|index| ("attr".to_owned(), index.into())));
                record.decode(layout)
            }
            Err(error) => Err(error),
        };
        let content = match &decoded {
            Ok(record) => serde_json::to_value(record)?,
            Err(error) => json!({
                "type": record.kind().0, "name": record.kind().to_string(), "misc": record.header().misc.bits(),
                "size": record.size(), "error": error.to_string(),
            }),
        };
        object.extend(content.as_object().cloned().unwrap_or_default());
        Ok(decoded.map(drop))
    }

    /// Returns the layout of a record of a known kind, and the index of its event if there are
    /// several.
    fn find(&self, record: RawRecord<'_>) -> Result<(Option<usize>, &SampleLayout)> {
        match self {
            Self::Single(layout) => Ok((None, layout)),
            Self::ById(Ok(layouts), indices) => {
                let (index, layout) = layouts.find_entry(record)?;
                Ok((indices.get(index).copied(), layout))
            }
            Self::ById(Err(error), _) => Err(*error),
        }
    }
}

/// Returns the events that can have records in the ring, each with its index in the file.
///
/// Siblings that only count have an empty `sample_type` and no records. If some events can be found
/// by their ids, the others are left out.
fn with_records(events: &[Event]) -> Vec<(usize, &Event)> {
    let all = || events.iter().enumerate();
    [SampleType::IDENTIFIER, SampleType::ID, SampleType::all()]
        .map(|fields| {
            all().filter(|(_, event)| event.attr.sample_type.intersects(fields)).collect::<Vec<_>>()
        })
        .into_iter()
        .find(|found| events.len() > 1 && !found.is_empty())
        .unwrap_or_else(|| all().collect())
}
