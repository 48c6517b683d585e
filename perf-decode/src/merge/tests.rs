use std::vec;
use std::vec::Vec;

use super::*;

type Items = vec::IntoIter<(u64, u64)>;
type Owned<I> = Merge<I, Vec<Source<I>>, Vec<Option<Buffered<u64>>>>;

/// Returns a merge of streams whose items are their times.
fn merge(streams: &[&[u64]], slots: usize, lateness: u64) -> Owned<Items> {
    let stream = |times: &&[u64]| times.iter().map(|&time| (time, time)).collect::<Vec<_>>().into_iter();
    Merge::new(streams.iter().map(stream).map(Source::new).collect(), vec![None; slots], lateness)
}

/// Merges times and returns them with the counts of the late and the early ones.
fn merged(streams: &[&[u64]], slots: usize, lateness: u64) -> (Vec<u64>, u64, u64) {
    let mut merge = merge(streams, slots, lateness);
    let times = merge.by_ref().map(|(time, _)| time).collect();
    (times, merge.late(), merge.early())
}

/// Returns a source that can be refilled.
fn queue<const N: usize>(times: [u64; N]) -> Source<Items> {
    Source::new(Vec::from(times.map(|time| (time, time))).into_iter())
}

fn refill<const N: usize>(merge: &mut Owned<Items>, index: usize, times: [u64; N]) {
    *merge.sources_mut()[index].stream_mut() = queue(times).stream;
}

fn round(merge: &mut Owned<Items>, until: u64) -> Vec<u64> {
    merge.start_round(until);
    merge.by_ref().map(|(time, _)| time).collect()
}

#[test]
fn ordered_streams_need_no_buffer() {
    let streams: &[&[u64]] = &[&[1, 4, 7, 8], &[2, 5], &[3, 6, 9]];
    assert_eq!(merged(streams, 0, 0), ((1..10).collect(), 0, 0));
}

#[test]
fn an_inversion_within_the_lateness_is_put_in_order() {
    assert_eq!(merged(&[&[10, 30, 25, 40], &[20]], 8, 5), (vec![10, 20, 25, 30, 40], 0, 0));
}

#[test]
fn an_inversion_beyond_the_lateness_is_delivered_and_counted() {
    assert_eq!(merged(&[&[10, 30, 31, 5, 40]], 8, 0), (vec![10, 30, 31, 5, 40], 1, 0));
    assert_eq!(merged(&[&[10, 30, 36, 24, 40]], 8, 5), (vec![10, 30, 24, 36, 40], 1, 0));
}

#[test]
fn without_slots_uncertain_items_are_delivered_early_and_none_is_lost() {
    assert_eq!(merged(&[&[10, 20, 30], &[1, 2, 3]], 0, 100), (vec![1, 2, 3, 10, 20, 30], 0, 5));
    assert_eq!(merged(&[&[10, 8, 9, 30]], 0, 5), (vec![10, 8, 9, 30], 2, 2));
}

#[test]
fn a_full_buffer_delivers_the_earliest_item_and_stays_in_order() {
    let times: Vec<u64> = (0..64).map(|index| index * 29 % 64).collect();
    let (found, _, early) = merged(&[&times], 63, 100);
    assert_eq!((found, early), ((0..64).collect(), 0));
    // From the third item on the slots are taken, and the least of it and the two buffered ones
    // goes out.
    assert_eq!(merged(&[&[5, 7, 3, 9, 1]], 2, 100), (vec![3, 5, 1, 7, 9], 1, 2));
}

#[test]
fn an_item_is_not_early_if_its_arrival_made_another_certain() {
    // 200 finds the slot taken and makes 10 certain.
    assert_eq!(merged(&[&[10, 200, 400]], 1, 100), (vec![10, 200, 400], 0, 0));
    // 50 does not: an item with time 9 could follow.
    assert_eq!(merged(&[&[10, 50, 9]], 1, 100), (vec![10, 9, 50], 1, 1));
}

#[test]
fn empty_streams_are_skipped() {
    assert_eq!(merged(&[&[], &[1, 2], &[]], 4, 9), (vec![1, 2], 0, 0));
    assert_eq!(merged(&[&[], &[1, 2], &[]], 0, 0), (vec![1, 2], 0, 0));
    assert_eq!(merged(&[&[], &[]], 0, 0), (vec![], 0, 0));
    assert_eq!(merged(&[], 4, 9), (vec![], 0, 0));
}

#[test]
fn items_of_the_same_time_are_in_the_order_of_their_sources() {
    for lateness in [0, 10] {
        let sources = [[(5, 'a'), (5, 'b')], [(4, 'x'), (5, 'c')], [(5, 'd'), (5, 'e')]];
        let merge = Merge::new(sources.map(|stream| Source::new(stream.into_iter())), [None; 8], lateness);
        assert_eq!(merge.map(|(_, item)| item).collect::<Vec<_>>(), ['x', 'a', 'b', 'c', 'd', 'e']);
    }
}

#[test]
fn two_sources_of_the_same_times_do_not_take_turns() {
    let sources = [[(5, 'a'), (5, 'b')], [(5, 'c'), (5, 'd')]].map(|stream| Source::new(stream.into_iter()));
    let mut merge = Merge::new(sources, [None; 0], 0);
    assert_eq!([(); 4].map(|()| merge.next().map(|(_, item)| item)), ['a', 'b', 'c', 'd'].map(Some));
}

#[test]
fn the_latest_possible_times_are_merged_too() {
    let last = u64::MAX;
    assert_eq!(merged(&[&[last - 5, last, last - 9]], 4, 9), (vec![last - 9, last - 5, last], 0, 0));
    for lateness in [0, 9] {
        assert_eq!(
            merged(&[&[last - 1, last], &[last], &[]], 4, lateness),
            (vec![last - 1, last, last], 0, 0)
        );
    }
}

#[test]
fn an_ended_stream_is_called_again_only_in_the_next_round() {
    for lateness in [0, 5] {
        let mut asked = [0; 2];
        let [first, second] = &mut asked;
        let sources = [(first, 1..4_u64), (second, 2..3)].map(|(asked, mut times)| {
            Source::new(core::iter::from_fn(move || {
                let next = times.next();
                *asked += u32::from(next.is_none());
                next.map(|time| (time, ()))
            }))
        });
        let mut merge = Merge::new(sources, [None; 8], lateness);
        assert_eq!(merge.by_ref().count(), 4);
        assert!(merge.next().is_none() && merge.peek().is_none());
        merge.start_round(9);
        assert!(merge.next().is_none() && merge.next().is_none());
        assert_eq!(asked, [2, 2]);
    }
}

#[test]
fn later_items_stay_for_a_later_round() {
    for lateness in [0, 5] {
        let mut merge = merge(&[&[10, 30], &[]], 4, lateness);
        assert_eq!(round(&mut merge, 20), [10]);
        refill(&mut merge, 1, [15, 25, 35]);
        assert_eq!(round(&mut merge, 30), [15, 25, 30]);
        refill(&mut merge, 0, [32, 40]);
        assert_eq!(round(&mut merge, u64::MAX), [32, 35, 40]);
        assert_eq!((merge.late(), merge.early()), (0, 0));
    }
}

#[test]
fn an_item_that_an_earlier_round_should_have_had_is_late() {
    for lateness in [0, 5] {
        let mut merge = merge(&[&[10, 30], &[]], 4, lateness);
        assert_eq!(round(&mut merge, 30), [10, 30]);
        refill(&mut merge, 1, [20, 40]);
        refill(&mut merge, 0, [29]);
        assert_eq!(round(&mut merge, 50), [20, 29, 40]);
        assert_eq!(merge.late(), 2);
    }
}

#[test]
fn a_full_buffer_delivers_nothing_after_the_end_of_the_round() {
    let mut merge = merge(&[&[10, 22, 21, 12, 40]], 1, 5);
    assert_eq!(round(&mut merge, 20), [10]);
    assert_eq!(round(&mut merge, 50), [21, 12, 22, 40]);
    assert_eq!((merge.late(), merge.early()), (1, 1));
}

#[test]
fn a_peeked_item_stays() {
    for (slots, lateness) in [(0, 0), (0, 9), (1, 9), (8, 9)] {
        let streams: &[&[u64]] = &[&[1, 4, 3, 20], &[2, 5, 30]];
        let expected = merged(streams, slots, lateness);
        let mut merge = merge(streams, slots, lateness);
        let mut found = vec![];
        while let Some(&peeked) = merge.peek() {
            assert_eq!(merge.peek(), Some(&peeked));
            assert_eq!(merge.next_if(|item| *item != peeked), None);
            assert_eq!(merge.next_if(|item| *item == peeked), Some(peeked));
            found.push(peeked.0);
        }
        assert_eq!((found, merge.late(), merge.early()), expected);
    }
}

#[test]
fn a_new_merge_continues_with_what_an_earlier_one_left() {
    for lateness in [0, 100] {
        let mut parts = merge(&[&[1, 4, 7, 8], &[2, 5], &[3, 6, 9]], 9, lateness).into_parts();
        for time in 1..10 {
            let mut merge = Merge::new(&mut parts.0[..], &mut parts.1[..], lateness);
            assert_eq!(merge.next().map(|(time, _)| time), Some(time));
            merge.peek();
        }
        let (head, stream) = parts.0.swap_remove(0).into_parts();
        assert_eq!((head, stream.len()), (None, 0));
    }
}

#[test]
fn sources_can_be_added() {
    let mut merge = merge(&[&[10, 20]], 0, 0);
    assert_eq!(merge.next(), Some((10, 10)));
    merge.sources_mut().insert(0, queue([15, 25]));
    assert_eq!(merge.map(|(time, _)| time).collect::<Vec<_>>(), [15, 20, 25]);
}

#[test]
fn drain_and_next_alternate_without_a_loss() {
    let streams: &[&[u64]] = &[&[1, 4, 5, 6, 3, 20], &[2, 5, 30, 31, 32]];
    for (count, lateness) in [(1, 0), (2, 0), (1, 9), (2, 9)] {
        let expected = merged(&streams[..count], 3, lateness);
        for breaks in 1..5 {
            let mut merge = merge(&streams[..count], 3, lateness);
            let mut found = vec![];
            loop {
                let until = found.len() + breaks;
                let flow = merge.drain(|(time, _)| {
                    found.push(time);
                    if found.len() == until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                found.extend(merge.next().map(|(time, _)| time));
                if flow.is_continue() {
                    break;
                }
            }
            assert_eq!((found, merge.late(), merge.early()), expected);
        }
    }
}

#[test]
fn a_late_item_of_the_other_source_is_late_after_a_run_of_this_one() {
    let mut merge = merge(&[&[5], &[10, 3, 30]], 0, 0);
    assert_eq!((merge.next(), merge.next()), (Some((5, 5)), Some((10, 10))));
    refill(&mut merge, 0, [10, 20]);
    assert_eq!(merge.by_ref().map(|(time, _)| time).collect::<Vec<_>>(), [10, 3, 20, 30]);
    assert_eq!((merge.late(), merge.early()), (1, 0));
}

#[test]
fn drain_delivers_nothing_after_the_end_of_the_round() {
    let streams: [&[u64]; 2] = [&[10, 30], &[15, 40]];
    for streams in [streams, [streams[1], streams[0]]] {
        let mut merge = merge(&streams, 0, 0);
        for (until, expected) in [(20, &[10, 15][..]), (30, &[30]), (50, &[40])] {
            let mut found = vec![];
            merge.start_round(until);
            let flow: ControlFlow<()> = merge.drain(|(time, _)| {
                found.push(time);
                ControlFlow::Continue(())
            });
            assert_eq!((flow, &found[..]), (ControlFlow::Continue(()), expected), "{streams:?}");
        }
    }
}

#[test]
fn buffered_items_of_the_same_time_keep_their_order_in_a_new_merge() {
    let items = vec![(5, 0), (7, 1), (7, 2)].into_iter();
    let mut merge: Owned<Items> = Merge::new(vec![Source::new(items)], vec![None; 2], 100);
    // The third item takes the slot of the first one, before the second.
    assert_eq!(merge.next(), Some((5, 0)));
    let (sources, buffer) = merge.into_parts();
    assert_eq!(Merge::new(sources, buffer, 100).collect::<Vec<_>>(), [(7, 1), (7, 2)]);
}

#[test]
fn drain_counts_the_late_items_of_both_sources() {
    let streams: [&[u64]; 2] = [&[1, 20, 25], &[2, 10, 3, 30]];
    for streams in [streams, [streams[1], streams[0]]] {
        let mut merge = merge(&streams, 0, 0);
        let mut found = vec![];
        let _: ControlFlow<()> = merge.drain(|(time, _)| {
            found.push(time);
            ControlFlow::Continue(())
        });
        assert_eq!((found, merge.late()), (vec![1, 2, 10, 3, 20, 25, 30], 1), "{streams:?}");
    }
}

#[test]
fn items_after_the_end_of_the_round_take_no_slot() {
    let mut merge = merge(&[&[10, 100], &[]], 1, 5);
    assert_eq!(round(&mut merge, 20), [10]);
    refill(&mut merge, 1, [30, 32, 31, 60]);
    // Were 100 in the slot, 32 would be delivered before 31.
    assert_eq!(round(&mut merge, 50), [30, 31, 32]);
    assert_eq!((merge.late(), merge.early()), (0, 1));
}

#[test]
fn without_lateness_no_slot_is_used() {
    let mut merge = merge(&[&[1, 4], &[2, 3]], 2, 0);
    for time in 1..4 {
        assert_eq!(merge.peek(), Some(&(time, time)));
        assert_eq!(merge.next(), Some((time, time)));
    }
    merge.peek();
    assert!(merge.into_parts().1.iter().all(Option::is_none));
}
