//! The view of KSYMBOL records.

use perf_abi::{KsymbolFlags, KsymbolType};

view! {
    /// A symbol, such as a BPF program or a trampoline, was added to or removed from the kernel.
    /// Written for events with `ksymbol`.
    ///
    /// Since Linux 5.1.
    #[doc(alias = "PERF_RECORD_KSYMBOL")]
    Ksymbol of KSYMBOL {
        /// Returns the first address.
        addr: u64,
        /// Returns the length in bytes; 0 for text without a size.
        len: u32,
        /// Returns the kind of the symbol.
        ksym_type: KsymbolType,
        /// Returns whether the symbol was removed.
        flags: KsymbolFlags,
        /// Returns the name, at most 511 bytes. Raw bytes without the NUL, not UTF-8.
        name: &'a [u8],
    }
}
