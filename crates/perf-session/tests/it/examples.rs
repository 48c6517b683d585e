//! The examples that read a process and the whole system.

#[allow(dead_code)] // its `main`
#[path = "../../examples/exec_tracer.rs"]
mod exec_tracer;
#[allow(dead_code)] // its `main`
#[path = "../../examples/top.rs"]
mod top;

use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::set::{open_or_skip, skip_tracepoint, software};
use crate::support::skip;
use perf_session::ring::Software;
use perf_session::{EventSetOptions, TracefsError};

#[test]
fn top_finds_the_file_of_code_that_was_mapped_before() {
    let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    thread::sleep(Duration::from_millis(100)); // the shell is mapped
    let (mut total, mut in_files) = (0, 0);
    let sampled = top::run(busy.id(), 2, |hits| {
        total += hits.values().sum::<u64>();
        let in_file = hits.iter().filter(|((file, _), _)| file.is_absolute());
        in_files += in_file.map(|(_, samples)| samples).sum::<u64>();
    });
    busy.kill().unwrap();
    busy.wait().unwrap();
    if let Err(error) = sampled {
        return skip(error);
    }
    assert!(in_files > 20 && in_files * 4 > total, "{in_files} of {total}");
}

#[test]
fn exec_tracer_sees_the_arguments_while_the_process_runs() {
    if open_or_skip(EventSetOptions::new().event(software(Software::CPU_CLOCK))).is_none() {
        return;
    }
    let (sender, execs) = channel();
    let tracer = thread::spawn(move || {
        exec_tracer::run(Some(Instant::now() + Duration::from_secs(2)), |pid, file, arguments| {
            sender.send((pid, file.to_owned(), arguments.to_vec())).unwrap();
        })
        .map_err(|error| match error.downcast_ref::<TracefsError>() {
            Some(error) => skip_tracepoint(error),
            None => skip(error),
        })
    });
    thread::sleep(Duration::from_millis(300));
    let mut child = Command::new("sleep").arg("0.123").spawn().unwrap();
    child.wait().unwrap();
    if tracer.join().unwrap().is_err() {
        return;
    }
    let (_, file, arguments) = execs.try_iter().find(|(pid, ..)| *pid == u64::from(child.id())).unwrap();
    assert!(file.ends_with("sleep"), "{file}");
    assert_eq!(arguments, ["sleep", "0.123"]);
}
