/// The bytes of a ring that were skipped because they are not records.
///
/// A size that no record can have ends a batch, because no record after it can be found. The bytes from
/// there to the kernel's position are skipped, so that the next batch starts with records that the
/// kernel writes later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedBytes {
    /// Number of times that bytes were skipped.
    pub count: u64,
    /// Skipped bytes in total.
    pub bytes: u64,
    /// The last error. Its position is in bytes from the start of the batch.
    pub last: Option<perf_decode::Error>,
}

impl SkippedBytes {
    /// Adds the damage of another ring.
    pub(crate) const fn add_ring(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        if other.last.is_some() {
            self.last = other.last;
        }
    }

    pub(crate) const fn add(&mut self, bytes: u64, error: perf_decode::Error) {
        self.count += 1;
        self.bytes += bytes;
        self.last = Some(error);
    }
}
