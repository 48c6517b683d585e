//! Events and features of the pipe form, before its records.

use perf_abi::Header;

use super::record::Context;
use super::{Reader, Source, feature};
use crate::bytes::Bytes;
use crate::format::{RawPipeHeader, record_type as kind};
use crate::frame::{check_size, header, payload_len};
use crate::record::Update;
use crate::{Error, FileAttr, Reason, Result, UserRecord};

impl<S: Source> Reader<S> {
    /// The most bytes that [`read_metadata`](Self::read_metadata) reads ahead.
    pub const MAX_METADATA: usize = 64 << 20;

    /// Reads the events and features that precede the first record of the kernel in the pipe form, so that
    /// [`events`](Self::events), [`feature`](Self::feature) and the names of events are complete before the first
    /// record is taken. No record is consumed: [`next`](Self::next) returns all of them. Call it before `next`; later,
    /// and in the file form, whose events are known, it does nothing.
    ///
    /// The records are kept in memory until they are taken, at most
    /// [`MAX_METADATA`](Self::MAX_METADATA) bytes of them. What follows, as the build ids at the end of a pipe,
    /// is known when its record was read.
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
    /// [`Reason::Io`], and the error of a malformed attr, which `next` returns again at its record. A truncated
    /// record ends the metadata without an error here.
    pub fn read_metadata(&mut self) -> Result<()> {
        let start = RawPipeHeader::SIZE;
        if !self.head.is_pipe() || self.offset() != start || self.noticed > start {
            return Ok(());
        }
        let (order, mut at) = (self.head.order, 0_usize);
        while at <= Self::MAX_METADATA {
            let offset = start + at as u64;
            let io = |error| Error::new(offset, Reason::Io(error));
            let rest = self.source.fill(at + 8).map_err(io)?.get(at..).unwrap_or_default();
            let Some(header) = header(rest, order).filter(|header| is_metadata(*header)) else { break };
            if check_size(header, offset).is_err() {
                break;
            }
            let end = at + usize::from(header.size);
            let Some(record) = self.source.fill(end).map_err(io)?.get(at..end) else { break };
            self.context.learn(header, record, offset)?;
            let payload = payload_len(header.kind, record, order, offset).unwrap_or(u64::MAX);
            // The next step of the reader does not learn it again.
            self.noticed = start + end as u64;
            at = usize::try_from(payload).map_or(usize::MAX, |payload| end.saturating_add(payload));
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
    /// Uses a record of a tool that describes an event or the machine. Only a malformed event is an error:
    /// without it records cannot be decoded.
    pub(super) fn learn(&mut self, header: Header, record: &[u8], offset: u64) -> Result<()> {
        match header.kind {
            kind::HEADER_ATTR => {
                let mut body = Bytes::new(record, self.order, offset);
                body.take(8, "header")?;
                self.events.add(&FileAttr::read(body)?)?;
            }
            kind::HEADER_FEATURE | kind::EVENT_UPDATE => {
                match UserRecord::parse(header, record, self.order, offset) {
                    Ok(UserRecord::HeaderFeature(section)) => {
                        feature::keep(&mut self.features, &section);
                        if section.feature == crate::format::Feature::EVENT_DESC {
                            self.events.set_names(&section);
                        }
                    }
                    Ok(UserRecord::EventUpdate(update)) => {
                        if let Update::Name(name) = update.update {
                            self.events.set_name_of(update.id, name);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }
}
