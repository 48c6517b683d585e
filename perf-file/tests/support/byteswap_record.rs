//! Records for [`byteswap`](super::byteswap).

use super::byteswap::{Shape, Turn, attr};

/// Bits of `sample_type`, by their numbers in the kernel's header.
const IDENTIFIER: u64 = 1 << 16;
const ID: u64 = 1 << 6;
const TID: u64 = 1 << 1;
const CPU: u64 = 1 << 7;

/// Turns the record at the position, and the data that follows it.
pub(crate) fn record(turn: &mut Turn<'_>, events: &[Shape]) {
    let start = turn.at;
    let (kind, misc, size) = (turn.u32(), turn.u16(), turn.u16());
    let end = start + usize::try_from(size).unwrap();
    let event = find(turn.file, kind, start, end, events);
    match kind {
        9 => sample(turn, event, end),
        ..64 => {
            body(turn, kind, misc);
            if kind == 8 {
                read(turn, event.read_format);
            }
            trailer(turn, event);
        }
        _ => tool(turn, kind, end),
    }
    assert!(turn.at <= end, "{kind} at {start}: {} of {end}", turn.at);
    turn.at = end;
}

/// Returns the event of a record by its id; the first event without one.
fn find<'e>(file: &[u8], kind: u64, start: usize, end: usize, events: &'e [Shape]) -> &'e Shape {
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let any = &events[0];
    let before = |fields: &[u64]| fields.iter().filter(|bit| any.sample_type & **bit != 0).count();
    let id = if any.sample_type & (IDENTIFIER | ID) == 0 || events.len() == 1 {
        None
    } else if kind == 9 {
        // IP, TID, TIME and ADDR precede the ID.
        let skipped = if any.sample_type & IDENTIFIER != 0 { 0 } else { before(&[1, TID, 4, 8]) };
        Some(word(start + 8 + 8 * skipped))
    } else {
        let skipped = if any.sample_type & IDENTIFIER != 0 { 0 } else { before(&[CPU, 1 << 9]) };
        Some(word(end - 8 - 8 * skipped))
    };
    events.iter().find(|event| id.is_some_and(|id| event.ids.contains(&id))).unwrap_or(any)
}

fn text(turn: &mut Turn<'_>) {
    while turn.file[turn.at..turn.at + 8].iter().all(|byte| *byte != 0) {
        turn.skip(8);
    }
    turn.skip(8);
}

/// Turns the body of a side-band record.
fn body(turn: &mut Turn<'_>, kind: u64, misc: u64) {
    // MMAP COMM EXIT FORK READ MMAP2 ITRACE_START SWITCH_CPU_WIDE NAMESPACES: two u32 first
    if [1, 3, 4, 7, 8, 10, 12, 15, 16].contains(&kind) {
        turn.u32();
        turn.u32();
    }
    match kind {
        1 | 10 => {
            turn.u64s(3);
            if kind == 10 && misc & 1 << 14 != 0 {
                turn.skip(24);
            } else if kind == 10 {
                turn.u32();
                turn.u32();
                turn.u64();
                turn.u64();
            }
            if kind == 10 {
                turn.u32();
                turn.u32();
            }
            text(turn);
        }
        2 => turn.u64s(2),
        3 => text(turn),
        4 | 7 => {
            turn.u32();
            turn.u32();
            turn.u64();
        }
        5 | 6 | 11 => turn.u64s(3),
        8 | 12 | 14 | 15 => {}
        13 | 21 => turn.u64s(1),
        16 => {
            let count = turn.u64();
            turn.u64s(count * 2);
        }
        17 => {
            turn.u64();
            turn.u32();
            turn.u16();
            turn.u16();
            text(turn);
        }
        18 => {
            turn.u16();
            turn.u16();
            turn.u32();
            turn.skip(8);
        }
        19 => {
            turn.u64();
            text(turn);
        }
        20 => {
            turn.u64();
            let len = 4 + turn.u16() + turn.u16();
            turn.skip(len.next_multiple_of(8) - 4);
        }
        22 => {
            turn.u64();
            let count = turn.u64();
            turn.u64s(count);
        }
        other => panic!("kind {other}: describe its body here"),
    }
}

fn trailer(turn: &mut Turn<'_>, event: &Shape) {
    // sample_id_all is flag 18.
    if event.flags >> 18 & 1 == 0 {
        return;
    }
    for bit in [TID, 4, ID, 1 << 9, CPU, IDENTIFIER] {
        if event.sample_type & bit != 0 {
            word(turn, bit);
        }
    }
}

/// Turns the word of a field.
fn word(turn: &mut Turn<'_>, bit: u64) {
    if bit == TID || bit == CPU {
        turn.u32();
        turn.u32();
    } else {
        turn.u64();
    }
}

fn sample(turn: &mut Turn<'_>, event: &Shape, end: usize) {
    let has = |bit: u32| event.sample_type >> bit & 1 == 1;
    for bit in [IDENTIFIER, 1, TID, 4, 8, ID, 1 << 9, CPU, 1 << 8] {
        if event.sample_type & bit != 0 {
            word(turn, bit);
        }
    }
    if has(4) {
        read(turn, event.read_format);
    }
    if has(5) {
        let count = turn.u64();
        turn.u64s(count);
    }
    if has(10) {
        let size = turn.u32();
        turn.skip(size);
    }
    if has(11) {
        branches(turn, event.branches);
    }
    for (bit, mask) in [(12, event.regs_user), (18, event.regs_intr)] {
        if has(bit) && turn.u64() != 0 {
            turn.u64s(mask.count_ones().into());
        }
        if bit == 12 && has(13) {
            let size = turn.u64();
            turn.skip(size);
            if size > 0 {
                turn.u64();
            }
        }
        if bit == 12 {
            // WEIGHT, DATA_SRC, TRANSACTION, WEIGHT_STRUCT
            (14..18).filter(|bit| has(*bit) && *bit != 16).for_each(|_| turn.u64s(1));
            (24..25).filter(|bit| has(*bit)).for_each(|_| turn.u64s(1));
        }
    }
    // PHYS_ADDR, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE
    [19, 21, 22, 23].into_iter().filter(|bit| has(*bit)).for_each(|_| turn.u64s(1));
    if has(20) {
        let size = turn.u64();
        turn.skip(size);
    }
    assert_eq!(turn.at, end, "a sample");
}

/// Turns a branch stack; `kinds` is `branch_sample_type`.
fn branches(turn: &mut Turn<'_>, kinds: u64) {
    let count = turn.u64();
    // HW_INDEX
    turn.u64s(kinds >> 17 & 1);
    for _ in 0..count {
        turn.u64s(2);
        // C's bit fields start at the other end of the word, each with its own bits in order: mispred,
        // predicted, in_tx, abort, cycles, type, spec, new_type, priv, reserved.
        let at = turn.at;
        let info = u64::from_le_bytes(turn.file[at..at + 8].try_into().unwrap());
        let (mut from, mut turned) = (0, 0);
        for width in [1_u32, 1, 1, 1, 16, 4, 2, 4, 3, 31] {
            let field = info >> from & ((1 << width) - 1);
            from += width;
            turned |= field << (64 - from);
        }
        turn.file[at..at + 8].copy_from_slice(&u64::to_be_bytes(turned));
        turn.at += 8;
    }
    // COUNTERS
    if kinds >> 19 & 1 == 1 {
        turn.u64s(count);
    }
}

fn read(turn: &mut Turn<'_>, format: u64) {
    let has = |bit: u32| format >> bit & 1;
    let (times, entry) = (has(0) + has(1), 1 + has(2) + has(4));
    let words = if has(3) == 1 {
        let count = turn.u64();
        times + count * entry
    } else {
        times + entry
    };
    turn.u64s(words);
}

/// Turns a record of a tool after its header.
fn tool(turn: &mut Turn<'_>, kind: u64, end: usize) {
    match kind {
        64 => {
            attr(turn, 128);
            while turn.at < end {
                turn.u64();
            }
        }
        67 => {
            turn.u32();
        }
        69 | 75 | 76 | 77 => {
            if kind == 76 {
                turn.u64();
                turn.u32();
                turn.u32();
            }
            while turn.at < end {
                turn.u64();
            }
        }
        73 => {
            let count = turn.u64();
            for _ in 0..count {
                turn.u64();
                turn.skip(16);
            }
        }
        74 => cpus(turn),
        78 => {
            let what = turn.u64();
            turn.u64();
            match what {
                1 => turn.u64s(1),
                3 => cpus(turn),
                _ => {}
            }
        }
        68 | 82 => {}
        other => panic!("kind {other}"),
    }
}

fn cpus(turn: &mut Turn<'_>) {
    match turn.u16() {
        0 => {
            let count = turn.u16();
            turn.u16s(count);
        }
        2 => {
            turn.skip(2);
            turn.u16();
            turn.u16();
        }
        other => panic!("form {other}"),
    }
}
