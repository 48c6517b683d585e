//! The rules that an attr and its target break, before the system call.

use perf_sys::{Attr, Causes, Errno, Target};

use crate::system::{FileError, System};

mod field;
mod files;
mod filter;
mod pmu;
mod rules;
#[cfg(test)]
mod tests;
mod violation;

pub use filter::check_filter;
pub(crate) use pmu::{max_precise, pmu_of, type_of};
pub use violation::Violation;

/// The result of [`check`].
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The rules that are broken, in the order in which the kernel checks them.
    pub violations: Vec<Violation>,
    /// The files that could not be read, so that their rules were not checked.
    pub unchecked: Vec<FileError>,
}

impl Checked {
    /// Returns `true` if no rule is broken and all were checked.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty() && self.unchecked.is_empty()
    }

    fn add(&mut self, found: Result<Option<Violation>, FileError>) {
        match found {
            Ok(violation) => self.violations.extend(violation),
            Err(error) => self.unchecked.push(error),
        }
    }
}

/// Returns the rules that `perf_event_open` would refuse this attr and target for, without the call.
///
/// These are the rules of every kernel, as [`Causes::broken_rules`] has them, those of the event's type, and
/// those of the files of `system`: the maximum sample rate and callchain depth, the CPUs, and the PMU's
/// `cpumask`, `cpus` and `caps`. `is_sibling` is set if the event joins a group.
///
/// An attr without a violation may still be refused: permissions, the PMU's own rules and the features of
/// older kernels are not checked here. [`AttrFallback`](crate::AttrFallback) and [`explain`](crate::explain())
/// are for those.
///
/// ```
/// use perf_session::sys::{Attr, SampleType, Software, Target};
/// use perf_session::{System, check};
///
/// let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::REGS_USER);
/// for violation in check(&System::new(), &attr, Target::calling_thread(), false).violations {
///     println!("{violation}"); // sample_regs_user: REGS_USER without registers: set sample_regs_user; found 0x0
/// }
/// ```
pub fn check(system: &System, attr: &Attr, target: Target<'_>, is_sibling: bool) -> Checked {
    let mut checked = Checked::default();
    for (field, rule) in Causes::broken_rules(attr, target, is_sibling) {
        checked.violations.push(Violation::of_rule(attr, field, rule));
    }
    checked.violations.extend(rules::RULES.iter().filter_map(|rule| rule(attr)));
    for rule in files::RULES {
        checked.add(rule(system, attr, target));
    }
    checked
}

impl Checked {
    /// Returns the first violation that the kernel reports by this errno.
    pub fn first(&self, errno: Errno) -> Option<&Violation> {
        self.violations.iter().find(|violation| violation.errno() == errno)
    }
}
