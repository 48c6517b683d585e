//! The skid of the sampled instruction pointer.

use core::fmt;

/// `precise_ip`—the skid that a sampled instruction pointer may have. Since Linux 2.6.35.
///
/// Skid is the number of instructions between the one that overflowed the event and the one that
/// the kernel reports. Hardware events only: software events ignore the level. A PMU fails with
/// `EOPNOTSUPP` for a level above the one in its `caps/max_precise`, on x86 with `EINVAL` for a
/// level above `ARBITRARY` on an event that only counts.
///
/// The attr has two bits for it, so the four constants are all values.
///
/// # References
///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), `precise_ip`
#[doc(alias = "precise_ip")]
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Skid(pub(super) u8);

impl Skid {
    /// Arbitrary skid.
    pub const ARBITRARY: Self = Self(0);
    /// Constant skid.
    pub const CONSTANT: Self = Self(1);
    /// Requests zero skid; samples without [`Misc::EXACT_IP`](crate::Misc::EXACT_IP) have some.
    pub const REQUESTED_ZERO: Self = Self(2);
    /// Zero skid.
    pub const ZERO: Self = Self(3);

    /// Every level, from arbitrary to zero skid.
    pub const ALL: &'static [Self] = &[Self::ARBITRARY, Self::CONSTANT, Self::REQUESTED_ZERO, Self::ZERO];

    /// Returns the skid of a `precise_ip` level; `None` above 3.
    pub const fn from_level(level: u8) -> Option<Self> {
        if level <= Self::ZERO.0 { Some(Self(level)) } else { None }
    }

    /// Returns the `precise_ip` level, 0 to 3.
    pub const fn level(self) -> u8 {
        self.0
    }

    /// Returns the name of the constant.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ARBITRARY => "ARBITRARY",
            Self::CONSTANT => "CONSTANT",
            Self::REQUESTED_ZERO => "REQUESTED_ZERO",
            _ => "ZERO",
        }
    }
}

impl fmt::Debug for Skid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Skid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{format, vec::Vec};

    #[test]
    fn levels_are_those_of_the_manual_page() {
        let levels = [Skid::ARBITRARY, Skid::CONSTANT, Skid::REQUESTED_ZERO, Skid::ZERO].map(Skid::level);
        assert_eq!(levels, [0, 1, 2, 3]);
        assert!((0..4).filter_map(Skid::from_level).eq(Skid::ALL.iter().copied()));
        assert_eq!(Skid::from_level(4), None);
    }

    #[test]
    fn a_skid_prints_its_name() {
        let names: Vec<_> = Skid::ALL.iter().map(|skid| format!("{skid}")).collect();
        assert_eq!(names, ["ARBITRARY", "CONSTANT", "REQUESTED_ZERO", "ZERO"]);
        assert_eq!(format!("{:>5?}", Skid::ZERO), " ZERO");
    }
}
