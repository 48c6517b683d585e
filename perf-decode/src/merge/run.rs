//! Loops over the items that need no match. They hold the merge's state in registers.

use core::ops::ControlFlow;

use super::Source;

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
        let Some(item) = source.stream.next() else {
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
    let (mut head, mut other) = (first.next(), second.next());
    let mut latest = (first.latest, second.latest, *delivered);
    // One arm for each source keeps the heads in registers.
    let end = loop {
        match (head, other) {
            (Some(a), Some(b)) if a.0 <= b.0 && latest.2 <= a.0 && a.0 <= until => {
                (head, other) = (None, Some(b));
                (latest.0, latest.2) = (a.0, a.0);
                match add(sum, a) {
                    ControlFlow::Continue(next) => sum = next,
                    end @ ControlFlow::Break(_) => break end,
                }
                head = first.stream.next();
            }
            (Some(a), Some(b)) if b.0 < a.0 && latest.2 <= b.0 && b.0 <= until => {
                (head, other) = (Some(a), None);
                (latest.1, latest.2) = (b.0, b.0);
                match add(sum, b) {
                    ControlFlow::Continue(next) => sum = next,
                    end @ ControlFlow::Break(_) => break end,
                }
                other = second.stream.next();
            }
            heads => {
                (head, other) = heads;
                (first.ended, second.ended) = (head.is_none(), other.is_none());
                break ControlFlow::Continue(sum);
            }
        }
    };
    (first.head, second.head) = (head, other);
    (first.latest, second.latest, *delivered) = latest;
    end
}
