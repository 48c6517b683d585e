//! The features of a reader's file, and the events and features of the pipe form before its
//! records.

use std::string::String;
use std::vec::Vec;

use perf_abi::Header;

use super::record::Context;
use super::{Reader, Source};
use crate::bytes::Bytes;
use crate::error::{Error, Reason, Result};
use crate::feature::{
    ClockData, Compression, CpuCount, FeatureData, FeatureSection, FeatureTable, SampleTime,
};
use crate::format::{Feature, FeatureSet, RawPipeHeader, Section, record_type as kind};
use crate::frame::{check_size, header, payload_len};
use crate::order::ByteOrder;
use crate::record::{EventUpdate, Update, UserRecord};

/// The content of a feature section.
#[derive(Clone, Debug)]
pub struct FeatureBuf {
    feature: Feature,
    bytes: Vec<u8>,
    order: ByteOrder,
    offset: u64,
}

impl FeatureBuf {
    /// The longest section that is read, in bytes. A section of tracing data has some megabytes.
    pub const MAX_LEN: u64 = 256 << 20;

    /// Returns the section, to parse it.
    pub fn section(&self) -> FeatureSection<'_> {
        FeatureSection::new(self.feature, &self.bytes, self.order, self.offset)
    }
}

impl<S: Source> Reader<S> {
    /// Returns the features that are known so far: in the file form all, in the pipe form the
    /// features of the records that were read. Empty after an interrupted recording.
    pub fn features(&self) -> FeatureSet {
        if self.head.is_pipe() {
            self.context.features.iter().map(|buf| buf.feature).collect()
        } else {
            self.head.features()
        }
    }

    /// Reads the section of a feature; `None` if the file lacks it, or in the pipe form if its
    /// record was not read yet ([`read_metadata`](Self::read_metadata) reads the records before the
    /// first record of the kernel). In the pipe form, the build ids are records of another kind,
    /// and not here; nor are the formats of tracepoints if `read_metadata` was not called.
    ///
    /// Can be called between two records: the next record is the same as without the call.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`] if the table or the section is past the end of the file,
    /// [`Reason::Overlap`] if they overlap the header, the attrs, the records or each other's
    /// bytes, [`Reason::Limit`] for a section of more than [`FeatureBuf::MAX_LEN`] bytes,
    /// [`Reason::Io`].
    pub fn feature(&mut self, feature: Feature) -> Result<Option<FeatureBuf>> {
        if self.head.is_pipe() {
            return Ok(self.context.features.iter().find(|buf| buf.feature == feature).cloned());
        }
        if !self.head.features().contains(feature) {
            return Ok(None);
        }
        let table = self.feature_table(Some(feature))?;
        self.read_feature(&table, feature)
    }

    /// Returns whether the file ends before the end that its header or its table of features
    /// states: within the records, the table, or the section of a feature, like an interrupted
    /// copy. All complete records can be read, then [`next`](Self::next) returns an error if
    /// records are missing; the [usual features](Self#usual-features) that are missing are `None`.
    ///
    /// Returns `false` if the length of the file is unknown: for a pipe, and for an interrupted
    /// recording, which has no features.
    ///
    /// # Errors
    ///
    /// [`Reason::Io`] if the size of the file cannot be read.
    pub fn is_truncated(&mut self) -> Result<bool> {
        let Some(header) = self.head.file_header() else { return Ok(false) };
        let (records, features) = (header.data, self.head.features());
        let Some(len) = self.source.file_len()? else { return Ok(false) };
        let is_after_end = |section: Section| section.size > 0 && section.end().is_none_or(|end| end > len);
        if is_after_end(records) {
            return Ok(true);
        }
        if self.head.is_interrupted() || features == FeatureSet::default() {
            return Ok(false);
        }
        match self.feature_table(None) {
            Ok(table) => Ok(features.iter().filter_map(|feature| table.section(feature)).any(is_after_end)),
            Err(error) if error.is_past_the_end() => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Verifies that the table and all sections of the file form are in the file, that they do not
    /// overlap anything, and that the content of each is well-formed. Otherwise, damage in features
    /// that are not read stays unnoticed. The pipe form has no table, and nothing to verify here.
    ///
    /// Can be called between two records, like [`feature`](Self::feature).
    ///
    /// # Errors
    ///
    /// The first error of [`feature`](Self::feature) or of [`FeatureSection::data`]. To report all,
    /// call these for each of [`features`](Self::features).
    pub fn verify_features(&mut self) -> Result<()> {
        if self.head.features() == FeatureSet::default() {
            return Ok(());
        }
        let table = self.feature_table(None)?;
        table.check_all(&self.head, self.source.file_len()?.unwrap_or(u64::MAX))?;
        for feature in self.head.features().iter() {
            if let Some(buf) = self.read_feature(&table, feature)? {
                buf.section().data()?;
            }
        }
        Ok(())
    }

    /// Reads the table up to the entry of a feature, or the whole table.
    fn feature_table(&mut self, last: Option<Feature>) -> Result<FeatureTable> {
        let what = FeatureTable::NAME;
        let Some(section) = FeatureTable::section_up_to(&self.head, last) else {
            return Err(Error::of_file(Reason::Truncated { what, needed: u64::MAX, available: 0 }));
        };
        self.release();
        let bytes = self.source.section(section, what, self.offset)?;
        FeatureTable::read(&self.head, Bytes::new(&bytes, self.head.order, section.offset))
    }

    fn read_feature(&mut self, table: &FeatureTable, feature: Feature) -> Result<Option<FeatureBuf>> {
        let Some(section) = table.section(feature) else { return Ok(None) };
        table.check(&self.head, feature)?;
        if section.size > FeatureBuf::MAX_LEN {
            let (found, limit) = (section.size, FeatureBuf::MAX_LEN);
            let reason = Reason::Limit { what: "bytes of a feature section", found, limit };
            return Err(Error::new(section.offset, reason));
        }
        self.release();
        let bytes = self.source.section(section, feature.name().unwrap_or("feature"), self.offset)?;
        Ok(Some(FeatureBuf { feature, bytes, order: self.head.order, offset: section.offset }))
    }
}

/// Reads a feature whose data is a variant of [`FeatureData`], and converts its value.
macro_rules! known {
    ($reader:ident, $feature:ident, $variant:ident($value:ident) => $converted:expr) => {{
        let buf = match $reader.feature(Feature::$feature) {
            Err(error) if error.is_past_the_end() => None,
            found => found?,
        };
        match buf.as_ref().map(|buf| buf.section().data()).transpose()? {
            Some(FeatureData::$variant($value)) => Ok(Some($converted)),
            _ => Ok(None),
        }
    }};
}

/// # Usual features
///
/// Each is `None` if the file has no such feature, or ends before it, so that a program reads the
/// records of a truncated file all the same; [`is_truncated`](Self::is_truncated) distinguishes the
/// two. [`feature`](Self::feature) has the others, such as the build ids of the mapped files
/// ([`FeatureData::BuildIds`]). Bytes of a text that are not UTF-8 become U+FFFD. The pipe form has
/// them after [`read_metadata`](Self::read_metadata). The errors are the other errors of
/// [`feature`](Self::feature), and of [`FeatureSection::data`](crate::FeatureSection::data) for a
/// malformed content.
impl<S: Source> Reader<S> {
    /// Returns the name of the host.
    pub fn hostname(&mut self) -> Result<Option<String>> {
        known!(self, HOSTNAME, Text(bytes) => text(bytes))
    }

    /// Returns the release of the kernel.
    pub fn os_release(&mut self) -> Result<Option<String>> {
        known!(self, OSRELEASE, Text(bytes) => text(bytes))
    }

    /// Returns the version of the tool that recorded the file.
    pub fn tool_version(&mut self) -> Result<Option<String>> {
        known!(self, VERSION, Text(bytes) => text(bytes))
    }

    /// Returns the architecture, as `uname -m` prints it.
    pub fn arch(&mut self) -> Result<Option<String>> {
        known!(self, ARCH, Text(bytes) => text(bytes))
    }

    /// Returns the name of the CPU's model.
    pub fn cpu_description(&mut self) -> Result<Option<String>> {
        known!(self, CPUDESC, Text(bytes) => text(bytes))
    }

    /// Returns the id of the CPU's model, in the architecture's own form.
    pub fn cpu_id(&mut self) -> Result<Option<String>> {
        known!(self, CPUID, Text(bytes) => text(bytes))
    }

    /// Returns the path of the tool that recorded the file, and its arguments.
    pub fn command_line(&mut self) -> Result<Option<Vec<String>>> {
        known!(self, CMDLINE, CommandLine(list) => list.iter().map(text).collect())
    }

    /// Returns the numbers of CPUs.
    pub fn cpu_count(&mut self) -> Result<Option<CpuCount>> {
        known!(self, NRCPUS, CpuCount(value) => value)
    }

    /// Returns the memory of the machine in kB.
    pub fn total_memory(&mut self) -> Result<Option<u64>> {
        known!(self, TOTAL_MEM, TotalMemory(value) => value)
    }

    /// Returns the times of the first and the last sample.
    pub fn sample_time(&mut self) -> Result<Option<SampleTime>> {
        known!(self, SAMPLE_TIME, SampleTime(value) => value)
    }

    /// Returns the time of the day at a time of the events' clock.
    pub fn clock_data(&mut self) -> Result<Option<ClockData>> {
        known!(self, CLOCK_DATA, ClockData(value) => value)
    }

    /// Returns the resolution of the events' clock in ns.
    pub fn clock_resolution(&mut self) -> Result<Option<u64>> {
        known!(self, CLOCKID, ClockResolution(value) => value)
    }

    /// Returns the compression of the records.
    pub fn compression(&mut self) -> Result<Option<Compression>> {
        known!(self, COMPRESSED, Compression(value) => value)
    }

    /// Returns the version of the directory's format.
    pub(super) fn directory_version(&mut self) -> Result<Option<u64>> {
        known!(self, DIR_FORMAT, DirectoryFormat(version) => version)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl<S: Source> Reader<S> {
    /// The most bytes that [`read_metadata`](Self::read_metadata) reads ahead.
    pub const MAX_METADATA: usize = 64 << 20;

    /// Reads the events, features and formats of tracepoints that precede the first record of the
    /// kernel in the pipe form, so that [`events`](Self::events), [`feature`](Self::feature) and
    /// the names of events are complete before the first record is taken. No record is consumed:
    /// [`next`](Self::next) returns all of them. Call it before `next`; later, and in the file
    /// form, whose events are known, it does nothing.
    ///
    /// The records are kept in memory until they are taken, at most
    /// [`MAX_METADATA`](Self::MAX_METADATA) bytes of them. What follows, as the build ids at the
    /// end of a pipe, is known when its record was read.
    ///
    /// ```
    /// use perf_file::Reader;
    ///
    /// # fn print(pipe: &[u8]) -> perf_file::Result<()> {
    /// let mut reader = Reader::from_pipe(pipe)?;
    /// reader.read_metadata()?;
    /// for event in reader.events().as_slice() {
    ///     println!("{}", event.name().unwrap_or_default().escape_ascii());
    /// }
    /// println!("recorded on {:?}", reader.hostname()?);
    /// # Ok(())
    /// # }
    /// # assert!(print(b"").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// [`Reason::Io`], and the error of a malformed attr, which `next` returns again at its record.
    /// A truncated record ends the metadata without an error here.
    pub fn read_metadata(&mut self) -> Result<()> {
        let start = RawPipeHeader::SIZE;
        if !self.head.is_pipe() || self.offset() != start || self.noticed > start {
            return Ok(());
        }
        let (order, mut at) = (self.head.order, 0_usize);
        while at <= Self::MAX_METADATA {
            let offset = start + at as u64;
            let io = |error| Error::new(offset, Reason::Io(error));
            // Filled from the first record each time. Consumes nothing, so that `next` returns all
            // records.
            let rest = self.source.fill(at + 8).map_err(io)?.get(at..).unwrap_or_default();
            let Some(header) = header(rest, order).filter(|header| is_metadata(*header)) else { break };
            if check_size(header, offset).is_err() {
                break;
            }
            let end = at + usize::from(header.size);
            let Some(record) = self.source.fill(end).map_err(io)?.get(at..end) else { break };
            self.context.learn(header, record, offset)?;
            // A record that is too short for its length ends the metadata here, and is an error of
            // `next`.
            let payload = payload_len(header.kind, record, order, offset).unwrap_or(u64::MAX);
            // The next step of the reader does not learn it again.
            self.noticed = start + end as u64;
            at = usize::try_from(payload).map_or(usize::MAX, |payload| end.saturating_add(payload));
            if header.kind == kind::HEADER_TRACING_DATA && at <= Self::MAX_METADATA {
                // The formats are the section of the file form, so that samples decode before the
                // first record is taken.
                let formats = self.source.fill(at).map_err(io)?.get(end..at).unwrap_or_default();
                let section = FeatureSection::new(Feature::TRACING_DATA, formats, order, start + end as u64);
                self.context.keep(&section);
            }
        }
        Ok(())
    }
}

/// Returns whether a record can precede the records of the kernel, and has no part of them.
fn is_metadata(header: Header) -> bool {
    let ends =
        [kind::FINISHED_ROUND, kind::AUXTRACE, kind::COMPRESSED, kind::COMPRESSED2, kind::FINISHED_INIT];
    header.kind.0 >= kind::FIRST.0 && !ends.contains(&header.kind)
}

impl Context {
    /// Uses a record of a tool that describes an event or the machine. Only a malformed event is an
    /// error: without it records cannot be decoded.
    pub(super) fn learn(&mut self, header: Header, record: &[u8], offset: u64) -> Result<()> {
        if !matches!(header.kind, kind::HEADER_ATTR | kind::HEADER_FEATURE | kind::EVENT_UPDATE) {
            return Ok(());
        }
        match UserRecord::parse(header, record, self.order, offset) {
            Ok(UserRecord::HeaderAttr(event)) => self.events.add(&event)?,
            Err(error) if header.kind == kind::HEADER_ATTR => return Err(error),
            Ok(UserRecord::HeaderFeature(section)) => {
                self.keep(&section);
                if section.feature == Feature::EVENT_DESC {
                    self.events.set_names(&section);
                }
            }
            Ok(UserRecord::EventUpdate(EventUpdate { id, update: Update::Name(name) })) => {
                self.events.set_name_of(id, name);
            }
            _ => {}
        }
        Ok(())
    }

    /// Keeps a feature of the pipe form. A later record replaces an earlier one.
    fn keep(&mut self, section: &FeatureSection<'_>) {
        // The mark after the last feature has the next number, which a newer tool uses for a
        // feature. Tools do not write other features without content. And a file has no features of
        // higher numbers.
        if section.bytes.is_empty() || section.feature.0 >= FeatureSet::BITS {
            return;
        }
        let (order, offset) = (section.order(), section.offset());
        let buf = FeatureBuf { feature: section.feature, bytes: section.bytes.to_vec(), order, offset };
        match self.features.iter_mut().find(|buf| buf.feature == section.feature) {
            Some(earlier) => *earlier = buf,
            None => self.features.push(buf),
        }
    }
}
