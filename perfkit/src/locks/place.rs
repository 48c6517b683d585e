//! The function that takes a lock: the innermost one that is not a part of the lock itself.

use perf_profile::{LocationId, Profile, StackId};

use crate::out::message::file_name;

/// Functions of the kernel that are parts of locks, by the start of their names.
const KERNEL: [&str; 30] = [
    "__bpf_trace",
    "__down",
    "__lock_",
    "__mutex",
    "__percpu_down",
    "__pte_offset_map_lock",
    "__pv_queued",
    "__raw_",
    "__rt_",
    "__schedule",
    "__task_rq_lock",
    "__traceiter",
    "__up_",
    "_raw_",
    "do_raw_",
    "down_",
    "mutex_",
    "native_queued",
    "osq_lock",
    "percpu_",
    "perf_trace",
    "pv_queued",
    "queued_",
    "raw_spin_",
    "rt_mutex",
    "rwsem_",
    "schedule",
    "trace_contention",
    "up_read",
    "up_write",
];

/// Functions of user space that are parts of locks, by the start of their names.
const USER: [&str; 16] = [
    "<std::",
    "__gthread",
    "__lll_",
    "__pthread_",
    "alloc::",
    "core::",
    "futex",
    "lll_",
    "parking_lot",
    "pthread_",
    "std::condition",
    "std::mutex",
    "std::sync::",
    "std::sys::",
    "std::thread::",
    "syscall",
];

/// Libraries whose functions wait for the program, by the start of their names.
const LIBRARIES: [&str; 6] = ["ld-", "libc.", "libc-", "libpthread", "libstdc++", "libc++"];

/// Returns the functions of a stack, innermost first, each with whether it is in the kernel.
pub(super) fn functions(profile: &Profile, stack: Option<StackId>) -> Vec<(String, bool)> {
    let locations = profile.locations();
    profile
        .stack(stack)
        .flat_map(|id| names(profile, id).into_iter().map(move |name| (name, locations.get(id).is_kernel)))
        .collect()
}

/// Returns the functions of a location, innermost first; its object in brackets without a name.
fn names(profile: &Profile, id: LocationId) -> Vec<String> {
    let locations = profile.locations();
    let frames = locations.frames(id);
    if frames.is_empty() {
        return vec![format!("[{}]", file_name(locations.object_path(id)))];
    }
    frames.iter().map(|frame| locations.function_name(frame.function).to_owned()).collect()
}

/// Returns the function that takes the lock.
pub(super) fn of_stack(profile: &Profile, stack: Option<StackId>, is_kernel: bool) -> Option<String> {
    let locations = profile.locations();
    let starts = |name: &str, list: &[&str]| list.iter().any(|start| name.starts_with(start));
    let mut first = None;
    for id in profile.stack(stack).filter(|&id| locations.get(id).is_kernel == is_kernel) {
        let is_library = !is_kernel && starts(file_name(locations.object_path(id)), &LIBRARIES);
        for name in names(profile, id) {
            if !is_library && !starts(&name, if is_kernel { &KERNEL } else { &USER }) {
                return Some(name);
            }
            first.get_or_insert(name);
        }
    }
    first
}
