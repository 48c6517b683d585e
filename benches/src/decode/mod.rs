//! Decoding. Seven [workloads](workload) of records are written into a ring's data area ([`Input`]). Loops of
//! several [shapes] read all of it with each decoder and return a [`Sum`], so that all are known to have read the
//! same values.

use perf_abi::SampleType;

use crate::allocations;

mod by_hand;
mod checksum;
mod decoder;
mod input;
mod linux_perf_event_reader;
mod measure;
mod ours;
mod plan;
mod print;
mod shapes;
mod side_band;
mod workload;

use by_hand::ByHand;
pub(crate) use checksum::{All, Few, Sum, Touch, Views};
use decoder::Decoder;
use input::Input;
pub(crate) use measure::{instructions, ratios, run_one};
use ours::Constant;
use plan::Plan;
use shapes::{Callback, Collected, ForMatch, Method, Question, Shape};
use workload::{Callchain, Fixed, Group, Mix, Raw, SideBand, Stack, Workload};

/// Bytes of an input that stays in a core's L2 cache.
const FITS_L2: usize = 512 << 10;
/// Bytes of an input that does not.
const LARGE: usize = 8 << 20;
/// Bytes of an input that is small enough to be built under Valgrind.
const SMALL: usize = 64 << 10;

/// A decoder in a loop of one shape. It reads a whole input and returns the sum of what it read.
#[derive(Clone, Copy)]
struct Consumer {
    name: &'static str,
    run: fn(&mut Input) -> u64,
}

impl Consumer {
    fn new<D: Decoder, S: Shape, W: Workload, T: Touch>() -> Self {
        Self { name: D::NAME, run: shapes::pass::<D, S, W, T> }
    }

    fn is_peer(&self) -> bool {
        !matches!(self.name, "by hand" | "plan" | "ours" | "ours const")
    }
}

/// A shape of loop, a workload and how much of it is touched, with all decoders.
struct Case {
    /// The shape's letter and name.
    shape: &'static str,
    workload: &'static str,
    touch: &'static str,
    /// Writes the workload into a ring of this number of bytes.
    input: fn(usize) -> Input,
    /// Consumers whose sums must be equal; the first is the code by hand.
    consumers: Vec<Consumer>,
    /// Allocations that the loop makes in one pass, whatever the decoder.
    allocations: u64,
}

impl Case {
    fn new<W: Workload, T: Touch>(shape: &'static str, consumers: Vec<Consumer>, allocations: u64) -> Self {
        Self { shape, workload: W::NAME, touch: T::NAME, input: Input::new::<W>, consumers, allocations }
    }

    fn of_shape<S: Shape, W: Workload, T: Touch>() -> Self {
        let mut consumers = vec![
            Consumer::new::<ByHand, S, W, T>(),
            Consumer::new::<Plan, S, W, T>(),
            Consumer::new::<perf_decode::SampleLayout, S, W, T>(),
            Consumer::new::<Constant<W>, S, W, T>(),
        ];
        if linux_perf_event_reader::Config::READS_GROUPS || !W::FIELDS.contains(SampleType::READ) {
            consumers.push(Consumer::new::<linux_perf_event_reader::Config, S, W, T>());
        }
        Self::new::<W, T>(S::NAME, consumers, S::ALLOCATIONS)
    }

    /// Asserts that all sums are equal, and that perf-decode does not allocate.
    fn check(&self, input: &mut Input) {
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

/// Returns every case, those of one workload after each other.
fn cases() -> Vec<Case> {
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

fn of<W: Workload>(cases: &mut Vec<Case>) {
    shape::<ForMatch, W>(cases);
    shape::<Question, W>(cases);
    shape::<Callback, W>(cases);
    shape::<Collected, W>(cases);
    shape::<Method, W>(cases);
    let heads = vec![
        Consumer::new::<ByHand, ForMatch, W, Few>(),
        Consumer { name: "ours", run: shapes::head::<W> },
        Consumer { name: "ours const", run: shapes::constant_head::<W> },
    ];
    cases.push(Case::new::<W, Few>("h head view", heads, 0));
    let framing = vec![
        Consumer { name: "by hand", run: shapes::framing_by_hand },
        Consumer { name: "ours", run: shapes::framing },
    ];
    cases.push(Case::new::<W, Few>("r framing", framing, 0));
    cases.push(specialized::<W, Few>());
    cases.push(specialized::<W, All>());
}

fn specialized<W: Workload, T: Touch>() -> Case {
    let consumers = vec![
        Consumer::new::<ByHand, ForMatch, W, T>(),
        Consumer { name: "ours", run: shapes::specialized::<W, T> },
        Consumer::new::<Constant<W>, ForMatch, W, T>(),
    ];
    Case::new::<W, T>("s specialize", consumers, 0)
}

fn shape<S: Shape, W: Workload>(cases: &mut Vec<Case>) {
    cases.push(Case::of_shape::<S, W, Few>());
    if W::FIELDS.intersects(SampleType::STACK_USER | SampleType::RAW) {
        cases.push(Case::of_shape::<S, W, Views>());
    }
    cases.push(Case::of_shape::<S, W, All>());
}

/// Returns the cases that the words select: by the letters of shapes, by workloads and by touches. All of them for
/// a property that no word names.
fn selected(words: &[String]) -> Vec<Case> {
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

#[test]
fn all_decoders_read_the_same_values_in_every_shape() {
    for case in cases() {
        case.check(&mut (case.input)(FITS_L2));
    }
}
