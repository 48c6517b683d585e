//! The events of a file, and which of them wrote a record.

use std::vec::Vec;

use perf_abi::{Attr, RecordType};
use perf_decode::{Error, RawRecord, Result, SampleLayout};

use crate::attr::FileAttr;
use crate::error::Reason;
use crate::feature::{FeatureData, FeatureSection};
use crate::swap;

mod index;

use index::Index;

/// An event of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileEvent {
    /// The attr, see [`FileAttr::attr`].
    pub attr: Attr,
    /// The attr as it is in the file.
    pub bytes: Vec<u8>,
    /// The ids, one per CPU or thread.
    pub ids: Vec<u64>,
    /// The layout of its records.
    pub layout: SampleLayout,
    name: Option<Vec<u8>>,
    fields: swap::Fields,
}

impl FileEvent {
    /// Returns the name, such as `cycles:u`, as raw bytes.
    ///
    /// The file form has it in the feature [`EVENT_DESC`](crate::format::Feature::EVENT_DESC). The
    /// pipe form has it in that feature or in an [`EventUpdate`](crate::record::EventUpdate), so it
    /// is known after the record with it was read, as by
    /// [`Reader::read_metadata`](super::Reader::read_metadata). `None` if there is neither.
    pub fn name(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }
}

/// The events of a file.
///
/// A file with more than [`MAX`](Self::MAX) events or [`MAX_IDS`](Self::MAX_IDS) ids is not read,
/// so that a malformed file cannot take any amount of memory.
#[derive(Clone, Debug, Default)]
pub struct FileEvents {
    all: Vec<FileEvent>,
    index: Index,
    /// Number of the ids of all events.
    ids: u64,
}

impl FileEvents {
    /// The highest number of events of a file.
    pub const MAX: usize = 1 << 16;
    /// The highest number of ids of all events of a file. An event has one per CPU or thread.
    pub const MAX_IDS: usize = 1 << 22;
    /// Bytes of the attrs of all events, at most.
    const MAX_ATTR_BYTES: u64 = 64 << 20;

    /// Returns the events in the order of the file.
    pub fn as_slice(&self) -> &[FileEvent] {
        &self.all
    }

    /// Returns the number of ids that more than one event has. The first event is taken for them.
    pub fn repeated_ids(&self) -> u64 {
        self.index.repeated()
    }

    /// Returns the event that wrote a record of the kernel, and its index.
    ///
    /// Tools synthesize records with the id 0 or without an id. They have the layout of the first
    /// event.
    ///
    /// # Errors
    ///
    /// [`Error::NoId`] if the file has no events, or if a sample has no id; [`Error::UnknownId`] if
    /// no event has the record's id; [`Error::IdConflict`] if the ids are at different offsets in
    /// the records of several events.
    #[inline]
    pub fn find(&self, record: RawRecord<'_>) -> Result<(usize, &FileEvent)> {
        let index = match self.index.find(record) {
            Ok(index) => index,
            // A sample always comes from the kernel, so it is never taken for one of the first
            // event.
            Err(Error::NoId { .. } | Error::UnknownId { id: 0 }) if record.kind() != RecordType::SAMPLE => 0,
            Err(error) => return Err(error),
        };
        self.all.get(index).map(|event| (index, event)).ok_or(Error::NoId { kind: record.kind() })
    }

    /// Swaps a record of the other byte order.
    pub(super) fn swap(&self, words: &mut [u64]) {
        // The first step makes the ids valid. They identify the event, which determines the second
        // step.
        swap::numbers(words);
        let event = RawRecord::from_words(words).ok().and_then(|raw| self.find(raw).ok());
        if let Some((_, event)) = event {
            event.fields.swap(words);
        }
    }

    /// Checks the bytes of all attrs before they are read. [`add`](Self::add) checks their number.
    pub(super) fn check_len(bytes: u64) -> crate::error::Result<()> {
        check_limit("bytes of the attrs", bytes, Self::MAX_ATTR_BYTES)
    }

    /// Checks the number of further ids before they are read from a file of `file_len` bytes. The
    /// sections of a malformed file can overlap, and then have more than the file.
    pub(super) fn check_ids(&self, more: u64, file_len: u64) -> crate::error::Result<()> {
        let all = self.ids.saturating_add(more);
        let needed = all.saturating_mul(8);
        if needed > file_len {
            let reason = Reason::Truncated { what: "ids of all events", needed, available: file_len };
            return Err(crate::error::Error::of_file(reason));
        }
        check_limit("ids of all events", all, Self::MAX_IDS as u64)
    }

    /// Adds an event.
    pub(super) fn add(&mut self, attr: &FileAttr<'_>) -> crate::error::Result<()> {
        let ids = self.ids + attr.ids.len() as u64;
        check_limit("events", self.all.len() as u64 + 1, Self::MAX as u64)?;
        check_limit("ids of all events", ids, Self::MAX_IDS as u64)?;
        self.ids = ids;
        self.all.push(FileEvent {
            attr: attr.attr,
            bytes: attr.bytes.to_vec(),
            ids: attr.ids.iter().collect(),
            name: None,
            layout: SampleLayout::new(&attr.attr),
            fields: swap::Fields::new(&attr.attr),
        });
        Ok(())
    }

    /// Prepares [`find`](FileEvents::find) after events were added.
    #[inline]
    pub(super) fn update(&mut self) {
        if self.index.len() != self.all.len() {
            self.index.add(&self.all);
        }
    }

    /// Names the events by the feature `EVENT_DESC`, which lists them in the same order. A
    /// description with other ids than the event at its index is of the event that has its first
    /// id.
    pub(super) fn set_names(&mut self, section: &FeatureSection<'_>) {
        let Ok(FeatureData::Events(list)) = section.data() else { return };
        self.update();
        for (index, desc) in list.iter().enumerate() {
            let is_same = |event: &FileEvent| desc.event.ids.iter().eq(event.ids.iter().copied());
            let index = match self.all.get(index) {
                Some(event) if is_same(event) => Some(index),
                _ => desc.event.ids.iter().next().and_then(|id| self.index.with_id(id)),
            };
            self.set_name(index, desc.name);
        }
    }

    /// Names the event with an id, as an `EVENT_UPDATE` record does. The id 0 is of the first
    /// event.
    pub(super) fn set_name_of(&mut self, id: u64, name: &[u8]) {
        self.update();
        self.set_name(if id == 0 { Some(0) } else { self.index.with_id(id) }, name);
    }

    fn set_name(&mut self, index: Option<usize>, name: &[u8]) {
        if let Some(event) = index.and_then(|index| self.all.get_mut(index)) {
            event.name = Some(name.to_vec());
        }
    }
}

fn check_limit(what: &'static str, found: u64, limit: u64) -> crate::error::Result<()> {
    if found <= limit {
        Ok(())
    } else {
        Err(crate::error::Error::of_file(Reason::Limit { what, found, limit }))
    }
}

#[cfg(test)]
mod tests;
