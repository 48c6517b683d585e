//! All threads of a live process: none is missed, none is counted twice.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use crate::support::set::{open_or_skip, skip_tracepoint, software};
use perf_session::ring::Software;
use perf_session::{EventSetOptions, EventSetTarget, EventSpec, System, Tracefs};

/// Set in the environment of the child process.
const ROLE: &str = "PERFKIT_TEST_THREADS";

/// Number of threads that are alive all the time.
const STEADY: usize = 12;
/// Number of threads that start while the set is opened.
const LATER: usize = 60;
/// Renamings of each thread that are counted.
const HITS: usize = 100;

/// Returns an event that counts each renaming of a thread.
fn renames() -> Option<EventSpec> {
    let renames = Tracefs::find(&System::new()).and_then(|tracefs| tracefs.tracepoint("task", "task_rename"));
    renames.map_err(|error| skip_tracepoint(&error)).ok().map(|tracepoint| tracepoint.event_spec())
}

/// The child: threads that wait, and for the role `churn` others that start and exit, for the role
/// `growing` others that start and wait, until it reads a line. Then each waiting thread renames
/// itself.
fn run_child(role: &str) {
    let later = if role == "growing" { LATER } else { 0 };
    let (ready, go) = (Arc::new(Barrier::new(STEADY + 1)), Arc::new(Barrier::new(STEADY + later + 1)));
    let waiting = |go: &Arc<Barrier>| {
        let go = Arc::clone(go);
        move || {
            go.wait();
            hit();
        }
    };
    let first = (0..STEADY).map(|_| {
        let (ready, wait) = (Arc::clone(&ready), waiting(&go));
        thread::spawn(move || {
            ready.wait();
            wait();
        })
    });
    let mut threads: Vec<_> = first.collect();
    ready.wait();
    let stop = Arc::new(AtomicBool::new(false));
    let (is_over, churns) = (Arc::clone(&stop), role == "churn");
    println!("ready");
    let starter = thread::spawn(move || {
        while churns && !is_over.load(Ordering::Relaxed) {
            thread::spawn(|| ()).join().unwrap();
        }
    });
    threads.extend((0..later).map(|_| thread::spawn(waiting(&go))));
    std::io::stdin().read_line(&mut String::new()).unwrap();
    stop.store(true, Ordering::Relaxed);
    starter.join().unwrap();
    go.wait();
    for thread in threads {
        thread.join().unwrap();
    }
    // A thread that starts after the set was opened.
    thread::spawn(hit).join().unwrap();
}

fn hit() {
    for _ in 0..HITS {
        rustix::thread::set_name(c"hit").unwrap();
    }
}

/// Starts this test binary again as the child, and waits until its threads run.
fn spawn_child(role: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "threads::child_with_threads", "--nocapture"]).env(ROLE, role);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let stdout = BufReader::new(child.stdout.as_mut().unwrap());
    assert!(stdout.lines().map_while(Result::ok).any(|line| line.ends_with("ready")));
    child
}

fn finish(mut child: Child) {
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    // Unread output must not block it.
    let mut stdout = child.stdout.take().unwrap();
    std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn child_with_threads() {
    if let Ok(role) = std::env::var(ROLE) {
        run_child(&role);
    }
}

#[test]
fn each_thread_of_a_process_is_counted_once() {
    let Some(renames) = renames() else { return };
    for role in ["steady", "churn", "growing"] {
        let child = spawn_child(role);
        let options =
            EventSetOptions::new().event(renames.clone()).target(EventSetTarget::process(child.id()));
        let Some(mut set) = open_or_skip(options) else { return finish(child) };
        set.enable().unwrap();
        let opened = set.threads().len();
        finish(child);
        let counted = set.counts().unwrap().get(0).unwrap().total().value;
        println!(
            "{role}: {opened} threads opened, {:?} unsettled, {:?} exited",
            set.unsettled(),
            set.exited()
        );
        assert!(opened > STEADY, "{opened}");
        let threads = STEADY + 1 + if role == "growing" { LATER } else { 0 };
        if set.unsettled().is_empty() {
            assert_eq!(counted, (threads * HITS) as u64, "{role}");
        }
    }
}

#[test]
fn threads_of_a_process_are_listed_with_the_main_thread_first() {
    let (stop, wait) = std::sync::mpsc::channel::<()>();
    let other = thread::spawn(move || wait.recv().is_ok());
    let threads = System::new().task(std::process::id()).threads().unwrap();
    assert_eq!(threads.first(), Some(&std::process::id()));
    assert!(threads.len() >= 2 && threads.contains(&crate::support::set::tid()), "{threads:?}");
    drop(stop);
    other.join().unwrap();
}

#[test]
fn process_with_rings_is_sampled_on_all_cpus() {
    let options = EventSetOptions::new()
        .event(crate::support::set::switches())
        .event(software(Software::PAGE_FAULTS))
        .target(EventSetTarget::process(std::process::id()))
        .ring_pages(8);
    let Some(mut set) = open_or_skip(options) else { return };
    set.enable().unwrap();
    let tids = [
        crate::support::set::tid(),
        thread::spawn(|| {
            crate::support::set::switch(20);
            crate::support::set::tid()
        })
        .join()
        .unwrap(),
    ];
    crate::support::set::switch(20);
    set.disable().unwrap();
    let mut found = [0, 0];
    set.flush_sorted(|record| {
        if let Ok(perf_session::ring::Record::Sample(sample)) = record.decode() {
            for (found, tid) in found.iter_mut().zip(tids) {
                *found += u32::from(sample.tid() == Some(tid));
            }
        }
    })
    .unwrap();
    assert!(found.iter().all(|&samples| samples >= 20), "{found:?}");
    assert!(set.ledger().nothing_lost().is_ok(), "{}", set.ledger());
}
