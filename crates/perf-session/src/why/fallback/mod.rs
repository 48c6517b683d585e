//! Dropping the features of an attr that the kernel or the PMU does not accept.

use std::fmt;

use perf_ring::{Attr, AttrFlags, BranchSampleType, Error, ReadFormat, SampleType};

use crate::why::Field;

mod dropped;
mod search;
mod step;
#[cfg(test)]
mod tests;

pub use dropped::DroppedFeature;
pub(super) use step::{Step, steps};

/// An attr whose features are dropped until the event opens, and the features that must be kept.
///
/// ```no_run
/// use perf_session::AttrFallback;
/// use perf_session::ring::{Attr, AttrFlags, Event, Software, Target};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let attr = Attr::software(Software::DUMMY).with_flags(AttrFlags::COMM | AttrFlags::BUILD_ID);
/// let opened = AttrFallback::new(&attr).open(|attr| Event::open(attr, Target::calling_thread()))?;
/// for feature in &opened.dropped {
///     println!("{feature}"); // flag BUILD_ID given up (since Linux 5.12)
/// }
/// # Ok(())
/// # }
/// ```
///
/// Never dropped: the event itself (its type and config words), its period, its scope in tasks, and
/// flags without which the program would do something else (`INHERIT`, `SIGTRAP`, `REMOVE_ON_EXEC`,
/// `WRITE_BACKWARD`, `AUX_OUTPUT`, `aux_action`).
#[derive(Clone, Debug)]
pub struct AttrFallback {
    attr: Attr,
    /// The bits that are kept, in the fields of an otherwise unused attr.
    keep: Attr,
    keeps_clock: bool,
    keeps_precise_ip: bool,
    all_or_nothing: bool,
}

impl AttrFallback {
    /// Creates a fallback that may drop every newer feature of the attr.
    pub fn new(attr: &Attr) -> Self {
        Self {
            attr: *attr,
            keep: Attr::default(),
            keeps_clock: false,
            keeps_precise_ip: false,
            all_or_nothing: false,
        }
    }

    /// Keeps these flags.
    #[must_use]
    pub fn keep_flags(mut self, flags: AttrFlags) -> Self {
        self.keep.flags |= flags;
        self
    }

    /// Keeps these fields of samples.
    #[must_use]
    pub fn keep_sample_type(mut self, fields: SampleType) -> Self {
        self.keep.sample_type |= fields;
        self
    }

    /// Keeps these words of counts.
    #[must_use]
    pub fn keep_read_format(mut self, words: ReadFormat) -> Self {
        self.keep.read_format |= words;
        self
    }

    /// Keeps these branch bits.
    #[must_use]
    pub fn keep_branches(mut self, bits: BranchSampleType) -> Self {
        self.keep.branch_sample_type |= bits;
        self
    }

    /// Keeps the clock.
    #[must_use]
    pub fn keep_clock(mut self) -> Self {
        self.keeps_clock = true;
        self
    }

    /// Keeps the level of `precise_ip`.
    #[must_use]
    pub fn keep_precise_ip(mut self) -> Self {
        self.keeps_precise_ip = true;
        self
    }

    /// Keeps the whole attr, which is tried once.
    #[must_use]
    pub fn all_or_nothing(mut self) -> Self {
        self.all_or_nothing = true;
        self
    }

    /// Calls `open` with the attr, and after `EINVAL`, `EOPNOTSUPP` or `E2BIG` with less of it,
    /// until it succeeds.
    ///
    /// The newest features are dropped first. Then each is tried again, so that only those stay
    /// dropped that the kernel or the PMU does not accept. The order is fixed. At most one event is
    /// open at a time, and `open` is called at most [`max_attempts`](Self::max_attempts) times.
    ///
    /// Any other errno ends the search: a missing permission or descriptor is not a reason to drop
    /// a feature of the attr.
    ///
    /// # Errors
    ///
    /// [`FallbackError`] with the error of the attempt that ended the search, or of the whole attr
    /// if dropping features does not help.
    pub fn open<T, E: Into<Error>>(
        &self,
        mut open: impl FnMut(&Attr) -> Result<T, E>,
    ) -> Result<Opened<T>, FallbackError> {
        search::search(self, |attr: &Attr| open(attr).map_err(E::into))
    }

    /// Returns the largest number of calls that [`open`](Self::open) makes: twice the features that
    /// may be dropped, and three.
    pub fn max_attempts(&self) -> usize {
        if self.all_or_nothing { 1 } else { 2 * steps(self).len() + 3 }
    }
}

/// An open event, the attr with which it was opened, and what was dropped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Opened<T> {
    /// The result of the successful call.
    pub value: T,
    /// The attr of that call, with the size of the kernel's struct if that is smaller.
    pub attr: Attr,
    /// The features that were dropped; empty if the whole attr was accepted.
    pub dropped: Vec<DroppedFeature>,
    /// The number of calls.
    pub attempts: usize,
}

/// The error that ended the search for an attr that opens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FallbackError {
    /// The error of the call.
    pub error: Error,
    /// The attr of that call.
    pub attr: Box<Attr>,
    /// Fields that the kernel does not have and that are never dropped.
    pub missing: Vec<Field>,
    /// The number of calls.
    pub attempts: usize,
}

impl fmt::Display for FallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)?;
        if !self.missing.is_empty() {
            let names: Vec<_> = self.missing.iter().map(|field| field.name()).collect();
            write!(f, "; this kernel lacks {}, which cannot be given up", names.join(", "))?;
        }
        if self.attempts > 1 {
            write!(f, " ({} attempts)", self.attempts)?;
        }
        Ok(())
    }
}

impl FallbackError {
    /// Returns the number of the errno if a system call failed.
    pub const fn raw_os_error(&self) -> Option<i32> {
        self.error.raw_os_error()
    }
}

impl std::error::Error for FallbackError {}

crate::std_error::into_std!(FallbackError, InvalidInput);

impl From<FallbackError> for Error {
    fn from(error: FallbackError) -> Self {
        error.error
    }
}
