//! Feature sections for [`byteswap`](super::byteswap).

use super::byteswap::{Turn, attr};

/// A part of a section.
enum Item {
    U32,
    U64,
    Text,
    /// A `u32`, and that many times the items.
    List(&'static [Item]),
    /// The same with a `u64`.
    LongList(&'static [Item]),
    /// A `u64` number of bits, and words with the bits.
    Bitmap,
    /// The items up to the end.
    Rest(&'static [Item]),
}

use Item::{Bitmap, List, LongList, Rest, Text, U32, U64};

const TEXTS: Item = List(&[Text]);

/// Turns a section.
pub(crate) fn section(turn: &mut Turn<'_>, feature: usize, size: usize) {
    let end = turn.at + size;
    let content: &[Item] = match feature {
        // Tracing data has its own mark of the byte order.
        1 | 15 | 19 => return,
        2 => return build_ids(turn, end),
        3..=6 | 8 | 9 => &[Text],
        7 => &[U32, U32],
        10 | 23 | 24 => &[U64],
        11 => &[TEXTS],
        12 => return events(turn),
        13 => &[TEXTS, TEXTS, U32, U32, U32, U32, TEXTS, Rest(&[U32])],
        14 => &[List(&[U32, U64, U64, Text])],
        16 => &[List(&[U32, Text])],
        17 => &[List(&[Text, U32, U32])],
        20 => &[U32, List(&[U32, U32, U32, U32, Text, Text, Text])],
        21 => &[U64, U64],
        22 => &[U64, U64, LongList(&[U64, U64, Bitmap])],
        25 => return programs(turn),
        26 => return btf(turn),
        27 => &[U32, U32, U32, U32, U32],
        28 => &[List(&[Text, Text])],
        29 => &[U32, U32, U64, U64],
        31 => &[List(&[List(&[Text, Text]), Text])],
        other => panic!("feature {other}"),
    };
    items(turn, content, end);
    assert!(turn.at <= end, "feature {feature}");
}

fn items(turn: &mut Turn<'_>, content: &[Item], end: usize) {
    for item in content {
        match item {
            U32 => {
                turn.u32();
            }
            U64 => turn.u64s(1),
            Text => {
                let len = turn.u32();
                turn.skip(len);
            }
            List(entry) => (0..turn.u32()).for_each(|_| items(turn, entry, end)),
            LongList(entry) => (0..turn.u64()).for_each(|_| items(turn, entry, end)),
            Bitmap => {
                let words = turn.u64().div_ceil(64);
                turn.u64s(words);
            }
            Rest(entry) => {
                while turn.at < end {
                    items(turn, entry, end);
                }
            }
        }
    }
}

fn build_ids(turn: &mut Turn<'_>, end: usize) {
    while turn.at < end {
        let start = turn.at;
        turn.u32();
        turn.u16();
        let size = turn.u16();
        turn.u32();
        turn.at = start + usize::try_from(size).unwrap();
    }
}

fn programs(turn: &mut Turn<'_>) {
    for _ in 0..turn.u32() {
        let len = turn.u32() + turn.u32();
        turn.u64();
        turn.skip(len);
    }
}

fn btf(turn: &mut Turn<'_>) {
    for _ in 0..turn.u32() {
        turn.u32();
        let len = turn.u32();
        turn.skip(len);
    }
}

fn events(turn: &mut Turn<'_>) {
    let (count, attr_size) = (turn.u32(), turn.u32());
    for _ in 0..count {
        attr(turn, attr_size);
        let ids = turn.u32();
        let len = turn.u32();
        turn.skip(len);
        turn.u64s(ids);
    }
}
