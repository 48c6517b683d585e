use super::Event;
use super::{Count, Group, GroupCount};
use crate::error::Result;

/// Measuring work.
impl Event {
    /// Enables the event, runs `work`, disables the event, and returns the result of `work` and the
    /// count.
    ///
    /// Open the event with [`DISABLED`](perf_abi::AttrFlags::DISABLED). The count is a difference, so an
    /// event can measure many times, and value, times and losses are those of `work` alone. If `work`
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
    /// println!("{count}  {event}"); // 256  PAGE_FAULTS
    /// # drop(memory);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read) and [`enable`](Self::enable).
    #[doc(alias = "Measure")]
    pub fn measure<R>(&self, work: impl FnOnce() -> R) -> Result<(R, Count)> {
        let before = self.read()?;
        self.enable()?;
        let result = work();
        self.disable()?;
        Ok((result, self.read()?.since(&before)))
    }
}

/// Measuring work.
impl Group {
    /// Counts all events of the group while `work` runs, as [`Event::measure`] does with one.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read) and [`enable`](Self::enable).
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
