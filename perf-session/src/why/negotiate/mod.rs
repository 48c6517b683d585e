//! Stepping an attr down to what the kernel and the PMU accept.

use std::fmt;

use perf_sys::{Attr, AttrFlags, BranchSampleType, Error, ReadFormat, SampleType};

mod concession;
mod field;
mod search;
mod since;
mod step;
#[cfg(test)]
mod tests;

pub use concession::Concession;
pub use field::AttrField;
pub use since::Since;
pub(crate) use step::{Step, steps};

/// Opens an event with as much of the attr as the kernel and the PMU accept.
///
/// As [`Negotiation::open`] without anything to keep.
///
/// ```no_run
/// use perf_session::negotiate;
/// use perf_session::sys::{Attr, AttrFlags, Event, Software, Target};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let attr = Attr::software(Software::DUMMY).with_flags(AttrFlags::COMM | AttrFlags::BUILD_ID);
/// let opened = negotiate(&attr, |attr| Event::open(attr, Target::calling_thread()))?;
/// for concession in &opened.concessions {
///     println!("{concession}");
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Those of [`Negotiation::open`].
pub fn negotiate<T>(
    attr: &Attr,
    open: impl FnMut(&Attr) -> Result<T, Error>,
) -> Result<Negotiated<T>, NegotiateError> {
    Negotiation::new(attr).open(open)
}

/// An attr that is stepped down until it opens, and the parts of it that must be kept.
///
/// Never given up: the event itself (its type and config words), its period, its scope in tasks, and flags
/// without which the program would do something else (`INHERIT`, `SIGTRAP`, `REMOVE_ON_EXEC`,
/// `WRITE_BACKWARD`, `AUX_OUTPUT`, `aux_action`).
#[derive(Clone, Debug)]
pub struct Negotiation {
    attr: Attr,
    /// The bits that are kept, in the fields of an otherwise unused attr.
    keep: Attr,
    keeps_clock: bool,
    keeps_precise_ip: bool,
    all_or_nothing: bool,
}

impl Negotiation {
    /// Returns the negotiation of an attr of which every newer part may be given up.
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

    /// Keeps all of the attr: it is tried once.
    #[must_use]
    pub fn all_or_nothing(mut self) -> Self {
        self.all_or_nothing = true;
        self
    }

    /// Calls `open` with the attr, and after `EINVAL`, `EOPNOTSUPP` or `E2BIG` with less of it, until it
    /// succeeds.
    ///
    /// The newest parts are given up first. Then each part is tried again, so that only those are missing
    /// that the kernel or the PMU does not accept. The order is fixed. At most one event is open at a time,
    /// and `open` is called at most [`max_attempts`](Self::max_attempts) times.
    ///
    /// Any other errno ends the negotiation: a missing permission or descriptor is not a reason to give up a
    /// part of the attr.
    ///
    /// # Errors
    ///
    /// [`NegotiateError`] with the error of the attempt that ended it. If nothing that may be given up
    /// helps, that is the error of the whole attr.
    pub fn open<T>(
        &self,
        open: impl FnMut(&Attr) -> Result<T, Error>,
    ) -> Result<Negotiated<T>, NegotiateError> {
        search::search(self, open)
    }

    /// Returns the largest number of calls that [`open`](Self::open) makes: twice the parts that may be
    /// given up, and three.
    pub fn max_attempts(&self) -> usize {
        if self.all_or_nothing { 1 } else { 2 * steps(self).len() + 3 }
    }
}

/// An open event, the attr with which it was opened, and what was given up.
#[derive(Clone, Debug)]
pub struct Negotiated<T> {
    /// The result of the successful call.
    pub value: T,
    /// The attr of that call, with the size of the kernel's struct if that is smaller.
    pub attr: Attr,
    /// The parts that were given up; empty if the whole attr was accepted.
    pub concessions: Vec<Concession>,
    /// The number of calls.
    pub attempts: usize,
}

/// The error that ended a negotiation.
#[derive(Clone, PartialEq, Eq)]
pub struct NegotiateError {
    /// The error of the call.
    pub error: Error,
    /// The attr of that call.
    pub attr: Box<Attr>,
    /// Parts that the kernel does not have and that are never given up.
    pub missing: Vec<AttrField>,
    /// The number of calls.
    pub attempts: usize,
}

impl fmt::Display for NegotiateError {
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

impl NegotiateError {
    /// Returns the number of the errno if a system call failed.
    pub const fn raw_os_error(&self) -> Option<i32> {
        self.error.raw_os_error()
    }
}

impl std::error::Error for NegotiateError {}

crate::std_error::into_std!(NegotiateError, InvalidInput);

impl From<NegotiateError> for Error {
    fn from(error: NegotiateError) -> Self {
        error.error
    }
}
