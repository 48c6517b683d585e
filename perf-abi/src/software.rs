//! Events that the kernel counts without any hardware.

open_enum! {
    /// `enum perf_sw_ids`—events counted by the kernel itself; they exist on every machine.
    #[doc(alias = "perf_sw_ids")]
    pub struct Software(u64) {
        /// A high-resolution timer per CPU, in ns. Since Linux 2.6.31.
        "PERF_COUNT_SW_CPU_CLOCK" CPU_CLOCK = 0;
        /// Time that the task was running, in ns. Since Linux 2.6.31.
        "PERF_COUNT_SW_TASK_CLOCK" TASK_CLOCK = 1;
        /// Page faults. Since Linux 2.6.31.
        "PERF_COUNT_SW_PAGE_FAULTS" PAGE_FAULTS = 2;
        /// Context switches. Since Linux 2.6.31.
        "PERF_COUNT_SW_CONTEXT_SWITCHES" CONTEXT_SWITCHES = 3;
        /// Moves of the task to another CPU. Since Linux 2.6.31.
        "PERF_COUNT_SW_CPU_MIGRATIONS" CPU_MIGRATIONS = 4;
        /// Page faults that needed no I/O. Since Linux 2.6.31.
        "PERF_COUNT_SW_PAGE_FAULTS_MIN" PAGE_FAULTS_MIN = 5;
        /// Page faults that needed I/O. Since Linux 2.6.31.
        "PERF_COUNT_SW_PAGE_FAULTS_MAJ" PAGE_FAULTS_MAJ = 6;
        /// Unaligned accesses that the kernel had to carry out. Since Linux 2.6.33.
        "PERF_COUNT_SW_ALIGNMENT_FAULTS" ALIGNMENT_FAULTS = 7;
        /// Instructions that the kernel had to emulate. Since Linux 2.6.33.
        "PERF_COUNT_SW_EMULATION_FAULTS" EMULATION_FAULTS = 8;
        /// Counts nothing; carries side-band records such as mappings. Since Linux 3.12.
        "PERF_COUNT_SW_DUMMY" DUMMY = 9;
        /// Output of BPF programs. Since Linux 4.4.
        "PERF_COUNT_SW_BPF_OUTPUT" BPF_OUTPUT = 10;
        /// Context switches to a task of another cgroup. Since Linux 5.13.
        "PERF_COUNT_SW_CGROUP_SWITCHES" CGROUP_SWITCHES = 11;
    }
}
