//! A sampler embedded in a program: one trait for the events of the whole process, in a set, and
//! for events of single threads, in separate rings with a ledger.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use crate::support::set::{open_or_skip, switch, tid};
use perf_session::ring::{Attr, AttrFlags, Count, Event, Record, RingSet, SampleType, Software, Target};
use perf_session::{
    EventSet, EventSetError, EventSetOptions, EventSetTarget, EventSpec, LossLedger, RingKey, Scope, System,
    map_largest_ring,
};

/// Controls and reads either mode; the control needs no exclusive access.
trait Sampler {
    fn enable(&self) -> io::Result<()>;
    fn disable(&self) -> io::Result<()>;
    /// Calls `consume` with the thread of each sample until now.
    fn drain(&mut self, consume: &mut dyn FnMut(u32)) -> io::Result<()>;
    fn ledger(&mut self) -> io::Result<&LossLedger>;
}

fn tid_of(
    record: perf_session::ring::decode::Result<Record<'_, &perf_session::ring::SampleLayout>>,
) -> Option<u32> {
    match record {
        Ok(Record::Sample(sample)) => sample.tid(),
        _ => None,
    }
}

impl Sampler for EventSet {
    fn enable(&self) -> io::Result<()> {
        Ok(EventSet::enable(self)?)
    }

    fn disable(&self) -> io::Result<()> {
        Ok(EventSet::disable(self)?)
    }

    fn drain(&mut self, consume: &mut dyn FnMut(u32)) -> io::Result<()> {
        self.flush_sorted(|record| tid_of(record.decode()).into_iter().for_each(&mut *consume))?;
        Ok(())
    }

    fn ledger(&mut self) -> io::Result<&LossLedger> {
        Ok(self.losses()?)
    }
}

/// The rings of threads, each with its own event.
struct Threads {
    rings: RingSet<RingKey>,
    ledger: LossLedger,
}

impl Threads {
    fn track(&mut self, attr: &Attr, tid: u32) -> io::Result<()> {
        let event = Event::open(attr, Target::thread(tid))?;
        let ring = map_largest_ring(Arc::new(event), 1..=64)?;
        Ok(self.rings.add(self.ledger.add_ring(Scope::thread(tid)), ring)?)
    }
}

impl Sampler for Threads {
    fn enable(&self) -> io::Result<()> {
        Ok(self.rings.enable()?)
    }

    fn disable(&self) -> io::Result<()> {
        Ok(self.rings.disable()?)
    }

    fn drain(&mut self, consume: &mut dyn FnMut(u32)) -> io::Result<()> {
        let Self { rings, ledger } = self;
        rings.flush_sorted(|record| {
            ledger.note(&record);
            tid_of(record.decode()).into_iter().for_each(&mut *consume);
        })?;
        Ok(())
    }

    fn ledger(&mut self) -> io::Result<&LossLedger> {
        for (key, ring) in self.rings.iter() {
            let lost = Count::read(ring.event())?.lost.unwrap_or(0);
            self.ledger.note_read_lost(key.scope(), ring.event().to_string().into(), lost);
        }
        Ok(&self.ledger)
    }
}

#[test]
fn process_and_threads_are_sampled_by_one_trait() {
    let attr = Attr::software(Software::CONTEXT_SWITCHES).with_period(1);
    let attr = attr.with_sample_type(SampleType::TID | SampleType::TIME);
    let options = EventSetOptions::new()
        .event(EventSpec::new(attr))
        .target(EventSetTarget::process(std::process::id()));
    let (go, wait) = channel::<()>();
    let (send, receive) = channel();
    let worker = thread::spawn(move || {
        send.send(tid()).unwrap();
        for () in wait {
            switch(50);
            send.send(0).unwrap();
        }
    });
    let thread = receive.recv().unwrap();
    let Some(set) = open_or_skip(options.ring_pages_within(1..=64)) else { return };
    let mut threads = Threads { rings: RingSet::new().unwrap(), ledger: LossLedger::default() };
    threads.track(&attr.with_flags(AttrFlags::DISABLED | AttrFlags::SAMPLE_ID_ALL), thread).unwrap();

    let mut samplers: [Box<dyn Sampler>; 2] = [Box::new(set), Box::new(threads)];
    for sampler in &mut samplers {
        sampler.enable().unwrap();
        go.send(()).unwrap();
        receive.recv().unwrap();
        sampler.disable().unwrap();
        let mut samples = 0;
        sampler.drain(&mut |tid| samples += u32::from(tid == thread)).unwrap();
        assert!(samples >= 50, "{samples}");
        assert_eq!(sampler.ledger().unwrap().dropped(), 0);
    }
    drop(go);
    worker.join().unwrap();
}

#[test]
fn refused_set_is_one_line_for_a_log() {
    let missing = Attr::new(perf_session::ring::EventType::SOFTWARE, 1 << 40);
    let missing = missing.with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
    let options =
        EventSetOptions::new().event(EventSpec::new(missing)).target(EventSetTarget::calling_thread());
    let error: EventSetError = options.open().map(drop).unwrap_err();
    let why = error.explain(&System::new()).unwrap();
    let line = format!("{}: {}", error.what(), why.line());
    assert!(line.contains("perf_event_open") && !line.contains('\n'), "{line}");
    let io = io::Error::from(error.clone());
    assert_eq!((io.kind(), error.to_os_error().raw_os_error()), (io::ErrorKind::NotFound, Some(2)));
}
