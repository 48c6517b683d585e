//! CPU 1 goes offline and returns while programs write. A separate test binary with one test,
//! because it changes the machine.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // also in shared functions

mod support;

use std::{fs, io};

use perf_bpf::events::{CpuList, EventSpec};
use perf_bpf::ring::{Attr, Software};
use perf_bpf::{AttachedSet, BpfProgType, EventArray, PerfBuffer, PerfBufferOptions, PerfBufferRecord};
use support::permitted;
use support::programs::{Counters, Sink, fire_on, fire_on_all, online, output};

const CPU: u32 = 1;
const ONLINE: &str = "/sys/devices/system/cpu/cpu1/online";

/// CPU 1, which is online again when this is dropped.
struct Plug;

impl Plug {
    /// Takes the CPU offline, or returns why that is not possible.
    fn pull() -> io::Result<Self> {
        if !online().contains(CPU) {
            return Err(io::Error::other("there is no CPU 1, or it is offline"));
        }
        fs::write(ONLINE, "0").map(|()| Self)
    }
}

impl Drop for Plug {
    fn drop(&mut self) {
        fs::write(ONLINE, "1").unwrap();
    }
}

fn one() -> CpuList {
    std::iter::once(CPU).collect()
}

/// Returns the samples of each record's CPU.
fn read(buffer: &mut PerfBuffer) -> Vec<u32> {
    let mut cpus = Vec::new();
    let consume = |cpu, output: PerfBufferRecord<'_>| {
        if let PerfBufferRecord::Sample(_) = output {
            cpus.push(cpu);
        }
    };
    buffer.read(consume).unwrap();
    cpus
}

#[test]
fn rings_and_attachments_survive_a_cpu_that_goes_and_returns() {
    let Some(array) = permitted(EventArray::create("pk_hotplug".parse().unwrap())) else { return };
    let Some(counters) = Counters::create() else { return };
    let sink = Sink::Array(&array);
    let Some(program) = output(BpfProgType::RAW_TRACEPOINT, &sink, &counters, 16, false) else { return };
    let clock_counters = Counters::create().unwrap();
    let on_clock = output(BpfProgType::PERF_EVENT, &sink, &clock_counters, 16, false);
    let Some(on_clock) = on_clock else { return };
    let Some(mut buffer) = permitted(PerfBufferOptions::new().open(array)) else { return };
    // A period that is not reached: only the attachments are of interest.
    let clock = EventSpec::new(Attr::software(Software::CPU_CLOCK).with_period(u64::MAX >> 1));
    let Some(mut set) = permitted(AttachedSet::open(clock, &on_clock, 0)) else { return };
    let all = online();

    fire_on_all(&program, &all, 1);
    let plug = match Plug::pull() {
        Ok(plug) => plug,
        Err(error) => return eprintln!("skipped: CPU 1 cannot go offline: {error}"),
    };
    let rest = online();
    assert_eq!(buffer.lost_slots().unwrap(), CpuList::default(), "the slot still has the event");
    let refreshed = buffer.refresh().unwrap();
    assert_eq!((refreshed.closed, refreshed.opened), (one(), CpuList::default()));
    assert_eq!((buffer.cpus(), buffer.offline()), (rest.clone(), &one()));
    set.refresh().unwrap();
    assert_eq!((set.attachments().len(), set.offline()), (rest.len(), &one()));
    fire_on(&program, rest.iter().next().unwrap());
    let cpus = read(&mut buffer);
    assert_eq!(cpus.iter().filter(|&&cpu| cpu == CPU).count(), 1, "the record from before is in its ring");
    assert_eq!(cpus.len(), all.len() + 1);
    drop(plug);

    let refreshed = buffer.refresh().unwrap();
    assert_eq!((refreshed.closed, refreshed.opened), (CpuList::default(), one()));
    assert_eq!((buffer.cpus(), buffer.rings().count()), (all.clone(), all.len()), "the old ring is closed");
    set.refresh().unwrap();
    assert_eq!(set.attachments().len(), all.len());
    fire_on_all(&program, &all, 2);
    assert_eq!(read(&mut buffer).len(), 2 * all.len());

    // It goes and returns between two refreshes.
    let Ok(plug) = Plug::pull() else { return eprintln!("skipped: CPU 1 cannot go offline again") };
    drop(plug);
    let refreshed = buffer.refresh().unwrap();
    assert_eq!((refreshed.closed, refreshed.opened), (one(), one()));
    fire_on_all(&program, &all, 1);
    assert_eq!(read(&mut buffer).len(), all.len());
    let (produced, failed) = counters.produced_and_failed();
    let total = buffer.total().unwrap();
    assert_eq!((total.samples, total.lost, failed), (produced, 0, 0));

    // A reader that is opened while the CPU is offline skips it.
    let Ok(plug) = Plug::pull() else { return eprintln!("skipped: CPU 1 cannot go offline again") };
    let array = buffer.close();
    let buffer = PerfBufferOptions::new().open(array).unwrap();
    assert_eq!((buffer.cpus(), buffer.offline()), (rest.clone(), &one()));
    drop(set);
    let clock = EventSpec::new(Attr::software(Software::CPU_CLOCK).with_period(u64::MAX >> 1));
    let set = AttachedSet::open(clock, &on_clock, 0).unwrap();
    assert_eq!((set.set().cpus(), set.offline()), (rest, &one()));
    let error = PerfBufferOptions::new().cpus(one()).open(buffer.close()).unwrap_err();
    assert!(matches!(error.error, perf_bpf::Error::NoCpu { .. }), "{error}");
    drop(plug);
}
