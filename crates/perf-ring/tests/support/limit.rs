//! Resource limits for a test.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Restores the limit when dropped, also when a test fails.
struct Restore(Resource, Rlimit);

impl Drop for Restore {
    fn drop(&mut self) {
        setrlimit(self.0, self.1).unwrap();
    }
}

/// Runs `work` while the limit of the process for `resource` is `most`.
pub(crate) fn with_limit<R>(resource: Resource, most: u64, work: impl FnOnce() -> R) -> R {
    let limit = getrlimit(resource);
    setrlimit(resource, Rlimit { current: Some(most), ..limit }).unwrap();
    let _restore = Restore(resource, limit);
    work()
}
