//! Panics of the libraries that read the files of others.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs a library over the bytes of others. `None` if it panicked. What it has changed is no longer used then.
pub(crate) fn caught<T>(read: impl FnOnce() -> T) -> Option<T> {
    let is_caught_outside = IS_CAUGHT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    IS_CAUGHT.set(is_caught_outside);
    result.ok()
}

/// Returns whether a panic of this thread is caught here and counted, so that a panic hook need not print it.
///
/// Libraries that read debug information can panic at bytes which somebody made up. [`NameCounts`](crate::NameCounts) and
/// [`NoUnwindInfo`](crate::NoUnwindInfo) have the results; the standard hook prints the panic all the same.
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
