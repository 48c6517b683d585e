use perf_abi::AuxFlags;

use crate::Layout;

view! {
    /// New data is in the AUX area. Written for events whose hardware traces into one.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u64 aux_offset` |
    /// | 2 | `u64 aux_size` |
    /// | 3 | `u64 flags` |
    ///
    /// Since Linux 4.1.
    #[doc(alias = "PERF_RECORD_AUX")]
    Aux: 4 words;
}

impl<L: Layout> Aux<'_, L> {
    /// Returns the start offset in bytes, free-running: take it modulo the size of the area.
    #[inline]
    #[must_use]
    pub fn aux_offset(&self) -> u64 {
        self.0.fixed()[1]
    }

    /// Returns the length of the data in bytes.
    #[inline]
    #[must_use]
    pub fn aux_size(&self) -> u64 {
        self.0.fixed()[2]
    }

    /// Returns whether the data is truncated, overwritten or has gaps, and its format.
    #[inline]
    #[must_use]
    pub fn flags(&self) -> AuxFlags {
        AuxFlags::from_bits_retain(self.0.fixed()[3])
    }
}
