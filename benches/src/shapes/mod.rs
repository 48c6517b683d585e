//! Loops over a stream of records, each as a user could have written it. They differ in their control
//! flow only: the fields are read by `perfkit-benches-readers`.

mod callback;
mod closure;
mod collected;
mod for_match;
mod head;
mod if_let;
mod iterator;
mod method;
mod specialized;

use perf_decode::{SampleLayout, Scratch, Window};
use perfkit_benches_readers::collector::Elsewhere;
use perfkit_benches_readers::{Peer, Sum, Touch};

pub use callback::Callback;
pub use closure::Closure;
pub use collected::Collected;
pub use for_match::ForMatch;
pub use if_let::IfLet;
pub use iterator::Adaptors;
pub use method::Method;

pub(crate) use head::{framing, framing_by_hand, head};
pub(crate) use specialized::specialized;

/// One way to loop over all records. Every function returns the sum of what it read.
pub trait Shape {
    /// A letter and a few words.
    const NAME: &'static str;
    /// Allocations that the loop itself makes in one pass, whatever the decoder.
    const ALLOCATIONS: u64 = 0;

    /// Reads by hand.
    fn by_hand<W: Elsewhere<T>, T: Touch>(words: &[u64]) -> u64;

    /// Reads with perf-decode and a layout that is made at run time.
    fn run_time<W: Elsewhere<T>, T: Touch>(
        window: Window<'_>,
        scratch: &mut Scratch,
        layout: &SampleLayout,
    ) -> u64;

    /// Reads with perf-decode and the constant layout of the workload.
    fn constant<W: Elsewhere<T>, T: Touch>(window: Window<'_>, scratch: &mut Scratch) -> u64;

    /// Reads with another crate.
    fn peer<P: Peer, W: Elsewhere<T>, T: Touch>(bytes: &[u8], config: &P::Config) -> u64;
}

/// The sum, or one that equals no other.
#[inline(always)]
fn or_refused<E>(sum: std::result::Result<u64, E>) -> u64 {
    sum.unwrap_or_else(|_| {
        let mut sum = Sum::default();
        sum.refused();
        sum.0
    })
}
