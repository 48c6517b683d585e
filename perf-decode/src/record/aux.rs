//! The view of AUX records.

use perf_abi::AuxFlags;

view! {
    /// New data is in the AUX area. Written for events whose hardware traces into one.
    ///
    /// Since Linux 4.1.
    #[doc(alias = "PERF_RECORD_AUX")]
    Aux of AUX {
        /// Returns the start offset in bytes, free-running: take it modulo the size of the area.
        aux_offset: u64,
        /// Returns the length of the data in bytes.
        aux_size: u64,
        /// Returns whether the data is truncated, overwritten or has gaps, and its format.
        flags: AuxFlags,
    }
}
