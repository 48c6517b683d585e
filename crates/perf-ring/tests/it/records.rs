//! Records of many kinds, written by the running kernel.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_decode::SwitchDirection;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::prelude::*;

/// Maps the running program again, as a dynamic loader maps a library.
fn map_own_program() {
    let program = File::open("/proc/self/exe").unwrap();
    let protection = ProtFlags::READ | ProtFlags::EXEC;
    // SAFETY: the kernel chooses the address.
    let mapped = unsafe { mmap(null_mut(), page_size(), protection, MapFlags::PRIVATE, &program, 0) };
    // SAFETY: just mapped, and not used.
    unsafe { munmap(mapped.unwrap(), page_size()) }.unwrap();
}

#[test]
fn a_tracepoint_samples_each_hit() {
    let Some(attr) = hits() else { return };
    let attr =
        attr.with_sample_type(SampleType::TID | SampleType::TIME | SampleType::RAW | SampleType::PERIOD);
    let Some(mut ring) = own_ring(&attr, 64) else { return };
    during(&ring, || hit(5));
    let found = samples(&mut ring, |sample| {
        let id = u16::from_ne_bytes(sample.raw().unwrap()[..2].try_into().unwrap());
        (sample.tid(), sample.period(), u64::from(id))
    });
    assert_eq!(
        found,
        [(Some(tid()), Some(1), attr.config); 5],
        "the payload begins with the tracepoint's number"
    );
}

/// The kernel writes a word after the empty stack for which it has no space (kernel errata).
#[test]
fn samples_with_an_empty_user_stack_are_delivered_without_their_last_field() {
    let Some(attr) = hits() else { return };
    let wanted = SampleType::TID | SampleType::STACK_USER | SampleType::CGROUP;
    for last in [SampleType::DATA_PAGE_SIZE, SampleType::AUX] {
        let attr = attr.with_regs_user(1).with_sample_type(wanted | last);
        let Some(mut ring) = own_ring(&attr, 64) else { return };
        during(&ring, || hit(5));
        let found = samples(&mut ring, |sample| {
            assert!(sample.regs_user().is_some() && sample.stack_user().unwrap().size() == 0);
            let name = if last == SampleType::AUX { "aux" } else { "data_page_size" };
            let truncated = sample.truncated_field();
            assert!(truncated.is_none_or(|truncated| truncated == name), "{sample}");
            let is_there = sample.fields().any(|field| field.name == name);
            assert_eq!(is_there, truncated.is_none(), "{sample}");
            (sample.tid(), sample.cgroup().is_some(), sample.trailing().len())
        });
        assert_eq!(found, [(Some(tid()), true, 0); 5]);
    }
}

#[test]
fn a_filter_passes_only_matching_hits() {
    let Some(attr) = hits() else { return };
    let Some(mut ring) = own_ring(&attr.with_sample_type(SampleType::RAW), 64) else { return };
    ring.event().set_filter(c"newcomm == 'passed'").unwrap();
    during(&ring, || {
        hit(4);
        for _ in 0..3 {
            rustix::thread::set_name(c"passed").unwrap();
        }
        hit(4);
    });
    assert_eq!(kinds(&mut ring), [RecordType::SAMPLE; 3]);
}

#[test]
fn mapped_file_is_recorded_with_its_name() {
    for flags in [AttrFlags::MMAP, AttrFlags::MMAP | AttrFlags::MMAP2] {
        let Some(mut ring) = sideband(flags, Target::calling_thread()) else { return };
        during(&ring, map_own_program);
        let found = filter_map(&mut ring, |record| match record {
            Record::Mmap(record) => Some((record.filename().to_owned(), record.len(), record.tid())),
            Record::Mmap2(record) => Some((record.filename().to_owned(), record.len(), record.tid())),
            other => panic!("{other:?}"),
        });
        let program = std::env::current_exe().unwrap();
        let is_it = |(name, len, thread): (Vec<u8>, _, _)| {
            String::from_utf8(name).ok().as_deref() == program.to_str()
                && len == page_size() as u64
                && thread == tid()
        };
        assert!(found.into_iter().any(is_it), "{flags}");
    }
}

#[test]
fn mmap2_alone_asks_for_nothing() {
    let Some(mut alone) = sideband(AttrFlags::MMAP2, Target::calling_thread()) else { return };
    // An event of another program or test with MMAP makes the kernel write all of these records.
    let is_quiet = (0..20).any(|_| {
        during(&alone, map_own_program);
        let kinds = kinds(&mut alone);
        std::thread::sleep(std::time::Duration::from_millis(5));
        kinds.is_empty()
    });
    if !is_quiet {
        eprintln!("skipped: another program has an event with MMAP");
    }
    let Some(other) = sideband(AttrFlags::MMAP, Target::calling_thread()) else { return };
    during(&alone, map_own_program);
    assert_eq!(kinds(&mut alone), [RecordType::MMAP2]);
    drop(other);
}

/// Loads one of the libraries that C libraries come with, which is not loaded yet.
fn load_library() -> Option<*mut c_void> {
    let names = [c"libresolv.so.2", c"libanl.so.1", c"libutil.so.1", c"libm.so.6", c"libz.so.1"];
    names.into_iter().find_map(|name| {
        // SAFETY: RTLD_NOLOAD loads nothing.
        let loaded = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if !loaded.is_null() {
            return None;
        }
        // SAFETY: the initializers of these libraries have no preconditions.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY) };
        (!library.is_null()).then_some(library)
    })
}

#[test]
fn loaded_library_is_recorded_with_its_address() {
    let flags = AttrFlags::MMAP | AttrFlags::MMAP2;
    let Some(mut ring) = sideband(flags, Target::calling_thread()) else { return };
    let Some(library) = during(&ring, load_library) else {
        return eprintln!("skipped: no library that is not loaded yet");
    };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    // SAFETY: loaded above, and no symbol of it is in use.
    unsafe { libc::dlclose(library) };
    let is_there = |record: Record<'_>| {
        let Record::Mmap2(map) = record else { panic!("{record:?}") };
        let (start, name) = (format!("{:x}-", map.addr()), String::from_utf8_lossy(map.filename()));
        let is_its = |line: &str| line.starts_with(&start) && line.ends_with(&*name);
        Some(name.contains(".so") && maps.lines().any(is_its))
    };
    assert!(filter_map(&mut ring, is_there).contains(&true), "{maps}");
}

#[test]
fn forks_and_names_are_recorded() {
    let Some(mut ring) = sideband(AttrFlags::TASK | AttrFlags::COMM, Target::calling_thread()) else {
        return;
    };
    during(&ring, || {
        rustix::thread::set_name(c"renamed").unwrap();
        std::thread::spawn(|| {}).join().unwrap();
    });
    let kinds = kinds(&mut ring);
    assert!(kinds.starts_with(&[RecordType::COMM, RecordType::FORK]), "{kinds:?}");
}

#[test]
fn switches_are_recorded_in_both_directions() {
    let Some(mut ring) = sideband(AttrFlags::CONTEXT_SWITCH, Target::calling_thread()) else { return };
    during(&ring, || switch(2));
    let out = filter_map(&mut ring, |record| match record {
        Record::Switch(switch) => Some(switch.direction() != SwitchDirection::In),
        other => panic!("{other:?}"),
    });
    assert!(out.len() >= 4 && out.windows(2).all(|pair| pair[0] != pair[1]), "{out:?}");
}

#[test]
fn namespaces_of_a_new_thread_are_recorded() {
    let Some(mut ring) = sideband(AttrFlags::NAMESPACES, Target::calling_thread()) else { return };
    during(&ring, || std::thread::spawn(|| {}).join().unwrap());
    let found = filter_map(&mut ring, |record| match record {
        Record::Namespaces(found) => Some((found.pid(), found.namespaces().len() >= 7)),
        _ => None,
    });
    assert_eq!(found, [(std::process::id(), true)]);
}

#[test]
fn sampled_stack_is_that_of_the_thread() {
    const MARKS: [u64; 3] = [0x5eed_0001, 0x5eed_0002, 0x5eed_0003];
    let attr = Attr::software(Software::PAGE_FAULTS)
        .with_period(1)
        .with_sample_type(
            SampleType::ADDR | SampleType::STACK_USER | SampleType::REGS_USER | SampleType::CALLCHAIN,
        )
        .with_stack_user(StackSize::new(16384).unwrap())
        .with_regs_user(1 << 7)
        .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
    let Some(mut ring) = own_ring(&attr, 64) else { return };
    during(&ring, || {
        // In a frame of few variables, so that they are close to the stack pointer.
        let marks = std::hint::black_box(MARKS);
        touch(64);
        std::hint::black_box(&marks);
    });
    let bytes: Vec<u8> = MARKS.iter().flat_map(|mark| mark.to_ne_bytes()).collect();
    let has_marks = filter_map(&mut ring, |record| {
        let Record::Sample(sample) = record else { return None };
        let stack = sample.stack_user().unwrap();
        assert!(stack.bytes().len() <= 16384 && stack.size() == 16384);
        assert!(!sample.callchain().unwrap().words().is_empty());
        assert_eq!(sample.regs_user().unwrap().values().len(), 1, "the stack pointer");
        Some(stack.bytes().windows(bytes.len()).any(|part| part == bytes))
    });
    assert!(has_marks.contains(&true), "the marks are in a sampled stack");
}

#[test]
fn user_and_interrupt_registers_have_separate_masks() {
    let attr = Attr::software(Software::PAGE_FAULTS)
        .with_period(1)
        .with_sample_type(SampleType::IP)
        .with_regs_user(0b010)
        .with_regs_intr(0b111)
        .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
    let Some(mut ring) = own_ring(&attr, 64) else { return };
    during(&ring, || touch(64));
    let found = samples(&mut ring, |sample| {
        let (user, intr) = (sample.regs_user().unwrap(), sample.regs_intr().unwrap());
        assert_eq!((user.values().len(), intr.values().len()), (1, 3));
        assert_eq!(user.get(1), intr.get(1), "user space was interrupted");
    });
    assert!(!found.is_empty());
}

#[test]
fn samples_of_a_breakpoint_have_its_address() {
    static WATCHED: AtomicU64 = AtomicU64::new(0);
    let addr = WATCHED.as_ptr().expose_provenance() as u64;
    let attr = Attr::breakpoint(BreakpointType::WRITE, addr, BreakpointLen::EIGHT)
        .with_period(1)
        .with_sample_type(SampleType::ADDR | SampleType::IP | SampleType::TID)
        .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
    let Some(mut ring) = own_ring(&attr, 64) else { return };
    during(&ring, || (1..=4).for_each(|value| WATCHED.store(value, Ordering::SeqCst)));
    assert_eq!(count(ring.event()), 4);
    assert_eq!(samples(&mut ring, |sample| (sample.addr(), sample.tid())), [(Some(addr), Some(tid())); 4]);
}

#[test]
fn sigtrap_needs_remove_on_exec() {
    let attr = Attr::software(Software::CPU_CLOCK)
        .with_period(1 << 40)
        .with_flags(AttrFlags::SIGTRAP | AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
    let refused = Event::open(&attr, Target::calling_thread()).unwrap_err();
    assert!(matches!(refused.errno(), Some(Errno::EINVAL | Errno::EACCES | Errno::EPERM)), "{refused}");
    own(&attr.with_flags(AttrFlags::REMOVE_ON_EXEC));
}
