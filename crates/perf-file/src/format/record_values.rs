//! Numbers in the records that tools write.

named_numbers! {
    /// The kind of an AUX trace.
    #[doc(alias = "auxtrace_type")]
    pub struct AuxtraceType(u32);

    /// Unknown.
    "PERF_AUXTRACE_UNKNOWN" UNKNOWN = 0;
    /// Intel Processor Trace.
    "PERF_AUXTRACE_INTEL_PT" INTEL_PT = 1;
    /// Intel Branch Trace Store.
    "PERF_AUXTRACE_INTEL_BTS" INTEL_BTS = 2;
    /// Arm `CoreSight` ETM.
    "PERF_AUXTRACE_CS_ETM" CORESIGHT_ETM = 3;
    /// Arm Statistical Profiling Extension.
    "PERF_AUXTRACE_ARM_SPE" ARM_SPE = 4;
    /// s390 CPU-measurement sampling facility.
    "PERF_AUXTRACE_S390_CPUMSF" S390_CPUMSF = 5;
    /// `HiSilicon` `PCIe` Tune and Trace.
    "PERF_AUXTRACE_HISI_PTT" HISI_PTT = 6;
    /// POWER Virtual Processor Area dispatch trace log.
    "PERF_AUXTRACE_VPA_DTL" VPA_DTL = 7;
}

named_numbers! {
    /// The number of an option of `perf stat`.
    pub struct StatTag(u64);

    /// How counts are added up.
    "PERF_STAT_CONFIG_TERM__AGGR_MODE" AGGR_MODE = 0;
    /// Interval between two readings in ms.
    "PERF_STAT_CONFIG_TERM__INTERVAL" INTERVAL = 1;
    /// Whether counts are scaled.
    "PERF_STAT_CONFIG_TERM__SCALE" SCALE = 2;
    /// Level of the caches over which counts are added up.
    "PERF_STAT_CONFIG_TERM__AGGR_LEVEL" AGGR_LEVEL = 3;
}

named_numbers! {
    /// The kind of a round of counts.
    pub struct StatRoundType(u64);

    /// After an interval.
    "PERF_STAT_ROUND_TYPE__INTERVAL" INTERVAL = 0;
    /// At the end.
    "PERF_STAT_ROUND_TYPE__FINAL" FINAL = 1;
}
