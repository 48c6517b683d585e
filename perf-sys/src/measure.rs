use crate::{Count, Event, Group, GroupCount, Result};

/// Measuring a piece of work.
impl Event {
    /// Counts what happens while `work` runs: enables the event, runs `work`, disables it, and returns
    /// what `work` returned and what was counted.
    ///
    /// Open the event with [`DISABLED`](perf_abi::AttrFlags::DISABLED). The count is a difference, so
    /// that one event can measure many times and its times and losses are of this work alone. If `work`
    /// panics, the event stays enabled.
    ///
    /// ```
    /// use perf_abi::{Attr, AttrFlags, Software};
    /// use perf_sys::{Event, Target};
    ///
    /// # fn main() -> perf_sys::Result<()> {
    /// let faults = Attr::software(Software::PAGE_FAULTS)
    ///     .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
    /// let event = match Event::open(&faults, Target::calling_thread()) {
    ///     Ok(event) => event,
    ///     Err(refused) => return Ok(println!("{refused}")),
    /// };
    /// let (memory, count) = event.measure(|| vec![1_u8; 1 << 20])?;
    /// println!("{count}"); // 256  PAGE_FAULTS
    /// # drop(memory);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read) and [`enable`](Self::enable).
    #[doc(alias = "Measure")]
    pub fn measure<R>(&self, work: impl FnOnce() -> R) -> Result<(R, Count)> {
        let before = self.read()?;
        self.enable()?;
        let result = work();
        self.disable()?;
        Ok((result, self.read()?.since(&before)))
    }
}

/// Measuring a piece of work.
impl Group {
    /// Counts what happens while `work` runs, with all events of the group: as [`Event::measure`].
    #[doc(alias = "MeasureGroup")]
    pub fn measure<R>(&mut self, work: impl FnOnce() -> R) -> Result<(R, GroupCount<'_>)> {
        let (leader, members, buffers) = self.parts_mut();
        let before = leader.read_values(&mut buffers.before)?;
        leader.enable()?;
        let result = work();
        leader.disable()?;
        let now = leader.read_values(&mut buffers.now)?;
        Ok((result, GroupCount::new(now, Some(before), leader, members)))
    }
}
