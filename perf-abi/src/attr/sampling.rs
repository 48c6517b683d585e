//! How often an event samples.

use crate::{Attr, AttrFlags};

/// When an event writes a sample: what `sample_period` and [`AttrFlags::FREQ`] mean together.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Sampling {
    /// Never: the event only counts.
    None,
    /// After this number of events, of ns for the clocks: see [`Attr::with_period`].
    Period(u64),
    /// About this many times a second: see [`Attr::with_frequency`].
    #[doc(alias = "sample_freq")]
    Frequency(u64),
}

impl Attr {
    /// Returns when the event writes a sample.
    ///
    /// ```
    /// use perf_abi::{Attr, Sampling, Software};
    ///
    /// let attr = Attr::software(Software::CPU_CLOCK);
    /// assert_eq!(attr.sampling(), Sampling::None);
    /// assert_eq!(attr.with_frequency(99).sampling(), Sampling::Frequency(99));
    /// ```
    pub const fn sampling(&self) -> Sampling {
        match self.sample_period {
            0 => Sampling::None,
            hertz if self.flags.contains(AttrFlags::FREQ) => Sampling::Frequency(hertz),
            events => Sampling::Period(events),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Software;

    #[test]
    fn sampling_is_a_period_a_frequency_or_none() {
        let attr = Attr::software(Software::PAGE_FAULTS);
        assert_eq!(attr.with_period(0).sampling(), Sampling::None);
        assert_eq!(attr.with_frequency(0).sampling(), Sampling::None);
        assert_eq!(attr.with_frequency(5).with_period(7).sampling(), Sampling::Period(7));
        assert_eq!(attr.with_period(7).with_frequency(5).sampling(), Sampling::Frequency(5));
    }
}
