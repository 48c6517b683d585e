//! Loops over the items that need no match. They hold the merge's state in registers.

use core::ops::ControlFlow;

use super::Source;
use super::source::next_item;

/// Adds the items of one source whose times are `delivered..=bound`, up to the first other one.
#[inline]
pub(super) fn single<I, T, A, X>(
    source: &mut Source<I>,
    delivered: &mut u64,
    bound: u64,
    mut sum: A,
    add: &mut impl FnMut(A, (u64, T)) -> ControlFlow<X, A>,
) -> ControlFlow<X, A>
where
    I: Iterator<Item = (u64, T)>,
{
    let mut latest = *delivered;
    let end = loop {
        let Some(item) = next_item!(source.stream) else {
            source.ended = true;
            break ControlFlow::Continue(sum);
        };
        if item.0 < latest || item.0 > bound {
            source.head = Some(item);
            break ControlFlow::Continue(sum);
        }
        latest = item.0;
        match add(sum, item) {
            ControlFlow::Continue(next) => sum = next,
            end @ ControlFlow::Break(_) => break end,
        }
    };
    (source.latest, *delivered) = (latest, latest);
    end
}

/// Adds the items of two sources in order, as long as both have one and none is late or after
/// `until`.
#[inline]
pub(super) fn pair<I, T, A, X>(
    sources: [&mut Source<I>; 2],
    delivered: &mut u64,
    until: u64,
    mut sum: A,
    add: &mut impl FnMut(A, (u64, T)) -> ControlFlow<X, A>,
) -> ControlFlow<X, A>
where
    I: Iterator<Item = (u64, T)>,
{
    let [first, second] = sources;
    let (mut a, mut b) = match (first.next(), second.next()) {
        (Some(a), Some(b)) => (a, b),
        heads => {
            (first.head, second.head) = heads;
            return ControlFlow::Continue(sum);
        }
    };
    let mut latest = *delivered;
    // One arm for each source keeps the heads in registers.
    let (heads, end) = loop {
        if a.0 <= b.0 && latest <= a.0 && a.0 <= until {
            (first.latest, latest) = (a.0, a.0);
            match add(sum, a) {
                ControlFlow::Continue(next) => sum = next,
                end @ ControlFlow::Break(_) => break ((None, Some(b)), end),
            }
            let Some(next) = next_item!(first.stream) else {
                first.ended = true;
                break ((None, Some(b)), ControlFlow::Continue(sum));
            };
            a = next;
        } else if b.0 < a.0 && latest <= b.0 && b.0 <= until {
            (second.latest, latest) = (b.0, b.0);
            match add(sum, b) {
                ControlFlow::Continue(next) => sum = next,
                end @ ControlFlow::Break(_) => break ((Some(a), None), end),
            }
            let Some(next) = next_item!(second.stream) else {
                second.ended = true;
                break ((Some(a), None), ControlFlow::Continue(sum));
            };
            b = next;
        } else {
            break ((Some(a), Some(b)), ControlFlow::Continue(sum));
        }
    };
    (first.head, second.head) = heads;
    *delivered = latest;
    end
}
