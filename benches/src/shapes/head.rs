//! Loops that decode nothing: for the times and addresses alone, and for kinds and sizes.

use perf_abi::RecordType;
use perf_decode::{Layout, Scratch, Window};
use perfkit_benches_readers::by_hand::Pointers;
use perfkit_benches_readers::{Sum, Workload};

/// The head view of samples and the time of others.
#[inline(always)]
pub(crate) fn head<W: Workload, L: Layout>(window: Window<'_>, scratch: &mut Scratch, layout: L) -> u64 {
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

/// Kinds and sizes with perf-decode.
#[inline(always)]
pub(crate) fn framing(window: Window<'_>, scratch: &mut Scratch) -> u64 {
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

/// Kinds and sizes by hand.
#[inline(always)]
pub(crate) fn framing_by_hand(words: &[u64]) -> u64 {
    let mut sum = Sum::default();
    for record in Pointers::new(words) {
        sum.add(record.kind());
        sum.add(record.size() as u64);
    }
    sum.0
}
