//! Mapping rings of the largest size that the limits permit.

use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use perf_ring::{Errno, Error, Event, Ring, SnapshotRing};

/// The size of rings that were mapped together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RingSize {
    /// The data pages of each ring.
    pub data_pages: usize,
    /// The data pages that were requested.
    pub asked: usize,
    /// The error of the next larger size, if smaller rings than the requested ones were mapped.
    pub reason: Option<Error>,
}

/// Rings of one size, which may be smaller than the requested one.
#[derive(Debug)]
#[non_exhaustive]
pub struct MappedRings {
    /// The rings, in the order of the events.
    pub rings: Vec<Ring>,
    /// Their size.
    pub size: RingSize,
}

impl fmt::Display for MappedRings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RingSize { data_pages, asked, reason } = &self.size;
        write!(f, "{} rings of {data_pages} data pages", self.rings.len())?;
        match reason {
            Some(reason) => write!(f, " ({asked} requested: {reason})"),
            None => Ok(()),
        }
    }
}

/// The error of [`map_largest`], with the events.
#[derive(Debug)]
#[non_exhaustive]
pub struct SizedRingsError {
    /// The error of the call.
    pub error: Error,
    /// The data pages that were tried last.
    pub data_pages: usize,
    /// The index of the event whose ring was not mapped.
    pub index: usize,
    /// The events, still without rings.
    pub events: Vec<Arc<Event>>,
}

impl fmt::Display for SizedRingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (index, count, pages) = (self.index + 1, self.events.len(), self.data_pages);
        write!(f, "ring {index} of {count}, {pages} data pages: {}", self.error)
    }
}

impl std::error::Error for SizedRingsError {}

impl From<SizedRingsError> for Error {
    fn from(error: SizedRingsError) -> Self {
        error.error
    }
}

/// Keeps the kind of the errno and the whole text; the [`perf_ring::Error`] is inside. The events
/// are dropped.
impl From<SizedRingsError> for io::Error {
    fn from(error: SizedRingsError) -> Self {
        let kind = Self::from(error.error).kind();
        Self::new(kind, error)
    }
}

/// Maps a ring for each event, all of one size: the end of `data_pages` is tried first, then its
/// half, quarter and so on down to the start, until the limits of locked memory permit all of them.
///
/// ```
/// use perf_session::map_largest;
/// use perf_session::ring::{Attr, Event, Software, Target};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let Ok(event) = Event::open(&Attr::software(Software::DUMMY), Target::calling_thread()) else {
/// #     return Ok(());
/// # };
/// let mapped = map_largest([event], 4..=512)?;
/// println!("{mapped}"); // 1 rings of 512 data pages
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The error of the smallest size if the limits of memory do not permit it, and any other error of
/// a call at once. The events are in the error, without rings.
pub fn map_largest<E: Into<Arc<Event>>>(
    events: impl IntoIterator<Item = E>,
    data_pages: RangeInclusive<usize>,
) -> Result<MappedRings, SizedRingsError> {
    let events: Vec<Arc<Event>> = events.into_iter().map(Into::into).collect();
    match largest(data_pages, |data_pages| map_all(&events, data_pages)) {
        Ok((rings, size)) => Ok(MappedRings { rings, size }),
        Err((error, data_pages, index)) => Err(SizedRingsError { error, data_pages, index, events }),
    }
}

/// Maps a ring for one event, in the size that [`map_largest`] finds.
///
/// ```no_run
/// use perf_session::map_largest_ring;
/// use perf_session::ring::{Attr, Event, Software, Target};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let event = Event::open(&Attr::software(Software::CPU_CLOCK), Target::calling_thread())?;
/// let ring = map_largest_ring(event, 4..=512)?;
/// println!("{} bytes", ring.data_size());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The error of the smallest size, or an error that no smaller ring avoids. The event is in the
/// error.
pub fn map_largest_ring(
    event: impl Into<Arc<Event>>,
    data_pages: RangeInclusive<usize>,
) -> Result<Ring, SizedRingsError> {
    let event = event.into();
    let map = |data_pages| Ring::map(Arc::clone(&event), data_pages).map_err(|refused| (refused.error, 0));
    match largest(data_pages, map) {
        Ok((ring, _)) => Ok(ring),
        Err((error, data_pages, index)) => {
            Err(SizedRingsError { error, data_pages, index, events: vec![event] })
        }
    }
}

/// Maps a ring that is overwritten for each event, in the size that [`map_largest`] finds. The
/// error has the data pages that were tried last, and the index of the event.
pub(super) fn map_largest_snapshots(
    events: &[Arc<Event>],
    data_pages: RangeInclusive<usize>,
) -> Result<(Vec<SnapshotRing>, RingSize), (Error, usize, usize)> {
    largest(data_pages, |data_pages| {
        let map = |(index, event): (usize, &Arc<Event>)| {
            SnapshotRing::map(Arc::clone(event), data_pages).map_err(|refused| (refused.error, index))
        };
        events.iter().enumerate().map(map).collect()
    })
}

/// Maps all rings, or none: the error has the index of the event.
fn map_all(events: &[Arc<Event>], data_pages: usize) -> Result<Vec<Ring>, (Error, usize)> {
    // After an error the rings are dropped, so that the events can be mapped again.
    let map = |(index, event): (usize, &Arc<Event>)| {
        Ring::map(Arc::clone(event), data_pages).map_err(|refused| (refused.error, index))
    };
    events.iter().enumerate().map(map).collect()
}

/// Calls `map` with the end of `data_pages`, then its half and so on. Returns its result and the
/// size; or the error of the last size, that size, and the index of the event.
fn largest<T>(
    data_pages: RangeInclusive<usize>,
    map: impl Fn(usize) -> Result<T, (Error, usize)>,
) -> Result<(T, RingSize), (Error, usize, usize)> {
    let (least, asked) = data_pages.into_inner();
    let (mut data_pages, mut reason) = (asked, None);
    loop {
        let (error, index) = match map(data_pages) {
            Ok(mapped) => return Ok((mapped, RingSize { data_pages, asked, reason })),
            Err(failed) => failed,
        };
        let Some(smaller) = smaller(&error, data_pages, least) else {
            return Err((error, data_pages, index));
        };
        (data_pages, reason) = (smaller, Some(error));
    }
}

/// Returns the next size to try, or `None` if a smaller ring would fail too.
fn smaller(error: &Error, data_pages: usize, least: usize) -> Option<usize> {
    let is_limit = matches!(error.errno(), Some(Errno::EPERM | Errno::EAGAIN | Errno::ENOMEM));
    Some(data_pages / 2).filter(|&smaller| is_limit && smaller >= least.max(1))
}
