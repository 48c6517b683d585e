//! Records that programs write by `bpf_perf_event_output`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::prelude::*;

struct Fixture {
    buffer: PerfBuffer,
    counters: Counters,
    program: ProgramFd,
}

/// Opens a reader, and loads a raw tracepoint program that writes records of `size` bytes.
#[track_caller]
fn fixture(options: PerfBufferOptions, size: i16) -> Option<Fixture> {
    let array = permitted(EventArray::create("pk_events".parse().unwrap()))?;
    let counters = Counters::create()?;
    let program = output(BpfProgType::RAW_TRACEPOINT, &Sink::Array(&array), &counters, size, false)?;
    Some(Fixture { buffer: permitted(options.open(array))?, counters, program })
}

fn first_word(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(bytes[..8].try_into().unwrap())
}

#[test]
fn a_record_arrives_from_each_cpu() {
    let Some(mut fixture) = fixture(PerfBufferOptions::new(), 24) else { return };
    let cpus = online();
    fire_on_all(&fixture.program, &cpus, 3);
    let mut found = Vec::new();
    let read = fixture.buffer.read(|cpu, output| match output {
        // 24 bytes and the 4 of the length are padded to 32.
        PerfBufferRecord::Sample(sample) => {
            found.push((cpu, first_word(sample.bytes()), sample.bytes().len()));
        }
        other => panic!("{other:?}"),
    });
    let expected: Vec<_> = cpus.iter().flat_map(|cpu| (1..=3).map(move |number| (cpu, number, 28))).collect();
    assert_eq!(read.unwrap(), expected.len() as u64);
    assert_eq!(found, expected);
    assert_eq!(fixture.counters.produced_and_failed(), (expected.len() as u64, 0));
    assert_eq!(fixture.buffer.total().unwrap().samples, expected.len() as u64);
}

#[test]
fn a_wait_ends_with_a_record() {
    let Some(mut fixture) = fixture(PerfBufferOptions::new(), 8) else { return };
    let cpu = online().iter().next().unwrap();
    assert_eq!(fixture.buffer.wait(Some(Duration::ZERO)).unwrap(), WaitResult::TimedOut);
    fire_on(&fixture.program, cpu);
    assert_eq!(fixture.buffer.wait(PATIENCE).unwrap(), WaitResult::Readable);
    let mut batches = fixture.buffer.ready();
    let mut batch = batches.next().unwrap().unwrap();
    assert_eq!((batch.cpu(), batch.outputs().count()), (cpu, 1));
}

#[test]
fn payload_of_a_known_size_has_no_padding() {
    for (size, truncated) in [(24, 0), (28, 0), (29, 1)] {
        let Some(mut fixture) = fixture(PerfBufferOptions::new().payload_size(size), 24) else { return };
        fire_on(&fixture.program, online().iter().next().unwrap());
        let mut len = 0;
        let consume = |_, output: PerfBufferRecord<'_>| match output {
            PerfBufferRecord::Sample(sample) => len = sample.bytes().len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(fixture.buffer.read(consume).unwrap(), 1);
        assert_eq!((len, fixture.buffer.total().unwrap().truncated), (size.min(28), truncated));
    }
}

#[test]
fn more_fields_can_be_sampled() {
    let options = PerfBufferOptions::new().sample_type(SampleType::TIME | SampleType::CPU).payload_size(16);
    let Some(mut fixture) = fixture(options, 16) else { return };
    let cpus = online();
    fire_on_all(&fixture.program, &cpus, 1);
    let mut found = Vec::new();
    let consume = |cpu, output: PerfBufferRecord<'_>| {
        let PerfBufferRecord::Sample(sample) = output else { panic!("{output:?}") };
        let decoded = sample.decode().unwrap();
        assert!(decoded.time().is_some_and(|time| time > 0));
        assert_eq!((decoded.cpu(), sample.bytes().len()), (Some(cpu), 16));
        found.push(cpu);
    };
    fixture.buffer.read(consume).unwrap();
    assert_eq!(found, cpus.as_slice());
}

#[test]
fn every_record_under_a_slow_reader_is_delivered_or_lost() {
    const TIMES: usize = 20_000;
    let Some(mut fixture) = fixture(PerfBufferOptions::new().pages(1).payload_size(48), 48) else { return };
    let cpus = online();
    let is_over = AtomicBool::new(false);
    let (program, buffer) = (&fixture.program, &mut fixture.buffer);
    // The first records, which nobody reads, overflow a page: the reader may be faster than the
    // others.
    let unread = ring::sys::page_size() / 48;
    fire_on_all(program, &cpus, unread);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            fire_on_all(program, &cpus, TIMES);
            is_over.store(true, Ordering::Release);
        });
        while !is_over.load(Ordering::Acquire) {
            buffer.wait(Some(Duration::from_millis(1))).unwrap();
            buffer.read(|_, output| check(&output)).unwrap();
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    buffer.read(|_, output| check(&output)).unwrap();
    let (produced, failed) = fixture.counters.produced_and_failed();
    assert_eq!(produced, ((unread + TIMES) * cpus.len()) as u64);
    let total = buffer.total().unwrap();
    if buffer.reads_lost() {
        assert_eq!((total.samples + total.lost, total.lost), (produced, failed));
    }
    // A last record on each CPU, before which the kernel reports all losses.
    fire_on_all(program, &cpus, 1);
    buffer.read(|_, output| check(&output)).unwrap();
    let total = buffer.total().unwrap();
    let (produced, failed) = fixture.counters.produced_and_failed();
    assert_eq!((total.samples + total.reported_lost, total.reported_lost), (produced, failed));
    assert_eq!(total.lost, failed);
    assert!(failed > 0, "the rings of one page are smaller than the output");
    assert_eq!((total.unknown, total.truncated, total.damaged), (0, 0, 0));
    assert!(!buffer.lossy_cpus().unwrap().is_empty());
    let mut ledger = LossLedger::default();
    buffer.note_losses(&mut ledger).unwrap();
    buffer.note_losses(&mut ledger).unwrap();
    assert_eq!(ledger.dropped(), failed);
}

fn check(output: &PerfBufferRecord<'_>) {
    if let PerfBufferRecord::Sample(sample) = output {
        assert_eq!(sample.bytes()[40..], (-16_i64).to_ne_bytes());
    }
}

/// Loads a program that writes the value of a new map, of `size` bytes.
#[track_caller]
fn large_output(array: &EventArray, counters: &Counters, size: u32) -> Option<ProgramFd> {
    let spec = MapSpec::new(BpfMapType::ARRAY, 1).with_sizes(4, size);
    let data = permitted(MapFd::create(&spec))?;
    let asm = Asm::default()
        .mov(R6, R1)
        .lookup_first(R7, &counters.0, 1)
        .lookup_first(R8, &data, 1)
        .increment(R7, 0)
        .mov(R1, R6)
        .set_map(R2, array)
        .set_u32(R3, BPF_F_CURRENT_CPU as u32)
        .mov(R4, R8)
        .set_u32(R5, size)
        .call(BpfHelper::PERF_EVENT_OUTPUT.0)
        .unless(R0, 0, |asm| asm.increment(R7, 8))
        .exit_with(1);
    let name = "pk_large".parse().unwrap();
    permitted(ProgramFd::load(BpfProgType::RAW_TRACEPOINT, asm.code(), c"GPL", name))
}

#[test]
fn a_record_larger_than_the_ring_is_lost_and_reported() {
    let Some(mut fixture) = fixture(PerfBufferOptions::new().pages(1), 8) else { return };
    let ring = fixture.buffer.rings().next().unwrap().1.data_size();
    if ring > 32 << 10 {
        return eprintln!("skipped: no record is larger than a page of {ring} bytes");
    }
    let cpu = online().iter().next().unwrap();
    let Some(large) = large_output(fixture.buffer.array(), &fixture.counters, ring as u32) else { return };
    fire_on(&large, cpu);
    assert_eq!(fixture.counters.produced_and_failed(), (1, 1));
    assert_eq!(fixture.buffer.wait(Some(Duration::ZERO)).unwrap(), WaitResult::TimedOut);
    let lost = fixture.buffer.total().unwrap().lost;
    assert_eq!(lost, u64::from(fixture.buffer.reads_lost()));
    fire_on(&fixture.program, cpu);
    let mut lost = 0;
    let consume = |_, output: PerfBufferRecord<'_>| {
        if let PerfBufferRecord::Lost(records) = output {
            lost += records;
        }
    };
    assert_eq!(fixture.buffer.read(consume).unwrap(), 2, "a loss and a sample");
    assert_eq!(lost, 1);
}

#[test]
fn closing_clears_the_slots() {
    let Some(fixture) = fixture(PerfBufferOptions::new(), 8) else { return };
    let cpu = online().iter().next().unwrap();
    assert_eq!(fixture.buffer.array().filled(), online());
    let mut array = fixture.buffer.close();
    assert!(array.filled().is_empty());
    assert!(!array.remove(cpu).unwrap(), "the slot is empty");
    fire_on(&fixture.program, cpu);
    assert_eq!(fixture.counters.produced_and_failed(), (1, 1));
}

#[test]
fn dropping_the_reader_clears_the_slots_of_a_shared_map() {
    let Some(array) = permitted(EventArray::create("pk_events".parse().unwrap())) else { return };
    let shared = array.map().try_clone().unwrap();
    let mut other = EventArray::from_fd(shared.into_fd()).unwrap();
    let Some(buffer) = permitted(PerfBufferOptions::new().open(array)) else { return };
    drop(buffer);
    for cpu in &online() {
        assert!(!other.remove(cpu).unwrap());
    }
}

#[test]
fn chosen_cpus_have_a_ring() {
    let Some(array) = permitted(EventArray::create("pk_events".parse().unwrap())) else { return };
    let first: CpuList = online().iter().take(1).collect();
    let Some(buffer) = permitted(PerfBufferOptions::new().cpus(first.clone()).open(array)) else { return };
    assert_eq!(buffer.cpus(), first);
    assert_eq!(buffer.array().filled(), first);
    assert!(buffer.offline().is_empty());
}

#[test]
fn an_empty_list_of_cpus_is_named_by_the_error() {
    let Some(array) = permitted(EventArray::create("pk_events".parse().unwrap())) else { return };
    let refused = PerfBufferOptions::new().cpus(CpuList::default()).open(array).unwrap_err();
    assert_eq!(refused.to_string(), "CPUs: expected at least one, found an empty list");
    assert!(refused.value.filled().is_empty());
}

#[test]
fn paused_reader_counts_no_losses_and_reads_again_after_resume() {
    let Some(mut fixture) = fixture(PerfBufferOptions::new().pages(1), 48) else { return };
    let cpus = online();
    fire_on_all(&fixture.program, &cpus, 1);
    fixture.buffer.pause().unwrap();
    fire_on_all(&fixture.program, &cpus, 2 * ring::sys::page_size() / 48);
    assert_eq!(fixture.buffer.refresh().unwrap(), RefreshedRings::default());
    assert_eq!(fixture.buffer.read(|_, _| ()).unwrap(), cpus.len() as u64, "written before the pause");
    fixture.buffer.resume().unwrap();
    fire_on_all(&fixture.program, &cpus, 1);
    assert_eq!(fixture.buffer.read(|_, _| ()).unwrap(), cpus.len() as u64);
    let total = fixture.buffer.total().unwrap();
    assert_eq!((total.samples, total.lost, total.reported_lost), (2 * cpus.len() as u64, 0, 0));
    assert_eq!(fixture.buffer.refresh().unwrap(), RefreshedRings::default());
}

/// The counts in a sample have the read format of the event that was opened.
#[test]
fn samples_with_counts_are_decoded() {
    let options = PerfBufferOptions::new().sample_type(SampleType::READ | SampleType::TIME);
    let Some(mut fixture) = fixture(options, 48) else { return };
    let cpu = online().iter().next().unwrap();
    fire_on(&fixture.program, cpu);
    let mut counts = 0;
    let consume = |_, output: PerfBufferRecord<'_>| {
        let PerfBufferRecord::Sample(sample) = output else { panic!("{output:?}") };
        let sample = sample.decode().unwrap();
        assert!(sample.time().is_some() && sample.trailing().is_empty());
        counts += sample.read().unwrap().len();
    };
    assert_eq!(fixture.buffer.read(consume).unwrap(), 1);
    assert_eq!(counts, 2, "the events of the ring and of the slot");
}

#[test]
fn refresh_without_a_change_keeps_all_rings() {
    let Some(mut fixture) = fixture(PerfBufferOptions::new(), 8) else { return };
    let refreshed = fixture.buffer.refresh().unwrap();
    assert_eq!(refreshed, RefreshedRings::default());
    fire_on_all(&fixture.program, &online(), 1);
    assert_eq!(fixture.buffer.read(|_, _| ()).unwrap(), online().len() as u64);
}
