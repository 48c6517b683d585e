//! Streams of any times, merged in any room. Input: lateness, room, streams, then the times in turn.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_decode::{Merge, Source};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let lateness = input.mostly(0xff);
    let room = (input.word() % 64) as usize;
    let count = (input.word() % 16) as usize;
    let times = input.words();

    let mut streams = vec![Vec::new(); count];
    for (index, time) in times.iter().enumerate().take_while(|_| count > 0) {
        streams[index % count].push((*time, (index % count, index)));
    }
    // How far behind a later time of its own stream a time comes.
    let inversion = |stream: &Vec<(u64, _)>| {
        let latest = stream.iter().scan(0, |latest, (time, _)| {
            *latest = (*latest).max(*time);
            Some(*latest - time)
        });
        latest.max().unwrap_or(0)
    };
    let in_order = streams.iter().map(inversion).max().unwrap_or(0) <= lateness;
    let mut expected: Vec<_> = streams.iter().flatten().map(|(_, thing)| thing.1).collect();

    let mut sources: Vec<_> = streams.into_iter().map(|stream| Source::new(stream.into_iter())).collect();
    let mut waiting = vec![None; room];
    let mut merge = Merge::new(&mut sources, &mut waiting, lateness);
    let merged: Vec<_> = merge.by_ref().collect();

    if in_order && merge.early() == 0 {
        assert_eq!(merge.late(), 0);
        assert!(merged.is_sorted_by_key(|(time, _)| *time), "{merged:?}");
    }
    let mut delivered: Vec<_> = merged.iter().map(|(_, thing)| thing.1).collect();
    delivered.sort_unstable();
    expected.sort_unstable();
    assert_eq!(delivered, expected, "something was lost or came twice");
});
