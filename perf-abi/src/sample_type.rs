//! `attr.sample_type`: what a sample holds.

bit_set! {
    /// `enum perf_event_sample_format`—which fields each sample holds.
    ///
    /// The order of the fields in the record is *not* the order of the bits. `TID`, `TIME`, `ID`,
    /// `STREAM_ID`, `CPU` and `IDENTIFIER` also choose the trailer of all other records if
    /// [`SAMPLE_ID_ALL`](crate::AttrFlags::SAMPLE_ID_ALL) is set.
    ///
    /// # References
    ///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), `sample_type`
    #[doc(alias = "perf_event_sample_format")]
    pub struct SampleType(u64) {
        /// Instruction pointer. Since Linux 2.6.31.
        "PERF_SAMPLE_IP" IP = 1 << 0;
        /// Process and thread id. Since Linux 2.6.31.
        "PERF_SAMPLE_TID" TID = 1 << 1;
        /// Time, in ns of the event's clock. Since Linux 2.6.31.
        "PERF_SAMPLE_TIME" TIME = 1 << 2;
        /// Data address. Since Linux 2.6.31.
        "PERF_SAMPLE_ADDR" ADDR = 1 << 3;
        /// Counter values, laid out by `read_format`. Since Linux 2.6.31.
        "PERF_SAMPLE_READ" READ = 1 << 4;
        /// Callchain. Since Linux 2.6.31.
        "PERF_SAMPLE_CALLCHAIN" CALLCHAIN = 1 << 5;
        /// Id of the opened event. Since Linux 2.6.31.
        "PERF_SAMPLE_ID" ID = 1 << 6;
        /// CPU that wrote the record. Since Linux 2.6.31.
        "PERF_SAMPLE_CPU" CPU = 1 << 7;
        /// Events counted since the sample before. Since Linux 2.6.31.
        "PERF_SAMPLE_PERIOD" PERIOD = 1 << 8;
        /// Id of the copy of the event that fired; differs from `ID` in inherited copies. Since Linux 2.6.32.
        "PERF_SAMPLE_STREAM_ID" STREAM_ID = 1 << 9;
        /// Data of the event itself, such as a tracepoint's fields. Since Linux 2.6.32.
        "PERF_SAMPLE_RAW" RAW = 1 << 10;
        /// The last branches taken. Since Linux 3.4.
        "PERF_SAMPLE_BRANCH_STACK" BRANCH_STACK = 1 << 11;
        /// Registers of user space. Since Linux 3.7.
        "PERF_SAMPLE_REGS_USER" REGS_USER = 1 << 12;
        /// Top of the user stack. Since Linux 3.7.
        "PERF_SAMPLE_STACK_USER" STACK_USER = 1 << 13;
        /// Cost of the sampled operation, one number; not together with `WEIGHT_STRUCT`. Since Linux 3.10.
        "PERF_SAMPLE_WEIGHT" WEIGHT = 1 << 14;
        /// Where the data came from. Since Linux 3.10.
        "PERF_SAMPLE_DATA_SRC" DATA_SRC = 1 << 15;
        /// Id of the opened event at a place that needs no other knowledge. Since Linux 3.12.
        "PERF_SAMPLE_IDENTIFIER" IDENTIFIER = 1 << 16;
        /// Why a hardware transaction was aborted. Since Linux 3.13.
        "PERF_SAMPLE_TRANSACTION" TRANSACTION = 1 << 17;
        /// Registers at the interrupt, of kernel or user. Since Linux 3.19.
        "PERF_SAMPLE_REGS_INTR" REGS_INTR = 1 << 18;
        /// Physical data address. Since Linux 4.14.
        "PERF_SAMPLE_PHYS_ADDR" PHYS_ADDR = 1 << 19;
        /// A piece of the AUX area. Since Linux 5.5.
        "PERF_SAMPLE_AUX" AUX = 1 << 20;
        /// Id of the task's cgroup. Since Linux 5.7.
        "PERF_SAMPLE_CGROUP" CGROUP = 1 << 21;
        /// Size of the page of the data address, in bytes. Since Linux 5.11.
        "PERF_SAMPLE_DATA_PAGE_SIZE" DATA_PAGE_SIZE = 1 << 22;
        /// Size of the page of the instruction pointer, in bytes. Since Linux 5.11.
        "PERF_SAMPLE_CODE_PAGE_SIZE" CODE_PAGE_SIZE = 1 << 23;
        /// Cost of the sampled operation, three numbers; not together with `WEIGHT`. Since Linux 5.12.
        "PERF_SAMPLE_WEIGHT_STRUCT" WEIGHT_STRUCT = 1 << 24;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::format;

    #[test]
    fn the_named_bits_are_the_first_twenty_five() {
        let all = SampleType::C_NAMES.iter().fold(0, |bits, (_, bit)| bits | bit);
        assert_eq!(all, 0x1ff_ffff);
    }

    #[test]
    fn unknown_bits_survive_and_print() {
        let bits = SampleType::from_bits_retain(1 << 40) | SampleType::IP | SampleType::TIME;
        assert_eq!(format!("{bits}"), "IP|TIME|0x10000000000");
        assert_eq!(format!("{:?}", SampleType::empty()), "0x0");
    }
}
