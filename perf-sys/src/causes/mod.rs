use core::fmt;

use perf_abi::{Attr, OpenFlags};

use crate::error::hint;
use crate::{Call, Errno, Target};

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
        let broken = if errno == Errno::EINVAL { select(broken_rules(), opening) } else { 0 };
        let possible = if broken == 0 { select(possible(errno).iter(), opening) } else { 0 };
        Self { errno, broken, possible }
    }

    /// Returns the rules of every kernel that these arguments break, without a system call: the kernel
    /// would return `EINVAL`. Each has the name of a field of the attr.
    ///
    /// `is_sibling` is set if the event joins a group.
    ///
    /// ```
    /// use perf_sys::{Attr, AttrFlags, Causes, Software, Target};
    ///
    /// let attr = Attr::software(Software::DUMMY).with_flags(AttrFlags::SIGTRAP);
    /// let broken: Vec<_> = Causes::broken_rules(&attr, Target::calling_thread(), false).collect();
    /// assert_eq!(broken, [("flags", "SIGTRAP needs REMOVE_ON_EXEC")]);
    /// ```
    pub fn broken_rules(
        attr: &Attr,
        target: Target<'_>,
        is_sibling: bool,
    ) -> impl Iterator<Item = (&'static str, &'static str)> {
        let opening = Opening { attr, target, is_sibling, flags: OpenFlags::empty() };
        let mask = select(broken_rules(), &opening);
        let fields = invalid::BROKEN.iter().map(|broken| broken.field);
        selected_of(fields.zip(broken_rules()), mask).map(|(field, rule)| (field, rule.text))
    }

    /// Returns the causes, most likely first.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        let general = if self.broken == 0 { hint(Call::PerfEventOpen, self.errno) } else { None };
        selected(broken_rules(), self.broken)
            .chain(selected(possible(self.errno).iter(), self.possible))
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

fn broken_rules() -> impl Iterator<Item = &'static Rule> {
    invalid::BROKEN.iter().map(|broken| &broken.rule)
}

fn select(rules: impl Iterator<Item = &'static Rule>, opening: &Opening<'_>) -> u32 {
    let bits = rules.zip(0..u32::BITS).map(|(rule, bit)| u32::from((rule.applies)(opening)) << bit);
    bits.sum()
}

fn selected(rules: impl Iterator<Item = &'static Rule>, mask: u32) -> impl Iterator<Item = &'static str> {
    selected_of(rules, mask).map(|rule| rule.text)
}

/// Returns the items at the positions of the bits of `mask`.
fn selected_of<T>(items: impl Iterator<Item = T>, mask: u32) -> impl Iterator<Item = T> {
    items.zip(0..u32::BITS).filter(move |(_, bit)| mask >> bit & 1 == 1).map(|(item, _)| item)
}
