//! Each test forks. The children exit without returning to the test harness.

use super::*;

/// Forks, and returns whether the child returned `true`, which it reports by its exit code.
pub(crate) fn in_child(test: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child does only what a signal handler may do, except that it may allocate, and
    // exits.
    match unsafe { libc::fork() } {
        0 => {
            let code = i32::from(!test());
            // SAFETY: ends the child without unwinding into the harness.
            unsafe { libc::_exit(code) }
        }
        child => {
            let mut status = -1;
            // SAFETY: the status is live.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            status == 0
        }
    }
}

fn number() -> Option<u64> {
    Generation::current().ok().map(|generation| generation.number)
}

#[test]
fn a_process_has_one_generation_and_its_child_another() {
    let own = Generation::current().unwrap();
    assert_eq!(number(), Some(own.number));
    assert!(own.is_current());
    assert!(in_child(|| !own.is_current() && number() > Some(own.number) && !own.is_current()));
    assert!(own.is_current(), "the child changed its copy only");
}

#[test]
fn generation_of_a_grandchild_is_new() {
    let own = Generation::current().unwrap();
    assert!(in_child(|| {
        let Ok(child) = Generation::current() else { return false };
        in_child(|| !own.is_current() && !child.is_current() && number() > Some(child.number))
    }));
}

#[test]
fn generation_of_a_grandchild_is_new_if_the_child_took_none() {
    let own = Generation::current().unwrap();
    assert!(in_child(|| in_child(|| !own.is_current() && number() > Some(own.number))));
}

#[test]
fn a_child_of_the_bare_system_call_is_recognized() {
    let own = Generation::current().unwrap();
    // SAFETY: without CLONE_VM it is fork, except that the C library's handlers do not run.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    let child = libc::pid_t::try_from(child).unwrap();
    if child == 0 {
        let code = i32::from(own.is_current());
        // SAFETY: ends the child without unwinding into the harness.
        unsafe { libc::_exit(code) }
    }
    let mut status = -1;
    // SAFETY: the status is live.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}

#[test]
fn handler_wipes_if_the_kernel_does_not() {
    Generation::current().unwrap();
    let keep = || {
        let marker = NonNull::from(known()?).cast();
        // SAFETY: the marker's page.
        unsafe { madvise(marker.as_ptr(), page_size(), Advice::LinuxKeepOnFork) }.ok()
    };
    // In a child, because neither can be undone.
    assert!(in_child(|| {
        let Ok(own) = Generation::current() else { return false };
        keep().is_some()
            && in_child(|| own.is_current())
            && wipe_by_handler().is_ok()
            && in_child(|| !own.is_current())
    }));
}

#[test]
fn threads_of_a_process_agree_on_its_generation() {
    let threads = [(); 4].map(|()| std::thread::spawn(number));
    let found = threads.map(|thread| thread.join().unwrap());
    assert_eq!(found, [number(); 4]);
}
