use super::{EventSet, EventSetError, Scope};

/// The records of one event of an [`EventSet`] that the kernel dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventLost {
    /// The id of the event, which its samples have.
    pub id: u64,
    /// The thread or CPU of the event.
    pub scope: Scope,
    /// Index of the logical event, in the order of the options.
    pub index: usize,
    /// Records that the kernel dropped since the event was opened, because its ring was full or paused.
    pub lost: u64,
}

/// # Lost records
impl EventSet {
    /// Reads how many records of each event the kernel dropped (`PERF_FORMAT_LOST`), also of the events that
    /// were closed because their CPU went offline or their thread was removed. Since Linux 6.0; the list is
    /// empty on older kernels, see [`reads_lost`](Self::reads_lost).
    ///
    /// For an event with period 1, the samples of its id and its lost records add up to its count. The `LOST`
    /// records of a ring report the same losses, except those after the last record that fitted.
    ///
    /// # Errors
    ///
    /// [`EventSetError::Event`] if an event cannot be read.
    #[doc(alias = "PERF_FORMAT_LOST")]
    pub fn lost_by_event(&self) -> Result<Vec<EventLost>, EventSetError> {
        self.opened.read_lost()
    }
}
