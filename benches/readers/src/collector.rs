//! Methods that are handed one record at a time and keep layout and sum in `self`.
//!
//! They are compiled in this crate: a generic method would be compiled in its caller's, where the
//! optimizer may rewrite the signature of a function whose calls it sees.

use perf_decode::{Layout, RawRecord, Record, SampleLayout};

use crate::by_hand::{ByHand, Pointer};
use crate::ours::Constant;
use crate::workload::{Callchain, Fixed, Group, Mix, Raw, SideBand, Stack};
use crate::{All, Few, Peer, Sum, Touch, Views, Workload, ours};

/// A decoder's layout or configuration, and the sum of the records so far.
#[derive(Default)]
pub struct Collector<L> {
    layout: L,
    sum: Sum,
}

impl<L> Collector<L> {
    /// A collector without records.
    pub fn new(layout: L) -> Self {
        Self { layout, sum: Sum::default() }
    }

    /// Returns the sum of all records so far.
    pub fn sum(&self) -> u64 {
        self.sum.0
    }
}

/// A workload with the methods that read its records.
pub trait Elsewhere<T: Touch>: ByHand {
    /// Reads one record by hand.
    fn by_hand(collector: &mut Collector<()>, record: Pointer);

    /// Reads one record with a layout that is made at run time.
    fn run_time(collector: &mut Collector<SampleLayout>, record: RawRecord<'_>);

    /// Reads one record with a constant layout.
    fn constant(collector: &mut Collector<Constant<Self>>, record: RawRecord<'_>);

    /// Reads one record with another crate. Compiled in the caller's crate, for decoding dwarfs the call.
    #[inline(never)]
    fn peer<P: Peer>(collector: &mut Collector<P::Config>, record: &[u8]) {
        match P::decode(record, &collector.layout) {
            Some(record) => P::read::<Self, T>(&mut collector.sum, &record),
            None => collector.sum.refused(),
        }
    }
}

#[inline(always)]
fn decode<W: Workload, T: Touch, L: Layout>(sum: &mut Sum, layout: L, record: RawRecord<'_>) {
    match record.decode(layout) {
        Ok(Record::Sample(sample)) => ours::sample::<W, T, L>(sum, &sample),
        Ok(other) => ours::other::<W, T, L>(sum, &other),
        Err(_) => sum.refused(),
    }
}

macro_rules! elsewhere {
    ($($workload:ident $touch:ident,)*) => {$(
        impl Elsewhere<$touch> for $workload {
            #[inline(never)]
            fn by_hand(collector: &mut Collector<()>, record: Pointer) {
                // SAFETY: the caller's pointers are to whole records of this workload.
                unsafe { Self::read::<$touch>(&mut collector.sum, record) }
            }

            #[inline(never)]
            fn run_time(collector: &mut Collector<SampleLayout>, record: RawRecord<'_>) {
                decode::<Self, $touch, _>(&mut collector.sum, &collector.layout, record);
            }

            #[inline(never)]
            fn constant(collector: &mut Collector<Constant<Self>>, record: RawRecord<'_>) {
                decode::<Self, $touch, _>(&mut collector.sum, collector.layout, record);
            }
        }
    )*};
}

elsewhere! {
    Fixed Few, Fixed All, Fixed Views,
    Callchain Few, Callchain All, Callchain Views,
    Stack Few, Stack All, Stack Views,
    Raw Few, Raw All, Raw Views,
    Group Few, Group All, Group Views,
    SideBand Few, SideBand All, SideBand Views,
    Mix Few, Mix All, Mix Views,
}
