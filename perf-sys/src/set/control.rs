use std::sync::Arc;

use super::RingSet;
use crate::error::{Result, SkippedBytes};
use crate::event::Event;

/// All events and rings at once.
impl<K> RingSet<K> {
    /// `ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)` of each event—Starts all events that write into the rings:
    /// the rings' own and the [redirected](crate::Ring::redirect) ones.
    ///
    /// One system call an event, so the events do not start at the same time.
    ///
    /// # Errors
    ///
    /// The first error. The other events are started all the same.
    pub fn enable(&self) -> Result<()> {
        self.each_event(Event::enable)
    }

    /// `ioctl(fd, PERF_EVENT_IOC_DISABLE, 0)` of each event—Stops all events that
    /// [`enable`](Self::enable) starts. Their last records are still in the rings.
    ///
    /// # Errors
    ///
    /// The first error. The other events are stopped all the same.
    pub fn disable(&self) -> Result<()> {
        self.each_event(Event::disable)
    }

    fn each_event(&self, control: impl Fn(&Event) -> Result<()>) -> Result<()> {
        let events = self.members.iter().flat_map(|member| member.ring.events());
        events.map(Arc::as_ref).map(control).fold(Ok(()), Result::and)
    }

    /// Returns what was skipped in the rings of the set because it was not a record: the sum of their
    /// [damage](crate::Ring::damage), with the last error of one of them.
    pub fn damage(&self) -> SkippedBytes {
        let mut sum = SkippedBytes::default();
        self.members.iter().for_each(|member| sum.add_ring(member.ring.damage()));
        sum
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, RecordType, Software};

    use super::*;
    use crate::map::{Area, Kernel};
    use crate::ring::Ring;

    #[test]
    fn damage_is_the_sum_over_all_rings() {
        let mut set = RingSet::new().unwrap();
        assert_eq!(set.damage(), SkippedBytes::default());
        for key in 0..3 {
            let area = Arc::new(Area::anonymous(1).unwrap());
            let mut kernel = Kernel::on(&area);
            set.add(key, Ring::on(area, Attr::software(Software::DUMMY))).unwrap();
            if key != 2 {
                kernel.write_words(&[Kernel::any_header(RecordType::SAMPLE, 4), 0]);
            }
        }
        for (_, batch) in set.ready() {
            assert!(batch.unwrap().records().any(|record| record.is_err()));
        }
        let (sum, one) = (set.damage(), set.get(&0).unwrap().damage());
        assert_eq!((sum.count, sum.bytes, sum.last), (2, 32, one.last));
        assert!(sum.last.is_some());
    }
}
