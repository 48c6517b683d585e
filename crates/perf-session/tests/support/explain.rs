//! Events that are refused, and why.

use std::thread;

use perf_session::ring::{Attr, AttrFlags, Errno, Error, Event, Software, Target};
use perf_session::{Cause, Diagnosis, FailedOpen, System, trial_of};
use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;

use super::skip;

/// The user `nobody`.
const NOBODY: u32 = 65534;

/// An event that an unprivileged user may open for itself.
pub(crate) const OWN: Attr =
    Attr::software(Software::PAGE_FAULTS).with_flags(AttrFlags::EXCLUDE_KERNEL.union(AttrFlags::EXCLUDE_HV));

/// Returns whether this process may open events at all. If not, prints the reason.
#[track_caller]
pub(crate) fn may_open() -> bool {
    match Event::open(&OWN, Target::calling_thread()) {
        Ok(_) => true,
        Err(error) => {
            skip(error);
            false
        }
    }
}

/// Opens the event, which must fail, and explains that by trial. `None` if the kernel accepts it.
pub(crate) fn refused(attr: &Attr, target: Target<'_>) -> Option<(Error, Diagnosis)> {
    let error = Error::from(Event::open(attr, target).err()?);
    let failed = FailedOpen::new(error, attr, target);
    Some((error, failed.explain_by_trial(&System::new(), trial_of(None))))
}

/// Asserts the errno, the cause, and that words are in the three lines.
#[track_caller]
pub(crate) fn assert_refused(attr: &Attr, target: Target<'_>, errno: Errno, cause: Cause, words: &[&str]) {
    let Some((error, explanation)) = refused(attr, target) else {
        panic!("the kernel accepts {attr:?}");
    };
    assert_eq!(error.errno(), Some(errno), "{error}\n{explanation}");
    assert_explains(&explanation, cause, words);
}

/// Asserts the cause, and that words are in the three lines.
#[track_caller]
pub(crate) fn assert_explains(explanation: &Diagnosis, cause: Cause, words: &[&str]) {
    let text = explanation.to_string();
    assert_eq!(explanation.cause, cause, "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
}

/// Runs `test` as `nobody` on a new thread. Skips it unless root runs the tests, because other
/// users may have capabilities.
#[track_caller]
pub(crate) fn as_nobody(test: impl FnOnce() + Send) {
    if !geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody");
    }
    if !may_open() {
        return;
    }
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let nobody = Uid::from_raw(NOBODY);
            // Make the system call directly, because the C library's function changes all threads.
            match set_thread_res_uid(nobody, nobody, nobody) {
                Ok(()) => test(),
                Err(error) => skip(format_args!("becoming nobody: {error}")),
            }
        });
        thread.join().unwrap();
    });
}
