//! Runs the examples.

#![allow(clippy::unwrap_used)] // also in shared functions
#![allow(clippy::duplicate_mod)] // each example loads its program itself

mod support;

#[allow(dead_code, unreachable_pub)] // its `main`
#[path = "../examples/aya_perf_buffer.rs"]
mod aya_perf_buffer;
#[allow(dead_code)] // its `main`
#[path = "../examples/maps.rs"]
mod maps;
#[allow(dead_code)] // its `main`
#[path = "../examples/perf_buffer.rs"]
mod perf_buffer;
#[allow(dead_code)] // its `main`
#[path = "../examples/ring_buffer.rs"]
mod ring_buffer;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use perf_bpf::BpfMapType;
use support::programs::online;
use support::{map_or_skip, permitted};

/// Runs `test` while a thread on each CPU sleeps and wakes, so that tasks switch everywhere.
fn while_tasks_switch<T>(test: impl FnOnce() -> T) -> T {
    let is_over = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        for cpu in &online() {
            scope.spawn(move || {
                pin(cpu);
                while !is_over.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_micros(100));
                }
            });
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
        is_over.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Moves the calling thread to a CPU.
fn pin(cpu: u32) {
    // SAFETY: any bytes are a set of CPUs.
    let mut cpus: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is live and mutable.
    unsafe { libc::CPU_SET(cpu as usize, &mut cpus) };
    // SAFETY: the kernel reads the set, of this size.
    let done = unsafe { libc::sched_setaffinity(0, size_of_val(&cpus), &raw const cpus) };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn perf_buffer_has_the_processes_that_leave_a_cpu() {
    let Some(found) = permitted(while_tasks_switch(|| perf_buffer::read(5))) else { return };
    assert!(found.len() >= 5);
    assert!(found.iter().all(|(cpu, _)| online().contains(*cpu)), "{found:?}");
}

#[test]
fn ring_buffer_has_the_processes_that_leave_a_cpu() {
    let Some(found) = permitted(while_tasks_switch(|| ring_buffer::read(5))) else { return };
    assert!(found.len() >= 5);
}

#[test]
fn port_of_ayas_buffer_reads_the_samples_of_a_cpu() {
    let cpu = online().iter().next().unwrap();
    let Some(found) = permitted(while_tasks_switch(|| aya_perf_buffer::read(cpu, 500))) else { return };
    // 8 bytes and the 4 of the length are padded to 16.
    assert!(found.len() >= 500 && found.iter().all(|bytes| bytes.len() == 12), "{}", found.len());
}

#[test]
fn a_map_is_listed_with_its_elements() {
    let Some(map) = map_or_skip::<u32, u16>(BpfMapType::HASH, 4) else { return };
    map.update(&u32::from_ne_bytes([1, 2, 3, 4]), &u16::from_ne_bytes([5, 6])).unwrap();
    let id = map.fd().info().unwrap().id;
    let line = maps::list().unwrap().into_iter().find(|line| line.trim().starts_with(&format!("{id} ")));
    assert!(line.unwrap().contains("HASH                 pk_test         key 4 value 2 entries 4"));
    assert_eq!(maps::elements(id).unwrap(), ["[01, 02, 03, 04] [05, 06]"]);
    assert!(maps::elements(u32::MAX).is_err());
}
