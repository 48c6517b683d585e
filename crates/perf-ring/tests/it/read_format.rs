//! All 32 read formats, of a single event and of a group.

use crate::prelude::*;

/// Returns every combination of the bits that this kernel has.
fn formats() -> impl Iterator<Item = ReadFormat> {
    let newest = faults().with_read_format(ReadFormat::LOST);
    let old = Event::open(&newest, Target::calling_thread()).err().and_then(|error| error.errno());
    let bits = if old == Some(Errno::EINVAL) { 16 } else { 32 };
    (0..bits).map(ReadFormat::from_bits_retain)
}

/// Returns the number of words of the times, and of one entry.
fn words(format: ReadFormat) -> (usize, usize) {
    let count = |bits: ReadFormat| format.intersection(bits).bits().count_ones() as usize;
    let times = count(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
    (times, 1 + count(ReadFormat::ID | ReadFormat::LOST))
}

#[test]
fn length_of_a_single_read_follows_from_the_format() {
    for format in formats() {
        for inherit in [AttrFlags::empty(), AttrFlags::INHERIT] {
            let attr = faults().with_read_format(format).with_flags(inherit);
            let Some(event) = own(&attr) else { return };
            let (times, entry) = words(format);
            let number = usize::from(format.contains(ReadFormat::GROUP));
            assert_eq!(event.read_raw(&mut [0; 16]), Ok(number + times + entry), "{format}");
            let mut buf = [0; 16];
            assert_eq!(read_values(&event, &mut buf).unwrap().iter().count(), 1, "{format}");
        }
    }
}

#[test]
fn fields_of_a_count_follow_from_the_format() {
    for format in formats() {
        let Some(event) = own(&faults().with_read_format(format)) else { return };
        if format.contains(ReadFormat::GROUP) {
            assert_eq!(Count::read(&event), Err(Error::GroupFormat), "{format}");
            continue;
        }
        event.enable().unwrap();
        touch(8);
        event.disable().unwrap();
        let count = Count::read(&event).unwrap();
        assert!(count.value >= 8, "{format}: {count}");
        assert_eq!(count.id, format.contains(ReadFormat::ID).then(|| event.id().unwrap()), "{format}");
        assert_eq!(count.lost, format.contains(ReadFormat::LOST).then_some(0), "{format}");
        let has = |time: Option<u64>, bit| assert_eq!(time.is_some_and(|ns| ns > 0), format.contains(bit));
        has(count.time_enabled, ReadFormat::TOTAL_TIME_ENABLED);
        has(count.time_running, ReadFormat::TOTAL_TIME_RUNNING);
    }
}

#[test]
fn length_of_a_group_read_follows_from_the_format() {
    for format in formats().filter(|format| format.contains(ReadFormat::GROUP)) {
        let attr = faults().with_read_format(format);
        let Some(leader) = own(&attr) else { return };
        let join = OpenOptions::new().leader(&leader);
        let members = [(); 2].map(|()| join.open(&attr, Target::calling_thread()).unwrap());
        let (times, entry) = words(format);
        assert_eq!(leader.read_raw(&mut [0; 16]), Ok(1 + times + 3 * entry), "{format}");
        // A member reads the whole group too, the leader first.
        let [mut of_leader, mut of_member] = [[0; 16]; 2];
        let counts = read_values(&leader, &mut of_leader).unwrap();
        assert_eq!(counts, read_values(&members[1], &mut of_member).unwrap(), "{format}");
        if format.contains(ReadFormat::ID) {
            let ids = counts.iter().map(|count| count.id.unwrap()).collect::<Vec<_>>();
            assert_eq!(ids, [&leader, &members[0], &members[1]].map(|event| event.id().unwrap()));
        }
    }
}

#[test]
fn buffer_too_short_for_the_group_is_an_error() {
    let attr = faults().with_read_format(ReadFormat::GROUP);
    let Some(leader) = own(&attr) else { return };
    let _member = OpenOptions::new().leader(&leader).open(&attr, Target::calling_thread()).unwrap();
    let error = read_values(&leader, &mut [0; 2]).unwrap_err();
    assert_eq!((error.call(), error.errno()), (Some(Call::Read), Some(Errno::ENOSPC)));
    assert!(error.to_string().contains("shorter"), "{error}");
}
