//! Events in the slots of a perf event array.

use crate::prelude::*;

const TIMES: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);

#[track_caller]
fn array() -> Option<EventArray> {
    permitted(EventArray::create("pk_counters".parse().unwrap()))
}

/// Loads a program that copies the counter in the slot of its CPU to the value of a map. It returns
/// the errno of the helper.
#[track_caller]
fn read_value(array: &EventArray, value: &MapFd) -> Option<ProgramFd> {
    let asm = Asm::default()
        .lookup_first(R7, value, 1)
        .set_map(R1, array)
        .set_u32(R2, BPF_F_CURRENT_CPU as u32)
        .mov(R3, R10)
        .add(R3, -32)
        .set(R4, 24)
        .call(BpfHelper::PERF_EVENT_READ_VALUE.0)
        .when(R0, 0, |asm| {
            [0, 8, 16].into_iter().fold(asm, |asm, at| asm.load(R0, R10, at - 32).store(R7, at, R0))
        })
        .exit_with(1);
    let name = "pk_read_value".parse().unwrap();
    permitted(ProgramFd::load(BpfProgType::RAW_TRACEPOINT, asm.code(), c"GPL", name))
}

#[test]
fn a_program_reads_the_counter_of_its_cpu() {
    let Some(mut array) = array() else { return };
    let value = permitted(MapFd::create(&MapSpec::new(BpfMapType::ARRAY, 1).with_sizes(4, 24)));
    let Some(value) = value else { return };
    let Some(program) = read_value(&array, &value) else { return };
    let attr = Attr::software(Software::CPU_CLOCK).with_read_format(TIMES);
    for cpu in &online() {
        let Some(event) = permitted(Event::open(&attr, Target::cpu(cpu))) else { return };
        array.insert(cpu, &event).unwrap();
        let before = Count::read(&event).unwrap();
        fire_on(&program, cpu);
        let after = Count::read(&event).unwrap();
        let mut bytes = [0; 24];
        assert!(value.lookup(&[0; 4], &mut bytes, BpfElemFlags::empty()).unwrap());
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        let found = BpfPerfEventValue { counter: word(0), enabled: word(8), running: word(16) };
        assert!((before.value..=after.value).contains(&found.counter), "{before:?} {found:?} {after:?}");
        assert!(found.enabled > 0 && found.enabled >= found.running, "{found:?}");
    }
    assert_eq!(array.filled(), online());
}

#[test]
fn an_inherited_event_is_refused() {
    let Some(mut array) = array() else { return };
    let attr =
        Attr::software(Software::TASK_CLOCK).with_flags(AttrFlags::INHERIT | AttrFlags::EXCLUDE_KERNEL);
    let target = Target::calling_thread();
    let Some(event) = permitted(Event::open(&attr, target)) else { return };
    let error = array.insert(0, &event).unwrap_err();
    assert_eq!(error.errno(), Some(Errno::EOPNOTSUPP));
    assert!(array.filled().is_empty());
}

#[test]
fn a_slot_that_does_not_exist_is_named_by_the_error() {
    let Some(mut array) = array() else { return };
    let slots = array.slots();
    let attr = Attr::software(Software::DUMMY).with_flags(AttrFlags::EXCLUDE_KERNEL);
    let target = Target::calling_thread();
    let Some(event) = permitted(Event::open(&attr, target)) else { return };
    let error = array.insert(slots, &event).unwrap_err();
    assert!(matches!(error, Error::Slot { found, .. } if found == slots), "{error}");
    assert!(error.to_string().contains(&format!("expected a slot below {slots}, found {slots}")), "{error}");
}

#[test]
fn an_array_with_too_few_slots_for_the_cpus_leaves_nothing_open() {
    let spec = MapSpec::new(BpfMapType::PERF_EVENT_ARRAY, 1).with_sizes(4, 4);
    let Some(map) = permitted(MapFd::create(&spec)) else { return };
    let mut other = EventArray::from_fd(map.try_clone().unwrap().into_fd()).unwrap();
    if online().as_slice() == [0] {
        return eprintln!("skipped: one CPU, which has a slot");
    }
    let error = PerfBufferOptions::new().open(EventArray::from_fd(map.into_fd()).unwrap()).unwrap_err();
    assert!(matches!(error.error, Error::Slot { .. }), "{error}");
    assert!(!other.remove(0).unwrap(), "the slot is empty");
}

#[track_caller]
fn dummy() -> Option<Event> {
    let attr = Attr::software(Software::DUMMY).with_flags(AttrFlags::EXCLUDE_KERNEL);
    permitted(Event::open(&attr, Target::calling_thread()))
}

#[test]
fn array_of_a_frozen_map_is_cleared_and_dropped() {
    let (Some(mut array), Some(event)) = (array(), dummy()) else { return };
    array.insert(0, &event).unwrap();
    array.map().freeze().unwrap();
    assert_eq!(array.remove(0).unwrap_err().errno(), Some(Errno::EPERM));
    assert_eq!(array.filled(), 0.into(), "the slot was not cleared");
    array.clear().unwrap();
    assert!(array.filled().is_empty());
    assert_eq!(array.insert(0, &event).unwrap_err().errno(), Some(Errno::EPERM));
    assert!(array.filled().is_empty());
}

#[test]
fn slots_that_cannot_be_cleared_stay_in_the_list() {
    let Some(event) = dummy() else { return };
    without_sys_admin(move || {
        let Some(mut array) = array() else { return };
        array.insert(0, &event).unwrap();
        assert!(!array.has_own_file());
        array.map().freeze().unwrap();
        assert_eq!(array.clear().unwrap_err().errno(), Some(Errno::EPERM));
        assert_eq!(array.filled(), 0.into());
    });
}

#[test]
fn map_that_preserves_its_elements_keeps_them() {
    let spec = MapSpec::new(BpfMapType::PERF_EVENT_ARRAY, 1).with_sizes(4, 4);
    let spec = spec.with_flags(BpfMapFlags::PRESERVE_ELEMS);
    let (Some(map), Some(event)) = (permitted(MapFd::create(&spec)), dummy()) else { return };
    let array = || EventArray::from_fd(map.try_clone().unwrap().into_fd()).unwrap();
    let (mut first, mut second) = (array(), array());
    first.insert(0, &event).unwrap();
    assert!(!first.has_own_file());
    drop(first);
    assert!(second.remove(0).unwrap(), "the slot is still filled");
    second.insert(0, &event).unwrap();
    second.clear().unwrap();
    assert!(!second.remove(0).unwrap());
}

#[test]
fn a_map_of_another_type_is_refused() {
    let spec = MapSpec::new(BpfMapType::ARRAY, 1).with_sizes(4, 4);
    let Some(map) = permitted(MapFd::create(&spec)) else { return };
    let error = EventArray::from_fd(map.into_fd()).unwrap_err();
    assert!(matches!(error, Error::MapType { found: BpfMapType::ARRAY, .. }), "{error}");
}
