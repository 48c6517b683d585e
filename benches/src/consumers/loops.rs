//! Loops over records as users write them, generic over the decoder. They differ only in their
//! control flow.

use std::hint::black_box;

use perf_abi::RecordType;
use perf_decode::{Layout, LayoutVisitor, SampleLayout, Scratch, Window};

use super::by_hand::Pointers;
use super::decoder::Decoder;
use super::{Input, Sum, Touch, ours, plan};
use crate::workloads::Workload;

/// A loop over records that adds up the values.
pub trait Loop {
    /// Name in benches.
    const NAME: &'static str;
    /// Number of allocations that the loop itself makes in one pass, whatever the decoder.
    const ALLOCATIONS: u64 = 0;

    fn run<'a, D: Decoder, W: Workload, T: Touch>(
        records: D::Records<'a>,
        decoder: &'a D,
        sum: &mut Sum,
    ) -> Result<(), D::Error>;
}

/// Defines a loop by its body.
macro_rules! define {
    ($(#[$doc:meta])* $Name:ident, $name:literal $(, allocations: $allocations:literal)?;
        |$records:ident, $decoder:ident, $sum:ident| $body:expr) => {
        $(#[$doc])*
        pub struct $Name;

        impl Loop for $Name {
            const NAME: &'static str = $name;
            $(const ALLOCATIONS: u64 = $allocations;)?

            #[inline(always)]
            fn run<'a, D: Decoder, W: Workload, T: Touch>(
                #[allow(unused_mut)] mut $records: D::Records<'a>,
                $decoder: &'a D,
                $sum: &mut Sum,
            ) -> Result<(), D::Error> {
                $body
            }
        }
    };
}

define! {
    /// A `for` loop and one `match` over the results of `decode`.
    ForMatch, "for";
    |records, decoder, sum| {
        for raw in records {
            match decoder.decode(raw?) {
                Ok(record) => D::read::<W, T>(sum, &record),
                Err(_) => sum.refused(),
            }
        }
        Ok(())
    }
}

define! {
    /// `let record = raw?.decode(layout)?`.
    Question, "question";
    |records, decoder, sum| {
        for raw in records {
            let record = decoder.decode(raw?)?;
            D::read::<W, T>(sum, &record);
        }
        Ok(())
    }
}

define! {
    /// A function that takes `&mut dyn FnMut(&Record)`.
    // Passed through `black_box`, because the optimizer would see through the `dyn` otherwise.
    Dyn, "dyn";
    |records, decoder, sum| {
        let mut each = |record: &D::Record<'a>| D::read::<W, T>(sum, record);
        for_each(records, decoder, black_box(&mut each))
    }
}

// No `inline` attribute: the compiler decides, as it does for a user's helper.
fn for_each<'a, D: Decoder>(
    records: D::Records<'a>,
    decoder: &'a D,
    each: &mut dyn FnMut(&D::Record<'a>),
) -> Result<(), D::Error> {
    for raw in records {
        each(&decoder.decode(raw?)?);
    }
    Ok(())
}

const BATCH: usize = 64;

define! {
    /// 64 records at a time, collected into a reused `Vec` and then read.
    VecOf64, "vec", allocations: 1;
    |records, decoder, sum| {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            for raw in records.by_ref().take(BATCH) {
                batch.push(decoder.decode(raw?)?);
            }
            if batch.is_empty() {
                return Ok(());
            }
            batch.iter().for_each(|record| D::read::<W, T>(sum, record));
        }
    }
}

/// A decoder with the sum of the records so far.
struct Collector<'a, D> {
    decoder: &'a D,
    sum: Sum,
}

#[inline(never)]
fn collect<'a, D: Decoder, W: Workload, T: Touch>(collector: &mut Collector<'a, D>, raw: D::Raw<'a>) {
    match collector.decoder.decode(raw) {
        Ok(record) => D::read::<W, T>(&mut collector.sum, &record),
        Err(_) => collector.sum.refused(),
    }
}

define! {
    /// A method that is never inlined, gets a framed record and keeps the layout in `self`, like a
    /// method of another crate.
    // Called through a pointer that the optimizer cannot see through, because it may rewrite the
    // signature of a function whose calls it sees.
    Method, "method";
    |records, decoder, sum| {
        let mut collector = Collector { decoder, sum: Sum::default() };
        let collect: fn(&mut Collector<'a, D>, D::Raw<'a>) = black_box(collect::<D, W, T>);
        for raw in records {
            collect(&mut collector, raw?);
        }
        sum.add(collector.sum.0);
        Ok(())
    }
}

/// Runs one pass of a decoder in a loop. This function is not inlined, and everything marked so is
/// inlined into it.
#[inline(never)]
pub fn pass<D: Decoder, L: Loop, W: Workload, T: Touch>(input: &mut Input) -> u64 {
    let (records, decoder) = D::open(input);
    run::<D, L, W, T>(records, decoder)
}

#[inline(always)]
fn run<'a, D: Decoder, L: Loop, W: Workload, T: Touch>(records: D::Records<'a>, decoder: &'a D) -> u64 {
    let mut sum = Sum::default();
    if L::run::<D, W, T>(records, decoder, &mut sum).is_err() {
        sum.refused();
    }
    sum.0
}

/// [`ForMatch`] with [`SampleLayout::specialize`].
#[inline(never)]
pub fn specialized<W: Workload, T: Touch>(input: &mut Input) -> u64 {
    struct Visitor<'a, R>(Window<'a>, &'a mut Scratch, std::marker::PhantomData<R>);

    impl<W: Workload, T: Touch> LayoutVisitor for Visitor<'_, (W, T)> {
        type Output = u64;

        fn visit<L: Layout>(self, layout: L) -> u64 {
            let mut sum = Sum::default();
            for raw in self.0.records(self.1) {
                match raw.and_then(|raw| raw.decode(layout)) {
                    Ok(record) => ours::read::<W, T, L>(&mut sum, &record),
                    Err(_) => sum.refused(),
                }
            }
            sum.0
        }
    }

    let (window, layout, scratch) = input.window();
    layout.specialize(Visitor(window, scratch, std::marker::PhantomData::<(W, T)>))
}

/// Reads the head view of samples and the time of other records, without decoding.
#[inline(always)]
fn heads<W: Workload, L: Layout>(window: Window<'_>, scratch: &mut Scratch, layout: L) -> u64 {
    let mut sum = Sum::default();
    for raw in window.records(scratch) {
        let Ok(raw) = raw else {
            sum.refused();
            break;
        };
        if raw.kind() == RecordType::SAMPLE {
            match raw.sample_head(layout) {
                Ok(head) => {
                    sum.add_some(head.ip());
                    sum.add_some(head.time());
                }
                Err(_) => sum.refused(),
            }
        } else if W::SIDE_BAND {
            sum.add_some(raw.time(layout));
        }
    }
    sum.0
}

#[inline(never)]
pub fn head<W: Workload>(input: &mut Input) -> u64 {
    let (window, layout, scratch) = input.window();
    heads::<W, &SampleLayout>(window, scratch, layout)
}

#[inline(never)]
pub fn constant_head<W: Workload>(input: &mut Input) -> u64 {
    let (window, _, scratch) = input.window();
    heads::<W, _>(window, scratch, ours::Constant::<W>::LAYOUT)
}

/// Name of the loops that read only kinds and sizes.
pub const FRAMING: &str = "framing";

#[inline(never)]
pub fn framing(input: &mut Input) -> u64 {
    let (window, _, scratch) = input.window();
    let mut sum = Sum::default();
    for raw in window.records(scratch) {
        match raw {
            Ok(raw) => {
                sum.add(raw.kind().0);
                sum.add(raw.size() as u64);
            }
            Err(_) => sum.refused(),
        }
    }
    sum.0
}

#[inline(never)]
pub fn framing_plan(input: &mut Input) -> u64 {
    let mut sum = Sum::default();
    for words in plan::Frames(input.words()).flatten() {
        sum.add(words.first().map_or(0, |&header| header as u32));
        sum.add(words.len() as u64 * 8);
    }
    sum.0
}

#[inline(never)]
pub fn framing_by_hand(input: &mut Input) -> u64 {
    let mut sum = Sum::default();
    for Ok(record) in Pointers::new(input.words()) {
        sum.add(record.kind());
        sum.add(record.size() as u64);
    }
    sum.0
}
