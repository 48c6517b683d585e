use perf_abi::SampleType;

use crate::consumers::by_hand::{self, ByHand};
use crate::consumers::{linux_perf_event_reader, ours, perf_event_data, perf_event_open};
use crate::workload::{Callchain, Fixed, Group, Mix, Raw, SideBand, Stack};
use crate::{All, Few, Input, Touch, Views, allocations};

/// One who reads a whole input and returns the sum of what it read.
#[derive(Clone, Copy)]
pub struct Consumer {
    /// For titles: `by hand`, `ours ...`, or the name of a peer.
    pub name: &'static str,
    /// Reads the input.
    pub run: fn(&mut Input) -> u64,
}

/// A workload, how much of it is touched, and all who can do that.
pub struct Case {
    /// The workload's name.
    pub workload: &'static str,
    /// The touch's name.
    pub touch: &'static str,
    /// Writes the workload into a ring of so many bytes.
    pub input: fn(usize) -> Input,
    /// Those whose sums must be equal; the first is the code by hand.
    pub consumers: Vec<Consumer>,
    /// Those who read headers only.
    pub walkers: Vec<Consumer>,
}

impl Case {
    /// Asserts that all sums are equal, and that nobody of ours allocates.
    ///
    /// # Panics
    ///
    /// If a decoder reads something else than the code by hand, or one of ours allocates.
    pub fn check(&self, input: &mut Input) {
        for group in [&self.consumers, &self.walkers] {
            let mut expected = None;
            for consumer in group {
                let before = allocations::count();
                let sum = (consumer.run)(input);
                let allocated = allocations::count() - before;
                let title = format!("{}/{}/{}", self.workload, self.touch, consumer.name);
                assert_eq!(*expected.get_or_insert(sum), sum, "{title} reads other values than by hand");
                assert!(allocated == 0 || !consumer.is_ours(), "{title} allocates {allocated} times");
            }
        }
    }
}

impl Consumer {
    /// Whether it is perf-decode in one of its forms.
    pub fn is_ours(&self) -> bool {
        self.name.starts_with("ours")
    }

    /// Whether it is a decoder of someone else.
    pub fn is_peer(&self) -> bool {
        !self.is_ours() && !matches!(self.name, "by hand" | "headers")
    }
}

/// Every case there is.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(of::<Fixed>());
    cases.extend(of::<Callchain>());
    cases.extend(of::<Stack>());
    cases.extend(of::<Raw>());
    cases.extend(of::<Group>());
    cases.extend(of::<SideBand>());
    cases.extend(of::<Mix>());
    cases
}

fn of<W: ByHand>() -> Vec<Case> {
    let mut few = case::<W, Few>();
    few.consumers.push(Consumer { name: "ours head", run: ours::dynamic_head::<W> });
    few.consumers.push(Consumer { name: "ours const head", run: ours::constant_head::<W> });
    let mut cases = vec![few];
    if W::FIELDS.intersects(SampleType::STACK_USER | SampleType::RAW) {
        cases.push(case::<W, Views>());
    }
    cases.push(case::<W, All>());
    cases
}

fn case<W: ByHand, T: Touch>() -> Case {
    let mut consumers = vec![
        Consumer { name: "by hand", run: by_hand::records::<W, T> },
        Consumer { name: "ours", run: ours::dynamic::<W, T> },
        Consumer { name: "ours const", run: ours::constant::<W, T> },
        Consumer { name: "perf-event-data", run: perf_event_data::records::<W, T> },
        Consumer { name: "perf-event-open", run: perf_event_open::records::<W, T> },
    ];
    if !W::FIELDS.contains(SampleType::READ) {
        let run = linux_perf_event_reader::records::<W, T>;
        consumers.push(Consumer { name: "linux-perf-event-reader", run });
    }
    let walkers = vec![
        Consumer { name: "headers", run: by_hand::headers },
        Consumer { name: "ours headers", run: ours::walk },
    ];
    Case { workload: W::NAME, touch: T::NAME, input: Input::new::<W>, consumers, walkers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_consumers_of_a_case_read_the_same_values() {
        for case in cases() {
            case.check(&mut (case.input)(crate::FITS_L2));
        }
    }
}
