//! Accessors that all records share: header, trailer, time and size.

use perf_abi::{Header, Misc, RecordType};

use super::Record;
use crate::layout::Layout;
use crate::sample_id::SampleId;
use crate::schema::Body;

impl<'a, L: Layout> Record<'a, L> {
    /// Returns the header of the record.
    #[inline]
    pub fn header(&self) -> Header {
        match self {
            Self::Sample(sample) => Header::from_word(sample.words().first().copied().unwrap_or(0)),
            Self::Unknown(raw) => raw.header(),
            other => other.side_band().map_or_else(Header::default, |view| view.header()),
        }
    }

    /// Returns the kind of the record.
    #[inline]
    pub fn kind(&self) -> RecordType {
        self.header().kind
    }

    /// Returns the header's `misc` bits; their meaning depends on the kind.
    #[inline]
    pub fn misc(&self) -> Misc {
        self.header().misc
    }

    /// Returns the length of the record in bytes, with its header.
    #[inline]
    pub fn size(&self) -> usize {
        usize::from(self.header().size)
    }

    /// Returns when the record was written, in ns of the event's clock.
    ///
    /// It is the time in a sample's head or in the trailer, or else the one in the body, which
    /// FORK, EXIT, THROTTLE and UNTHROTTLE have. `None` if the event does not record the time.
    #[inline]
    pub fn time(&self) -> Option<u64> {
        if let Self::Sample(sample) = self {
            return sample.time();
        }
        match self.side_band()?.sample_id().time() {
            None => self.time_in_body(),
            time => time,
        }
    }

    /// Returns the trailer: the event that wrote the record, the time, the task and the CPU. `None`
    /// for a sample, which has these fields itself, and for a record of unknown kind.
    #[inline]
    pub fn sample_id(&self) -> Option<SampleId<'a, L>> {
        self.side_band().map(|view| view.sample_id())
    }

    /// Returns the number of bytes that no field and no trailer claims: 0 for nearly all records.
    ///
    /// These bytes are fields of a newer kernel, or the kernel made the record longer than its
    /// content. For samples see [`Sample::trailing`](crate::Sample::trailing).
    pub fn trailing_len(&self) -> usize {
        match self {
            Self::Sample(sample) => sample.trailing().len(),
            other => match other.side_band().zip(Body::of(other.kind())) {
                Some((view, body)) => view.trailing_len(body),
                None => 0,
            },
        }
    }

    /// Returns the name of the last field of a sample if the kernel has truncated it, as
    /// [`Sample::truncated_field`](crate::Sample::truncated_field): `None` for nearly all records.
    pub fn truncated_field(&self) -> Option<&'static str> {
        match self {
            Self::Sample(sample) => sample.truncated_field(),
            _ => None,
        }
    }
}
