//! The merge by hand.

use crate::add;
use crate::streams::Stream;

/// What a tracer writes: one loop, a comparison of two heads, or a search of the least and of the second,
/// below which the stream is read on.
#[inline(never)]
pub(crate) fn by_hand<I: Stream>(streams: &mut [I]) -> u64 {
    let mut sum = 0;
    match streams {
        [only] => {
            let mut only = only.clone();
            while let Some(time) = only.time() {
                let Some(payload) = only.pop() else { break };
                sum = add(sum, (time, payload));
            }
        }
        [first, second] => {
            let (mut a, mut b) = (first.clone(), second.clone());
            loop {
                let first_goes = match (a.time(), b.time()) {
                    (Some(a), Some(b)) => a <= b,
                    (Some(_), None) => true,
                    (None, Some(_)) => false,
                    (None, None) => break,
                };
                if first_goes {
                    let Some((time, payload)) = a.time().zip(a.pop()) else { break };
                    sum = add(sum, (time, payload));
                } else {
                    let Some((time, payload)) = b.time().zip(b.pop()) else { break };
                    sum = add(sum, (time, payload));
                }
            }
        }
        all => loop {
            let (mut least, mut second) = ((u64::MAX, usize::MAX), u64::MAX);
            for (index, stream) in all.iter().enumerate() {
                let Some(time) = stream.time() else { continue };
                if time < least.0 {
                    second = least.0;
                    least = (time, index);
                } else {
                    second = second.min(time);
                }
            }
            let Some(stream) = all.get_mut(least.1) else { break };
            while let Some(time) = stream.time().filter(|time| *time < second) {
                let Some(payload) = stream.pop() else { break };
                sum = add(sum, (time, payload));
            }
        },
    }
    sum
}
