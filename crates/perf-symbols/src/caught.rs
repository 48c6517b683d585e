//! Catches panics of the libraries that parse untrusted files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `read`, which parses untrusted bytes with a library. Returns `None` if it panicked; do not
/// use the state that it changed after that.
pub(crate) fn caught<T>(read: impl FnOnce() -> T) -> Option<T> {
    let is_caught_outside = IS_CAUGHT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    IS_CAUGHT.set(is_caught_outside);
    result.ok()
}

/// Returns true while this thread runs a library whose panics this crate catches and counts, so
/// that a panic hook can skip them.
///
/// Libraries that read debug information can panic on crafted bytes. The panic shows up in
/// [`NameCounts`](crate::NameCounts) or [`NoUnwindInfo`](crate::NoUnwindInfo), but the standard
/// hook prints it all the same.
///
/// ```
/// let print = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !perf_symbols::is_panic_caught() {
///         print(panic);
///     }
/// }));
/// ```
pub fn is_panic_caught() -> bool {
    IS_CAUGHT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_is_caught_within_the_call_only() {
        assert!(!is_panic_caught());
        assert_eq!(caught(is_panic_caught), Some(true));
        let nested = || (caught(|| -> () { panic!("on purpose") }), is_panic_caught());
        assert_eq!(caught(nested), Some((None, true)));
        assert!(!is_panic_caught());
    }
}
