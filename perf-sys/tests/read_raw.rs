//! The words of `read(2)`: ids, short buffers, and a group read by any member.

mod support;

use perf_abi::{Attr, AttrFlags, Hardware, IocFlags, ReadFormat, Software};
use perf_sys::{Call, Errno, OpenOptions, Target};
use support::{count, open_or_skip, switch, switches};

fn user_side(attr: Attr) -> Attr {
    attr.with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
}

#[test]
fn cycles_are_counted_between_enable_and_disable() {
    let attr = user_side(Attr::hardware(Hardware::CPU_CYCLES));
    let Some(event) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    assert_eq!(count(&event), 0);
    event.enable().unwrap();
    event.disable().unwrap();
    let counted = count(&event);
    assert!(counted > 0);
    assert_eq!(count(&event), counted, "disabled");
    event.reset().unwrap();
    assert_eq!(count(&event), 0);
}

#[test]
fn read_returns_the_id_of_each_event() {
    let attr = Attr::software(Software::DUMMY).with_read_format(ReadFormat::ID);
    let Some(one) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    let Some(other) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    let mut words = [0; 4];
    assert_eq!(one.read_raw(&mut words), Ok(2));
    assert_eq!(one.id(), Ok(words[1]));
    assert_ne!(one.id(), other.id());
}

#[test]
fn short_buffer_is_an_error() {
    let attr = Attr::software(Software::DUMMY).with_read_format(ReadFormat::ID);
    let Some(event) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    let error = event.read_raw(&mut [0; 1]).unwrap_err();
    assert_eq!((error.call(), error.errno()), (Some(Call::Read), Some(Errno::ENOSPC)));
}

#[test]
fn group_is_enabled_and_disabled_by_any_member() {
    let Some(leader) = open_or_skip(&switches(), Target::calling_thread()) else {
        return;
    };
    let member = OpenOptions::new().leader(&leader).open(&switches(), Target::calling_thread()).unwrap();
    member.enable_with(IocFlags::GROUP).unwrap();
    switch(3);
    member.disable_with(IocFlags::GROUP).unwrap();
    assert!(count(&leader) >= 3);
    assert_eq!(count(&leader), count(&member));
    leader.reset_with(IocFlags::GROUP).unwrap();
    assert_eq!((count(&leader), count(&member)), (0, 0));
}
