//! Threads of this program.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread with this name, such as `perfkit-wait`.
pub(crate) fn start<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let started = Builder::new().name(name.to_owned()).spawn(run);
    started.map_err(|error| io::Error::new(error.kind(), format!("cannot start the thread {name}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_has_its_name() {
        let name = || std::thread::current().name().map(ToOwned::to_owned);
        assert_eq!(start("perfkit-test", name).unwrap().join().unwrap().as_deref(), Some("perfkit-test"));
    }
}
