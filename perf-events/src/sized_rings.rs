use std::fmt;
use std::sync::Arc;

use perf_sys::{Errno, Error, Event, MapError, Ring};

/// Rings of one size, which may be smaller than the requested one.
#[derive(Debug)]
pub struct SizedRings {
    /// The rings, in the order of the events.
    pub rings: Vec<Ring>,
    /// The data pages of each ring that were requested.
    pub asked: usize,
    /// The data pages of each ring.
    pub data_pages: usize,
    /// The error of the next larger size; `None` if that was not tried.
    pub reason: Option<Error>,
}

impl fmt::Display for SizedRings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rings of {} data pages", self.rings.len(), self.data_pages)?;
        match &self.reason {
            Some(reason) => write!(f, " ({} requested: {reason})", self.asked),
            None => Ok(()),
        }
    }
}

/// The error of [`map_largest`], with the events.
#[derive(Debug)]
pub struct SizedRingsError {
    /// The reason.
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

/// Maps a ring of `most` data pages for each event, or of the largest half, quarter and so on, at least
/// `least` pages, that the limits of memory permit for all of them.
///
/// ```
/// use perf_events::map_largest;
/// use perf_events::sys::{Attr, Event, Software, Target};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let Ok(event) = Event::open(&Attr::software(Software::DUMMY), Target::calling_thread()) else {
/// #     return Ok(());
/// # };
/// let mapped = map_largest([event], 512, 4)?;
/// println!("{mapped}"); // 1 rings of 512 data pages
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The error of the smallest size if that is a limit of memory, any other one at once. No ring is mapped
/// then.
pub fn map_largest<E: Into<Arc<Event>>>(
    events: impl IntoIterator<Item = E>,
    most: usize,
    least: usize,
) -> Result<SizedRings, SizedRingsError> {
    let mut events: Vec<Arc<Event>> = events.into_iter().map(Into::into).collect();
    let (mut data_pages, mut reason) = (most, None);
    loop {
        let failed = match map_all(events, data_pages) {
            Ok(rings) => return Ok(SizedRings { rings, asked: most, data_pages, reason }),
            Err(failed) => failed,
        };
        let smaller = data_pages / 2;
        if !is_limit(&failed.error) || smaller < least.max(1) {
            return Err(failed);
        }
        (events, data_pages, reason) = (failed.events, smaller, Some(failed.error));
    }
}

/// Maps all rings, or none.
fn map_all(events: Vec<Arc<Event>>, data_pages: usize) -> Result<Vec<Ring>, SizedRingsError> {
    let mut rings = Vec::with_capacity(events.len());
    for event in &events {
        match Ring::map(Arc::clone(event), data_pages) {
            Ok(ring) => rings.push(ring),
            Err(MapError { error, .. }) => {
                let index = rings.len();
                drop(rings); // before the events are mapped again
                return Err(SizedRingsError { error, data_pages, index, events });
            }
        }
    }
    Ok(rings)
}

/// Returns whether a smaller ring may be mapped where this one was not.
fn is_limit(error: &Error) -> bool {
    matches!(error.errno(), Some(Errno::EPERM | Errno::EAGAIN | Errno::ENOMEM))
}
