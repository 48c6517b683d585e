//! Streams of any times, merged with any number of slots, left and continued. Input: lateness, slots, streams,
//! then the times in turn.
#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use perf_decode::{Merge, Source};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let lateness = input.mostly(0xff);
    let slots = (input.word() % 64) as usize;
    let count = (input.word() % 16) as usize;
    let times = input.words();

    let mut streams = vec![Vec::new(); count];
    for (index, time) in times.iter().enumerate().take_while(|_| count > 0) {
        streams[index % count].push((*time, (index % count, index)));
    }
    // How much earlier than a preceding time of its own stream a time is.
    let inversion = |stream: &Vec<(u64, _)>| {
        let latest = stream.iter().scan(0, |latest, (time, _)| {
            *latest = (*latest).max(*time);
            Some(*latest - time)
        });
        latest.max().unwrap_or(0)
    };
    let in_order = streams.iter().map(inversion).max().unwrap_or(0) <= lateness;
    let mut expected: Vec<_> = streams.iter().flatten().map(|(_, item)| item.1).collect();

    let sources: Vec<_> = streams.into_iter().map(|stream| Source::new(stream.into_iter())).collect();
    let mut merge = Merge::new(sources, vec![None; slots], lateness);
    let mut stepwise = merge.clone();
    let merged: Vec<_> = merge.by_ref().collect();

    if in_order && merge.early() == 0 {
        assert_eq!(merge.late(), 0);
        assert!(merged.is_sorted_by_key(|(time, _)| *time), "{merged:?}");
    }
    let mut delivered: Vec<_> = merged.iter().map(|(_, item)| item.1).collect();
    delivered.sort_unstable();
    expected.sort_unstable();
    assert_eq!(delivered, expected, "an item was lost or delivered twice");

    let mut found = Vec::new();
    while let Some(&peeked) = stepwise.peek() {
        found.extend(stepwise.next());
        assert_eq!(found.last(), Some(&peeked));
        let until = found.len() + found.len() % 5;
        let _ = stepwise.drain(|item| {
            found.push(item);
            if found.len() < until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    assert_eq!((&found, stepwise.late(), stepwise.early()), (&merged, merge.late(), merge.early()));
});
