use super::{EventError, EventSet, EventSetError, Scope, Unit};

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
        let mut all = self.retired_lost.clone();
        for unit in &self.units {
            all.extend(self.lost_of(unit)?);
        }
        Ok(all)
    }

    /// Reads the lost records of the events of a unit.
    pub(super) fn lost_of(&self, unit: &Unit) -> Result<Vec<EventLost>, EventSetError> {
        let planned = self.plan.groups.get(unit.group).map_or(&[][..], |group| &group.events);
        let mut all = Vec::new();
        for ((member, event), (count, planned)) in
            unit.events.iter().enumerate().zip(unit.read()?.iter().zip(planned))
        {
            let Some(lost) = count.as_ref().and_then(|count| count.lost) else { continue };
            let id = event.id().map_err(|error| EventError::of(event, unit.scope, member != 0, error))?;
            all.push(EventLost { id, scope: unit.scope, index: planned.index, lost });
        }
        Ok(all)
    }
}
