//! Records for [`byteswap`](super::byteswap).

use perf_abi::{Header, RecordType, SampleType};
use perf_decode::testing::reference;
use zerocopy::IntoBytes as _;

use super::byteswap::{Shape, Turn, attr};

/// Turns the record at the position, and the data that follows it.
pub(crate) fn record(turn: &mut Turn<'_>, events: &[Shape]) {
    let start = turn.at;
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap());
    let header = Header::from_word(word(&turn.file[start..start + 8]));
    let end = start + usize::from(header.size);
    if header.kind.0 < 64 {
        let words: Vec<u64> = turn.file[start..end].chunks_exact(8).map(word).collect();
        let event = find(&words, header.kind, events);
        let foreign = reference::foreign(&words, &event.attr).unwrap();
        turn.file[start..end].copy_from_slice(foreign.as_bytes());
    } else {
        let (kind, _misc, _size) = (turn.u32(), turn.u16(), turn.u16());
        tool(turn, kind, end);
        assert!(turn.at <= end, "{kind} at {start}: {} of {end}", turn.at);
    }
    turn.at = end;
}

/// Returns the event of a record by its id; the first event without one.
fn find<'e>(words: &[u64], kind: RecordType, events: &'e [Shape]) -> &'e Shape {
    let any = &events[0];
    let wanted = any.attr.sample_type;
    let count = |fields: SampleType| wanted.intersection(fields).iter().count();
    let has_identifier = wanted.contains(SampleType::IDENTIFIER);
    let id = if !wanted.intersects(SampleType::IDENTIFIER | SampleType::ID) || events.len() == 1 {
        None
    } else if kind == RecordType::SAMPLE {
        let before = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::ADDR;
        Some(words[1 + if has_identifier { 0 } else { count(before) }])
    } else {
        let after = SampleType::CPU | SampleType::STREAM_ID;
        Some(words[words.len() - 1 - if has_identifier { 0 } else { count(after) }])
    };
    events.iter().find(|event| id.is_some_and(|id| event.ids.contains(&id))).unwrap_or(any)
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
