use perf_abi::SampleType;
use perfkit_benches_readers::Peer;
use perfkit_benches_readers::collector::Elsewhere;
use perfkit_benches_readers::linux_perf_event_reader::LinuxPerfEventReader;
use perfkit_benches_readers::ours::Constant;
use perfkit_benches_readers::perf_event_data::PerfEventData;
use perfkit_benches_readers::perf_event_open::PerfEventOpen;

use crate::input::Configured;
use crate::shapes::{self, Adaptors, Callback, Closure, Collected, ForMatch, IfLet, Method, Shape};
use crate::workload::{Callchain, Fixed, Group, Mix, Raw, SideBand, Stack};
use crate::{All, Few, Input, Touch, Views, allocations};

/// A decoder in a loop of one shape. It reads a whole input and returns the sum of what it read.
#[derive(Clone, Copy)]
pub struct Consumer {
    /// `by hand`, `ours` (layout made at run time), `ours const`, or the name of a peer.
    pub name: &'static str,
    /// Reads the input.
    pub run: fn(&mut Input) -> u64,
}

/// A shape of loop, a workload and how much of it is touched, with all decoders.
pub struct Case {
    /// The shape's letter and name.
    pub shape: &'static str,
    /// The workload's name.
    pub workload: &'static str,
    /// The touch's name.
    pub touch: &'static str,
    /// Writes the workload into a ring of so many bytes.
    pub input: fn(usize) -> Input,
    /// Consumers whose sums must be equal; the first is the code by hand.
    pub consumers: Vec<Consumer>,
    /// Allocations that the loop makes in one pass, whatever the decoder.
    pub allocations: u64,
}

impl Case {
    /// Asserts that all sums are equal, and that perf-decode does not allocate.
    ///
    /// # Panics
    ///
    /// If a decoder reads something else than the code by hand, or perf-decode allocates.
    pub fn check(&self, input: &mut Input) {
        let mut expected = None;
        for consumer in &self.consumers {
            let before = allocations::count();
            let sum = (consumer.run)(input);
            let allocated = allocations::count() - before;
            let title = format!("{}, {} {}, {}", self.shape, self.workload, self.touch, consumer.name);
            assert_eq!(sum, *expected.get_or_insert(sum), "{title}: expected the sum that is read by hand");
            if !consumer.is_peer() {
                assert_eq!(allocated, self.allocations, "{title}: allocations");
            }
        }
    }
}

impl Consumer {
    /// Whether it is perf-decode.
    pub fn is_ours(&self) -> bool {
        self.name.starts_with("ours")
    }

    /// Whether it is another crate.
    pub fn is_peer(&self) -> bool {
        !self.is_ours() && self.name != "by hand"
    }
}

/// Returns every case, those of one workload after each other.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<Fixed>(&mut cases);
    of::<Callchain>(&mut cases);
    of::<Stack>(&mut cases);
    of::<Raw>(&mut cases);
    of::<Group>(&mut cases);
    of::<SideBand>(&mut cases);
    of::<Mix>(&mut cases);
    cases
}

/// Returns the cases that the words select: by the letters of shapes, by workloads and by touches. All of them for
/// a property that no word names.
pub fn selected(words: &[String]) -> Vec<Case> {
    let mut cases = cases();
    let properties: [fn(&Case) -> &str; 3] =
        [|case| &case.shape[..1], |case| case.workload, |case| case.touch];
    for property in properties {
        if cases.iter().any(|case| words.iter().any(|word| word == property(case))) {
            cases.retain(|case| words.iter().any(|word| word == property(case)));
        }
    }
    cases
}

fn of<W>(cases: &mut Vec<Case>)
where
    W: Elsewhere<Few> + Elsewhere<Views> + Elsewhere<All>,
{
    shape::<ForMatch, W>(cases);
    shape::<IfLet, W>(cases);
    shape::<Closure, W>(cases);
    shape::<Callback, W>(cases);
    shape::<Collected, W>(cases);
    shape::<Adaptors, W>(cases);
    shape::<Method, W>(cases);
    let consumers = vec![
        Consumer { name: "by hand", run: by_hand::<ForMatch, W, Few> },
        Consumer { name: "ours", run: head::<W> },
        Consumer { name: "ours const", run: constant_head::<W> },
    ];
    cases.push(new::<W, Few>("h head view", consumers, 0));
    let consumers =
        vec![Consumer { name: "by hand", run: framing_by_hand }, Consumer { name: "ours", run: framing }];
    cases.push(new::<W, Few>("r framing", consumers, 0));
    cases.push(specialized_case::<W, Few>());
    cases.push(specialized_case::<W, All>());
}

fn specialized_case<W: Elsewhere<T>, T: Touch>() -> Case {
    let consumers = vec![
        Consumer { name: "by hand", run: by_hand::<ForMatch, W, T> },
        Consumer { name: "ours", run: specialized::<W, T> },
        Consumer { name: "ours const", run: constant::<ForMatch, W, T> },
    ];
    new::<W, T>("s specialize", consumers, 0)
}

fn shape<S: Shape, W>(cases: &mut Vec<Case>)
where
    W: Elsewhere<Few> + Elsewhere<Views> + Elsewhere<All>,
{
    cases.push(case::<S, W, Few>());
    if W::FIELDS.intersects(SampleType::STACK_USER | SampleType::RAW) {
        cases.push(case::<S, W, Views>());
    }
    cases.push(case::<S, W, All>());
}

fn case<S: Shape, W: Elsewhere<T>, T: Touch>() -> Case {
    let mut consumers = vec![
        Consumer { name: "by hand", run: by_hand::<S, W, T> },
        Consumer { name: "ours", run: run_time::<S, W, T> },
        Consumer { name: "ours const", run: constant::<S, W, T> },
    ];
    add_peer::<LinuxPerfEventReader, S, W, T>(&mut consumers);
    add_peer::<PerfEventData, S, W, T>(&mut consumers);
    add_peer::<PerfEventOpen, S, W, T>(&mut consumers);
    new::<W, T>(S::NAME, consumers, S::ALLOCATIONS)
}

fn new<W: Elsewhere<T>, T: Touch>(shape: &'static str, consumers: Vec<Consumer>, allocations: u64) -> Case {
    Case { shape, workload: W::NAME, touch: T::NAME, input: Input::new::<W>, consumers, allocations }
}

fn add_peer<P: Peer + Configured, S: Shape, W: Elsewhere<T>, T: Touch>(consumers: &mut Vec<Consumer>) {
    if P::READS_GROUPS || !W::FIELDS.contains(SampleType::READ) {
        consumers.push(Consumer { name: P::NAME, run: peer::<P, S, W, T> });
    }
}

// Each loop is a function that nothing is inlined out of, with everything inlined into it that is marked so.

#[inline(never)]
fn by_hand<S: Shape, W: Elsewhere<T>, T: Touch>(input: &mut Input) -> u64 {
    S::by_hand::<W, T>(input.words())
}

#[inline(never)]
fn run_time<S: Shape, W: Elsewhere<T>, T: Touch>(input: &mut Input) -> u64 {
    let (window, layout, scratch) = input.window();
    S::run_time::<W, T>(window, scratch, layout)
}

#[inline(never)]
fn constant<S: Shape, W: Elsewhere<T>, T: Touch>(input: &mut Input) -> u64 {
    let (window, _, scratch) = input.window();
    S::constant::<W, T>(window, scratch)
}

#[inline(never)]
fn peer<P: Peer + Configured, S: Shape, W: Elsewhere<T>, T: Touch>(input: &mut Input) -> u64 {
    S::peer::<P, W, T>(input.bytes(), P::of(input))
}

#[inline(never)]
fn head<W: Elsewhere<Few>>(input: &mut Input) -> u64 {
    let (window, layout, scratch) = input.window();
    shapes::head::<W, _>(window, scratch, layout)
}

#[inline(never)]
fn constant_head<W: Elsewhere<Few>>(input: &mut Input) -> u64 {
    let (window, _, scratch) = input.window();
    shapes::head::<W, _>(window, scratch, Constant::<W>::LAYOUT)
}

#[inline(never)]
fn specialized<W: Elsewhere<T>, T: Touch>(input: &mut Input) -> u64 {
    let (window, layout, scratch) = input.window();
    shapes::specialized::<W, T>(window, scratch, layout)
}

#[inline(never)]
fn framing(input: &mut Input) -> u64 {
    let (window, _, scratch) = input.window();
    shapes::framing(window, scratch)
}

#[inline(never)]
fn framing_by_hand(input: &mut Input) -> u64 {
    shapes::framing_by_hand(input.words())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_decoders_read_the_same_values_in_every_shape() {
        for case in cases() {
            case.check(&mut (case.input)(crate::FITS_L2));
        }
    }
}
