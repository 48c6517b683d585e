//! The abort cause of a hardware transaction.

bit_set! {
    /// `PERF_TXN_*`—the abort cause of a hardware transaction. Since Linux 3.13.
    #[doc(alias = "PERF_TXN")]
    pub struct Transaction(u64) {
        /// Abort of lock elision.
        "PERF_TXN_ELISION" ELISION = 1 << 0, since (3, 13);
        /// Abort of a generic transaction.
        "PERF_TXN_TRANSACTION" TRANSACTION = 1 << 1, since (3, 13);
        /// Synchronous: caused by the sampled instruction.
        "PERF_TXN_SYNC" SYNC = 1 << 2, since (3, 13);
        /// Asynchronous: not caused by the sampled instruction.
        "PERF_TXN_ASYNC" ASYNC = 1 << 3, since (3, 13);
        /// A retry can succeed.
        "PERF_TXN_RETRY" RETRY = 1 << 4, since (3, 13);
        /// Memory conflict with another CPU.
        "PERF_TXN_CONFLICT" CONFLICT = 1 << 5, since (3, 13);
        /// Write capacity exceeded.
        "PERF_TXN_CAPACITY_WRITE" CAPACITY_WRITE = 1 << 6, since (3, 13);
        /// Read capacity exceeded.
        "PERF_TXN_CAPACITY_READ" CAPACITY_READ = 1 << 7, since (3, 13);
    }
    numbers { "abort": Self::ABORT_MASK }
}

impl Transaction {
    /// The bits that hold the abort code. Since Linux 3.13.
    #[doc(alias = "PERF_TXN_ABORT_MASK")]
    pub const ABORT_MASK: u64 = 0xffff_ffff << 32;

    /// Returns the abort code that the program passed to the abort instruction. Since Linux 3.13.
    #[doc(alias = "PERF_TXN_ABORT_SHIFT")]
    pub const fn abort_code(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn the_abort_code_prints_as_a_number() {
        let transaction = Transaction::from_bits_retain(0xab_0000_0102);
        assert_eq!(transaction.abort_code(), 0xab);
        assert_eq!(transaction.to_string(), "TRANSACTION|abort=171|0x100");
    }
}
