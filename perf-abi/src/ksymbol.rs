//! Numbers of `KSYMBOL` records.

open_enum! {
    /// `enum perf_record_ksymbol_type`—what a kernel symbol belongs to. Since Linux 5.1.
    #[doc(alias = "perf_record_ksymbol_type")]
    pub struct KsymbolType(u16) {
        /// Not told. Since Linux 5.1.
        "PERF_RECORD_KSYMBOL_TYPE_UNKNOWN" UNKNOWN = 0;
        /// Text of a BPF program. Since Linux 5.1.
        "PERF_RECORD_KSYMBOL_TYPE_BPF" BPF = 1;
        /// Code put out of line, as kprobes and ftrace do. Since Linux 5.9.
        "PERF_RECORD_KSYMBOL_TYPE_OOL" OUT_OF_LINE = 2;
    }
}

bit_set! {
    /// `PERF_RECORD_KSYMBOL_FLAGS_*`—what happened to a kernel symbol. Since Linux 5.1.
    #[doc(alias = "PERF_RECORD_KSYMBOL_FLAGS")]
    pub struct KsymbolFlags(u16) {
        /// It was removed; added if clear. Since Linux 5.1.
        "PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER" UNREGISTER = 1;
    }
}
