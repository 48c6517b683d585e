use core::fmt;

use crate::hint::hint;
use crate::{Call, Errno};

mod invalid;
mod opening;
mod other;
#[cfg(test)]
mod tests;

pub(crate) use opening::Opening;

/// Usual causes of a failed `perf_event_open`, chosen by its errno, attr, target and group.
///
/// An attr that breaks a rule of every kernel has only the causes that name these rules. Otherwise
/// the causes are possible ones, and the kernel's settings and hardware decide between them.
///
/// ```no_run
/// # fn main() -> perf_sys::Result<()> {
/// use perf_abi::{Attr, SampleType, Software};
/// use perf_sys::{Error, Event, Target};
///
/// let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::REGS_USER);
/// if let Err(Error::Open { causes, .. }) = Event::open(&attr, Target::calling_thread()) {
///     for cause in causes.iter() {
///         println!("{cause}"); // REGS_USER without registers: set sample_regs_user
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Causes {
    errno: Errno,
    /// Bit n is row n of [`invalid::BROKEN`].
    broken: u32,
    /// Bit n is row n of the table of possible causes of `errno`.
    possible: u32,
}

/// A cause, and the calls that can have it.
pub(crate) struct Rule {
    applies: fn(&Opening<'_>) -> bool,
    text: &'static str,
}

const fn rule(applies: fn(&Opening<'_>) -> bool, text: &'static str) -> Rule {
    Rule { applies, text }
}

/// Tables of possible causes, one for each errno.
const POSSIBLE: &[(Errno, &[Rule])] = &[
    (Errno::EINVAL, invalid::POSSIBLE),
    (Errno::EACCES, other::EACCES),
    (Errno::EPERM, other::EPERM),
    (Errno::ENOENT, other::ENOENT),
    (Errno::EOPNOTSUPP, other::EOPNOTSUPP),
    (Errno::ENODEV, other::ENODEV),
    (Errno::EBADF, other::EBADF),
    (Errno::E2BIG, other::E2BIG),
    (Errno::ENOSYS, other::ENOSYS),
];

impl Causes {
    pub(crate) fn new(opening: &Opening<'_>, errno: Errno) -> Self {
        let broken = if errno == Errno::EINVAL { select(invalid::BROKEN, opening) } else { 0 };
        let possible = if broken == 0 { select(possible(errno), opening) } else { 0 };
        Self { errno, broken, possible }
    }

    /// Returns the causes, most likely first.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        let general = if self.broken == 0 { hint(Call::PerfEventOpen, self.errno) } else { None };
        selected(invalid::BROKEN, self.broken)
            .chain(selected(possible(self.errno), self.possible))
            .chain(general)
    }
}

/// The list of the causes, because a `main` that returns an error prints `Debug`.
impl fmt::Debug for Causes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The causes, separated by `; or `.
impl fmt::Display for Causes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for cause in self.iter() {
            write!(f, "{separator}{cause}")?;
            separator = "; or ";
        }
        Ok(())
    }
}

fn possible(errno: Errno) -> &'static [Rule] {
    POSSIBLE.iter().find(|(of, _)| *of == errno).map_or(&[], |(_, rules)| rules)
}

fn select(rules: &[Rule], opening: &Opening<'_>) -> u32 {
    let bits = rules.iter().zip(0..u32::BITS).map(|(rule, bit)| u32::from((rule.applies)(opening)) << bit);
    bits.sum()
}

fn selected(rules: &'static [Rule], mask: u32) -> impl Iterator<Item = &'static str> {
    rules.iter().zip(0..u32::BITS).filter(move |(_, bit)| mask >> bit & 1 == 1).map(|(rule, _)| rule.text)
}
