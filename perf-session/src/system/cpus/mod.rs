//! Sets of CPUs.

use std::{fmt, slice, vec};

mod error;
mod parse;
mod system;
#[cfg(test)]
mod tests;

pub use error::CpuListError;

/// CPUs by their true ids, ascending, without repetitions. Holes are allowed.
///
/// Text has the kernel's form `0-3,8,10-11`; empty text is an empty list. [`Display`](fmt::Display) prints
/// the same form, so that printing and parsing is the identity.
///
/// ```
/// use perf_session::CpuList;
///
/// let online: CpuList = "0-3,8,10-11\n".parse()?;
/// assert_eq!(online.len(), 7);
/// assert!(online.contains(8) && !online.contains(9));
///
/// let wanted: CpuList = "8-9".parse()?;
/// assert_eq!(wanted.intersection(&online).to_string(), "8");
/// assert_eq!(wanted.difference(&online).to_string(), "9");
/// # Ok::<(), perf_session::CpuListError>(())
/// ```
///
/// # References
///
/// - `Documentation/admin-guide/cputopology.rst` of the kernel
/// - [`cpuset(7)`](https://man7.org/linux/man-pages/man7/cpuset.7.html), "List format"
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuList(Vec<u32>);

impl CpuList {
    /// The highest id that a text may have. No kernel is built for that many CPUs, and it bounds the
    /// memory that a text can claim.
    pub const MAX_CPU: u32 = 65535;

    /// Returns the CPUs in ascending order.
    pub fn iter(&self) -> CpuIter<'_> {
        self.0.iter().copied()
    }

    /// Returns the CPUs in ascending order.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }

    /// Returns `true` if the list has this CPU.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// Returns the number of CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there is no CPU.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the CPUs that both lists have.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.iter().filter(|cpu| other.contains(*cpu)).collect())
    }

    /// Returns the CPUs of this list that the other does not have.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.iter().filter(|cpu| !other.contains(*cpu)).collect())
    }

    /// Returns the CPUs that at least one of the lists has.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other).collect()
    }
}

/// The iterator of [`CpuList::iter`].
pub type CpuIter<'a> = std::iter::Copied<slice::Iter<'a, u32>>;

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut cpus: Vec<u32> = cpus.into_iter().collect();
        cpus.sort_unstable();
        cpus.dedup();
        Self(cpus)
    }
}

impl From<u32> for CpuList {
    fn from(cpu: u32) -> Self {
        Self(vec![cpu])
    }
}

impl<'a> IntoIterator for &'a CpuList {
    type Item = u32;
    type IntoIter = CpuIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for CpuList {
    type Item = u32;
    type IntoIter = vec::IntoIter<u32>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for range in self.0.chunk_by(|cpu, next| cpu.checked_add(1) == Some(*next)) {
            match range {
                [cpu] => write!(f, "{comma}{cpu}")?,
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [] => {}
            }
            comma = ",";
        }
        Ok(())
    }
}
