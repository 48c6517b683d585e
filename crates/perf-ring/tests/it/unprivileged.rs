//! Events that an unprivileged user may open, and the errors of the others.

use crate::prelude::*;

#[test]
fn unprivileged_user_counts_user_space() {
    as_nobody(|level| {
        if level > 2 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let Some(event) = own(&faults()) else { return };
        assert!(Count::measure(&event, || touch(8)).unwrap().1.value >= 8);
    });
}

#[test]
fn error_of_counting_the_kernel_names_its_cause() {
    as_nobody(|level| {
        if level < 2 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let attr = Attr::software(Software::PAGE_FAULTS);
        let error = Event::open(&attr, Target::calling_thread()).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EACCES));
        assert!(Error::from(error).to_string().contains("the kernel side above level 1"), "{error}");
    });
}

#[test]
fn error_of_counting_a_cpu_names_its_cause() {
    as_nobody(|level| {
        if level < 1 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let error = Event::open(&faults(), Target::cpu(0)).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EACCES));
        assert!(Error::from(error).to_string().contains("perf_event_paranoid"), "{error}");
    });
}

#[test]
fn error_of_counting_another_users_task_names_its_cause() {
    let child = Waiting::spawn();
    let pid = child.pid();
    as_nobody(move |_| {
        let error = Event::open(&faults(), Target::thread(pid)).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EACCES));
        assert!(Error::from(error).to_string().contains("another user's task"), "{error}");
    });
    assert!(child.go().success());
}

#[test]
fn error_of_raw_tracepoint_data_names_its_cause() {
    let Some(attr) = tracepoint("sched/sched_switch") else { return };
    as_nobody(move |level| {
        if level < 0 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let attr = user_side(attr.with_sample_type(SampleType::RAW));
        let error = Event::open(&attr, Target::calling_thread()).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EPERM));
        assert!(Error::from(error).to_string().contains("raw tracepoint data"), "{error}");
    });
}
