//! The order of attempts.

use perf_ring::sys::Error as SysError;
use perf_ring::{Attr, AttrFlags, Errno, Error};

use super::{AttrFallback, DroppedFeature, FallbackError, Opened, Step, steps};
use crate::why::{EXCLUDES, Field};

/// The attempts so far, and the event of the last attempt if it was opened.
struct Search<T, F> {
    open: F,
    /// The event of the last attempt.
    held: Option<(Attr, T)>,
    attempts: usize,
}

impl<T, F: FnMut(&Attr) -> Result<T, Error>> Search<T, F> {
    fn call(&mut self, attr: &Attr) -> Result<T, Error> {
        self.attempts += 1;
        (self.open)(attr)
    }

    /// Opens `attr`, after the event of the last attempt was closed: two of them may not fit.
    fn attempt(&mut self, attr: &Attr) -> Result<(), Error> {
        self.held = None;
        let value = self.call(attr)?;
        self.held = Some((*attr, value));
        Ok(())
    }

    fn failed<R>(&self, error: Error, attr: Attr, missing: Vec<Field>) -> Result<R, FallbackError> {
        Err(FallbackError { error, attr: Box::new(attr), missing, attempts: self.attempts })
    }

    /// Returns the event of `attr`, which is opened again unless it was the last attempt.
    fn finish(mut self, asked: &Attr, attr: Attr) -> Result<Opened<T>, FallbackError> {
        let value = match self.held.take() {
            Some((held, value)) if held == attr => Ok(value),
            other => {
                drop(other);
                self.call(&attr)
            }
        };
        match value {
            Ok(value) => {
                let dropped = DroppedFeature::between(asked, &attr);
                Ok(Opened { value, attr, dropped, attempts: self.attempts })
            }
            Err(error) => self.failed(error, attr, Vec::new()),
        }
    }
}

pub(super) fn search<T>(
    fallback: &AttrFallback,
    open: impl FnMut(&Attr) -> Result<T, Error>,
) -> Result<Opened<T>, FallbackError> {
    let asked = fallback.attr;
    let mut search = Search { open, held: None, attempts: 0 };
    let mut first = match search.attempt(&asked) {
        Ok(()) => return search.finish(&asked, asked),
        Err(error) => error,
    };
    if fallback.all_or_nothing {
        return search.failed(first, asked, Vec::new());
    }
    let mut base = asked;
    if let Error::Sys(SysError::AttrSize { kernel, .. }) = first {
        base = match truncated(&asked, kernel, fallback) {
            Ok(base) => base,
            Err(missing) => return search.failed(first, asked, missing),
        };
        first = match search.attempt(&base) {
            Ok(()) => return search.finish(&asked, base),
            Err(error) => error,
        };
    }
    if !is_about_the_attr(&first) {
        return search.failed(first, base, Vec::new());
    }
    let mut taken = Vec::new();
    let mut attr = base;
    for step in steps(fallback) {
        let less = step.apply(attr);
        if less == attr {
            continue;
        }
        attr = less;
        taken.push(step);
        match search.attempt(&attr) {
            Ok(()) => {
                let attr = restore(&mut search, &base, taken);
                return search.finish(&asked, attr);
            }
            Err(error) if is_about_the_attr(&error) => {}
            // Without the exclude flags an event may need a permission that the attr did not ask
            // for.
            Err(_) if is_exclude(step) => break,
            Err(error) => return search.failed(error, attr, Vec::new()),
        }
    }
    search.failed(first, base, Vec::new())
}

/// Tries each step without which the attr may open too, the oldest first, and returns the attr
/// after those that are needed. The last one is: without it the attr was refused.
fn restore<T>(
    search: &mut Search<T, impl FnMut(&Attr) -> Result<T, Error>>,
    base: &Attr,
    mut needed: Vec<Step>,
) -> Attr {
    let mut attr = apply(base, &needed);
    for at in (0..needed.len().saturating_sub(1)).rev() {
        let mut fewer = needed.clone();
        fewer.remove(at);
        let more = apply(base, &fewer);
        if more == attr || search.attempt(&more).is_ok() {
            (attr, needed) = (more, fewer);
        }
    }
    attr
}

fn apply(base: &Attr, steps: &[Step]) -> Attr {
    steps.iter().fold(*base, |attr, step| step.apply(attr))
}

/// Returns the attr without the fields after `kernel` bytes, or those fields that the event needs.
fn truncated(asked: &Attr, kernel: u32, fallback: &AttrFallback) -> Result<Attr, Vec<Field>> {
    let (mut attr, mut missing) = (*asked, Vec::new());
    for field in Field::beyond(asked, kernel) {
        let before = attr;
        let is_optional = field.clear(&mut attr);
        if !is_optional || !fallback.permits(&before, &attr) {
            missing.push(field);
        }
    }
    // No kernel has less than the first published length, and an attr that fits is not too long.
    if kernel < Attr::SIZE_VER0 || kernel >= asked.size || !missing.is_empty() {
        return Err(missing);
    }
    attr.size = kernel;
    Ok(attr)
}

impl AttrFallback {
    /// Returns whether nothing that is kept is in `before` and not in `after`.
    fn permits(&self, before: &Attr, after: &Attr) -> bool {
        let clock_is_kept = before.flags.contains(AttrFlags::USE_CLOCKID)
            && !after.flags.contains(AttrFlags::USE_CLOCKID)
            && self.keeps_clock;
        let lost = before.sample_type - after.sample_type;
        let signals = before.flags.contains(AttrFlags::SIGTRAP) && before.sig_data != after.sig_data;
        !clock_is_kept && !signals && (lost & self.keep.sample_type).is_empty()
    }
}

/// Returns whether an error is of an attr that the kernel or the PMU does not accept.
fn is_about_the_attr(error: &Error) -> bool {
    matches!(error.errno(), Some(Errno::EINVAL | Errno::EOPNOTSUPP))
}

fn is_exclude(step: Step) -> bool {
    matches!(step, Step::Flags(flags) if EXCLUDES.contains(&flags))
}
