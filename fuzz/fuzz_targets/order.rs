//! Calls of `Heads` in any order, against a naive search. Input: the number of slots, then for each call its kind and
//! source in one word, and a time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_decode::{Head, Heads};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let slots = (input.word() % 32) as usize;
    let (mut heads, mut naive) = (Heads::new(vec![Head::default(); slots]), Vec::<(u64, usize)>::new());
    for call in input.words().chunks_exact(2) {
        let (kind, source, time) = (call[0] % 4, (call[0] >> 2) as usize % 64, call[1]);
        match kind {
            0 if naive.iter().any(|&(_, other)| other == source) => {}
            0 => {
                assert_eq!(heads.insert(source, time), naive.len() <= slots);
                naive.extend((naive.len() <= slots).then_some((time, source)));
            }
            _ => {
                let next = (kind != 1).then_some(time);
                heads.advance(next);
                if let Some(first) = naive.iter().copied().min() {
                    naive.retain(|&other| other != first);
                    naive.extend(next.map(|time| (time, first.1)));
                }
            }
        }
        naive.sort_unstable();
        assert_eq!(heads.time().zip(heads.first()), naive.first().copied());
        if let Some(&(second, source)) = naive.get(1) {
            assert_eq!(heads.bound(), second - u64::from(source < naive[0].1));
        }
    }
});
