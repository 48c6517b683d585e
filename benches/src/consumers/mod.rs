//! Consumers of the [workloads](crate::workloads). This file has the consumers of records in
//! memory: each [decoder](decoder) in each of the [loops](loops) reads a whole [`Input`] and
//! returns a [`Sum`].

#[cfg(feature = "bpf")]
pub mod bpf;
pub mod by_hand;
mod checksum;
mod decoder;
mod input;
mod linux_perf_event_reader;
mod loops;
mod ours;
pub mod perf_data;
mod perf_event_open;
mod plan;
pub mod samplers;

use perf_abi::SampleType;
use perf_decode::SampleLayout;

use crate::workloads::{Callchain, Fixed, Group, Mix, Raw, SideBand, Stack, Workload};
use by_hand::ByHand;
pub use checksum::{All, Few, Sum, Touch, Views};
use decoder::Decoder;
pub use input::Input;
use loops::{Dyn, ForMatch, Loop, Method, Question, VecOf64};
use ours::Constant;
use plan::Plan;

/// Size in bytes of an input that stays in a core's L2 cache.
pub const FITS_L2: usize = 512 << 10;
/// Size in bytes of an input that is larger than the L2 cache.
pub const LARGE: usize = 8 << 20;

/// A decoder in a loop. It reads a whole input and returns the sum of the values.
#[derive(Clone, Copy)]
pub struct Consumer {
    pub name: &'static str,
    pub run: fn(&mut Input) -> u64,
}

impl Consumer {
    fn new<D: Decoder, L: Loop, W: Workload, T: Touch>() -> Self {
        Self { name: D::NAME, run: loops::pass::<D, L, W, T> }
    }

    /// Returns whether the decoder comes from another crate.
    pub fn is_peer(&self) -> bool {
        [linux_perf_event_reader::Config::NAME, perf_event_open::Config::NAME].contains(&self.name)
    }
}

/// A loop over a workload, with the part of each record that it reads and all decoders.
pub struct Case {
    /// Name of the loop, such as `for`.
    pub shape: &'static str,
    pub workload: &'static str,
    pub touch: &'static str,
    /// Creates a ring of this number of bytes, filled with the workload.
    pub input: fn(usize) -> Input,
    /// Consumers whose sums must be equal. The first is the hand-written code.
    pub consumers: Vec<Consumer>,
    /// Number of allocations that the loop makes in one pass, whatever the decoder.
    pub allocations: u64,
}

impl Case {
    fn new<L: Loop, W: Workload, T: Touch>() -> Self {
        let mut consumers = vec![
            Consumer::new::<ByHand, L, W, T>(),
            Consumer::new::<Plan, L, W, T>(),
            Consumer::new::<SampleLayout, L, W, T>(),
            Consumer::new::<Constant<W>, L, W, T>(),
        ];
        // It mistakes the counts of a group for the counts of one event.
        if !W::FIELDS.contains(SampleType::READ) {
            consumers.push(Consumer::new::<linux_perf_event_reader::Config, L, W, T>());
        }
        consumers.push(Consumer::new::<perf_event_open::Config, L, W, T>());
        let (shape, allocations) = (L::NAME, L::ALLOCATIONS);
        Self { shape, workload: W::NAME, touch: T::NAME, input: Input::new::<W>, consumers, allocations }
    }

    /// Adds a consumer with a separate loop, before the peers.
    fn with(mut self, name: &'static str, run: fn(&mut Input) -> u64) -> Self {
        let own = self.consumers.iter().take_while(|consumer| !consumer.is_peer()).count();
        self.consumers.insert(own, Consumer { name, run });
        self
    }

    /// Returns the name of the case's group: `decode-few-for`, `framing`.
    pub fn group(&self) -> String {
        match self.shape {
            loops::FRAMING => self.shape.into(),
            shape => format!("decode-{}-{shape}", self.touch),
        }
    }

    /// Asserts that all consumers read the same values.
    pub fn check(&self, input: &mut Input) {
        let mut expected = None;
        for consumer in &self.consumers {
            let sum = (consumer.run)(input);
            let (group, workload) = (self.group(), self.workload);
            let first = *expected.get_or_insert(sum);
            assert_eq!(
                sum, first,
                "{group}/{workload}/{}: expected the sum that is read by hand",
                consumer.name
            );
        }
    }
}

/// Returns the cases of decoding, grouped by workload.
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

fn of<W: Workload>(cases: &mut Vec<Case>) {
    cases.push(
        with_specialized::<W, Few>()
            .with("head", loops::head::<W>)
            .with("head-constant", loops::constant_head::<W>),
    );
    if has_contents::<W>() {
        cases.push(with_specialized::<W, Views>());
    }
    cases.push(with_specialized::<W, All>());
    in_loop::<Question, W>(cases);
    in_loop::<Dyn, W>(cases);
    in_loop::<VecOf64, W>(cases);
    in_loop::<Method, W>(cases);
    cases.push(framing::<W>());
}

fn with_specialized<W: Workload, T: Touch>() -> Case {
    Case::new::<ForMatch, W, T>().with("specialized", loops::specialized::<W, T>)
}

fn in_loop<L: Loop, W: Workload>(cases: &mut Vec<Case>) {
    cases.push(Case::new::<L, W, Few>());
    if has_contents::<W>() {
        cases.push(Case::new::<L, W, Views>());
    }
    cases.push(Case::new::<L, W, All>());
}

/// Returns whether a sample has a stack or raw data, whose views differ from their contents.
fn has_contents<W: Workload>() -> bool {
    W::FIELDS.intersects(SampleType::STACK_USER | SampleType::RAW)
}

fn framing<W: Workload>() -> Case {
    let case = Case {
        shape: loops::FRAMING,
        workload: W::NAME,
        touch: "",
        input: Input::new::<W>,
        consumers: Vec::new(),
        allocations: 0,
    };
    case.with(ByHand::NAME, loops::framing_by_hand)
        .with(Plan::NAME, loops::framing_plan)
        .with("ours", loops::framing)
}
