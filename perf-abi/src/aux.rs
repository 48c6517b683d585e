//! Flags of `AUX` records.

bit_set! {
    /// `PERF_AUX_FLAG_*`—what is to know about a piece of AUX data.
    #[doc(alias = "PERF_AUX_FLAG")]
    pub struct AuxFlags(u64) {
        /// Cut short: the area was full. Since Linux 4.1.
        "PERF_AUX_FLAG_TRUNCATED" TRUNCATED = 0x1;
        /// A snapshot from an area that is overwritten. Since Linux 4.1.
        "PERF_AUX_FLAG_OVERWRITE" OVERWRITE = 0x2;
        /// Has gaps. Since Linux 4.12.
        "PERF_AUX_FLAG_PARTIAL" PARTIAL = 0x4;
        /// Samples collided with each other. Since Linux 4.15.
        "PERF_AUX_FLAG_COLLISION" COLLISION = 0x8;
    }
    numbers { "format": Self::PMU_FORMAT_MASK }
}

impl AuxFlags {
    /// The bits in which the PMU tells the format of the data. Since Linux 5.13.
    #[doc(alias = "PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK")]
    pub const PMU_FORMAT_MASK: u64 = 0xff00;

    /// `CoreSight`: framed data. Since Linux 5.13.
    #[doc(alias = "PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT")]
    pub const CORESIGHT_FRAMED: u8 = 0;

    /// `CoreSight`: data of one source without frames. Since Linux 5.13.
    #[doc(alias = "PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW")]
    pub const CORESIGHT_RAW: u8 = 1;

    /// The format of the data, in the PMU's own numbers. Since Linux 5.13.
    pub const fn pmu_format(self) -> u8 {
        (self.0 >> 8) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::format;

    #[test]
    fn the_format_prints_as_a_number() {
        let flags = AuxFlags::from_bits_retain(0x1_0105);
        assert_eq!(format!("{flags}"), "TRUNCATED|PARTIAL|format=1|0x10000");
        assert_eq!(flags.pmu_format(), AuxFlags::CORESIGHT_RAW);
    }
}
