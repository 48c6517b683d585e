//! A ring buffer map that two processes read.

use std::path::Path;

use crate::prelude::*;
use crate::support::agent;
use crate::support::agent::Agent;

struct Fixture {
    ring: RingBuf,
    program: ProgramFd,
}

impl Fixture {
    /// Writes records of 48 bytes, of which the ring has space for at least 1000.
    fn fire(&self, times: usize) {
        let cpu = online().iter().next().unwrap();
        (0..times).for_each(|_| fire_on(&self.program, cpu));
    }
}

/// Runs `test` with a ring that is pinned to a path, and a program that writes to it.
#[track_caller]
fn with_pinned_ring(test: impl FnOnce(Fixture, &Path) + Send + 'static) {
    let Some(ring) = permitted(RingBuf::create("pk_shared".parse().unwrap(), 1)) else { return };
    let Some(counters) = Counters::create() else { return };
    let program = output(BpfProgType::RAW_TRACEPOINT, &Sink::Ring(&ring), &counters, 48, false);
    let Some(program) = program else { return };
    with_bpf_fs(move |bpf_fs| {
        let path = bpf_fs.path("events").unwrap();
        let map = AsFd::as_fd(&ring).try_clone_to_owned().unwrap();
        MapFd::from_fd(map).unwrap().pin(&path).unwrap();
        test(Fixture { ring, program }, &path);
    });
}

fn open(path: &Path) -> RingBuf {
    RingBuf::open(MapFd::open_pinned(path).unwrap()).unwrap()
}

fn records(ring: &mut RingBuf) -> u64 {
    ring.batch().unwrap().records().map(|record| record.map(drop).unwrap()).count() as u64
}

/// The process of the tests below.
const AGENT: &str = "shared_ring::agent";

/// The other process of the tests below.
#[test]
#[ignore = "runs as a process of other tests"]
fn agent() {
    let Some(path) = agent::path() else { return };
    let mut ring = open(&path);
    agent::run(|| records(&mut ring));
}

#[test]
fn records_do_not_change_while_another_process_consumes_them() {
    with_pinned_ring(|mut fixture, path| {
        fixture.fire(100);
        let program = &fixture.program;
        let mut batch = fixture.ring.batch().unwrap();
        let records: Vec<&[u8]> = batch.records().map(Result::unwrap).collect();
        let before: Vec<Vec<u8>> = records.iter().map(|record| record.to_vec()).collect();
        assert_eq!(Agent::start(AGENT, path).stop(), 100);
        let cpu = online().iter().next().unwrap();
        (0..2000).for_each(|_| fire_on(program, cpu));
        assert_eq!(records, before);
        drop(batch);
        let error = fixture.ring.batch().unwrap_err();
        assert!(matches!(error, Error::RingBufShared { expected: 0, .. }), "{error}");
        assert!(self::records(&mut fixture.ring) > 1000, "what the other process has not consumed");
    });
}

#[test]
fn next_agent_reads_the_ring_from_where_the_last_one_stopped() {
    with_pinned_ring(|mut fixture, path| {
        fixture.fire(5);
        assert_eq!(Agent::start(AGENT, path).stop(), 5);
        fixture.fire(3);
        let killed = Agent::start(AGENT, path);
        fixture.fire(1);
        killed.kill();
        let found = fixture.ring.batch().unwrap_err();
        assert!(matches!(found, Error::RingBufShared { .. }), "the process before it has consumed");
        assert_eq!(records(&mut fixture.ring), 4);
        assert_eq!(Agent::start(AGENT, path).stop(), 0);
    });
}
