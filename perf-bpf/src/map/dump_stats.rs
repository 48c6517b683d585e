use core::fmt;
use std::time::Duration;

/// The course of a reliable dump, from [`Map::dump_reliably`](crate::Map::dump_reliably).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpStats {
    /// Elements passed to the callback, each key once.
    pub delivered: u64,
    /// Lookups of single elements.
    pub lookups: u64,
    /// Lookups that found no element, because its key was deleted after it was returned or the slot
    /// of an array is empty.
    pub failed_lookups: u64,
    /// Those of the failed lookups in a trie that found the value of a shorter prefix.
    pub shorter_prefixes: u64,
    /// Times that the key before a deleted one was deleted too.
    pub unavailable_keys: u64,
    /// Times that the dump continued after the key before a deleted one.
    pub fallbacks: u64,
    /// Times that it began anew with the first key. Keys that were already delivered are skipped.
    pub interruptions: u64,
    /// Batches; 0 if the kernel or the map type has no batch commands.
    pub batches: u64,
    /// Capacity of the map.
    pub max_entries: u32,
    /// Whether the dump reached the end of the map. Otherwise deletions interrupted it too often,
    /// and elements may be missing.
    pub complete: bool,
    /// Duration of the dump, callbacks included.
    pub duration: Duration,
}

impl DumpStats {
    /// Returns the delivered elements as a share of the capacity, 1 for a full map. A dump with a
    /// callback that does nothing counts the elements; the kernel has no command for it.
    ///
    /// ```
    /// use perf_bpf::{BpfMapType, Map, MapSpec};
    ///
    /// # fn main() -> Result<(), perf_bpf::Error> {
    /// let map = match Map::<u32, u64>::create(MapSpec::new(BpfMapType::HASH, 8)) {
    ///     Ok(map) => map,
    ///     Err(error) => return Ok(println!("{error}")),
    /// };
    /// map.update_batch(&[(1, 10), (2, 20)])?;
    /// let stats = map.dump_reliably(|_, _| ())?;
    /// assert_eq!((stats.delivered, stats.pressure()), (2, 0.25));
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::cast_precision_loss)] // no map has 2^53 elements
    pub fn pressure(&self) -> f64 {
        self.delivered as f64 / f64::from(self.max_entries.max(1))
    }
}

/// One line.
impl fmt::Display for DumpStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { delivered, lookups, failed_lookups, unavailable_keys, fallbacks, .. } = self;
        write!(
            f,
            "{delivered} elements of at most {} in {:?}, {}: {} batches, {lookups} lookups, {failed_lookups} \
             failed, {unavailable_keys} keys unavailable, {fallbacks} fallbacks, {} interruptions",
            self.max_entries,
            self.duration,
            if self.complete { "complete" } else { "incomplete" },
            self.batches,
            self.interruptions
        )
    }
}
