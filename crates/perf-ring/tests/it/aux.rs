//! Mapping of AUX areas on the running kernel. Reading them is tested on simulated pages in
//! `src/ring/aux.rs`.

use crate::prelude::*;

#[test]
fn event_without_a_trace_unit_has_no_aux_area() {
    let Some(mut ring) = switch_ring(1) else { return };
    for _ in 0..2 {
        let refused = AuxArea::map(&mut ring, 4).unwrap_err();
        assert_eq!(
            (refused.call(), refused.errno()),
            (Some(Call::Mmap), Some(Errno::EOPNOTSUPP)),
            "{refused}"
        );
        assert!(AuxSnapshot::map(&mut ring, 4).is_err());
    }
    switch(1);
    assert!(!kinds(&mut ring).is_empty(), "the ring is unchanged");
}

#[test]
fn an_area_of_three_pages_is_refused() {
    let Some(mut ring) = switch_ring(1) else { return };
    for found in [0, 3, usize::MAX] {
        assert_eq!(AuxArea::map(&mut ring, found).unwrap_err(), sys::Error::PageCount { found });
    }
}

#[test]
fn an_event_of_a_trace_unit_has_one_area() {
    let pmus = ["intel_pt", "intel_bts", "arm_spe_0", "cs_etm"];
    let read = |pmu| std::fs::read_to_string(format!("/sys/bus/event_source/devices/{pmu}/type")).ok();
    let Some(kind) = pmus.into_iter().find_map(read) else {
        return eprintln!("skipped: no PMU with an AUX area in /sys/bus/event_source/devices");
    };
    let attr = Attr::new(EventType(kind.trim().parse().unwrap()), 0)
        .with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::DISABLED);
    let event = match Event::open(&attr, Target::calling_thread()) {
        Ok(event) => event,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let mut ring = Ring::map(event, 1).unwrap();
    let area = AuxArea::map(&mut ring, 4).unwrap();
    assert_eq!(AuxArea::map(&mut ring, 4).unwrap_err(), sys::Error::AuxInUse);
    assert_eq!(area.unread(), Ok((&[][..], &[][..])));
}
