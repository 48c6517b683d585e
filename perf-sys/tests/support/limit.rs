use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Puts the limit back, also when a test fails meanwhile.
struct Restore(Resource, Rlimit);

impl Drop for Restore {
    fn drop(&mut self) {
        setrlimit(self.0, self.1).unwrap();
    }
}

/// Does `work` while the process, all its threads, may have no more of `resource` than `most`.
pub(crate) fn with_limit<R>(resource: Resource, most: u64, work: impl FnOnce() -> R) -> R {
    let limit = getrlimit(resource);
    setrlimit(resource, Rlimit { current: Some(most), ..limit }).unwrap();
    let _restore = Restore(resource, limit);
    work()
}
