//! Parses any text as a list of CPUs, prints it and combines it with another. Input: a text, and after a
//! NUL the other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_session::CpuList;

fn parse(text: &str) -> CpuList {
    match text.parse::<CpuList>() {
        Ok(list) => {
            assert!(list.as_slice().is_sorted_by(|cpu, next| cpu < next));
            assert!(list.iter().all(|cpu| cpu <= CpuList::MAX_CPU && list.contains(cpu)));
            assert_eq!(list.to_string().parse(), Ok(list.clone()));
            list
        }
        Err(error) => {
            assert!(error.offset <= text.len() && text.is_char_boundary(error.offset), "{error}");
            CpuList::default()
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (one, other) = text.split_once('\0').unwrap_or((&text, ""));
    let (one, other) = (parse(one), parse(other));
    let (both, only) = (one.intersection(&other), one.difference(&other));
    assert_eq!(both.len() + only.len(), one.len());
    assert_eq!(both.union(&only), one);
    assert_eq!(one.union(&other).len(), only.len() + other.len());
});
