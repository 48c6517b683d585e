//! The bodies of side-band records: which of their bytes form a number.

use perf_abi::{Misc, RecordType};
use zerocopy::IntoBytes;

/// The body of a kind: the numbers of its first words, and the words after them.
pub(super) struct Body {
    /// Bytes of the numbers in each word; the rest of a word is bytes.
    numbers: &'static [&'static [usize]],
    tail: Tail,
}

/// The words of a body after those of its fixed fields.
enum Tail {
    /// The trailer, or 64-bit numbers.
    Numbers,
    /// A string with its NUL.
    Text,
    /// The bytes of a `TEXT_POKE` record.
    Code,
}

const WORD: &[usize] = &[8];
const PAIR: &[usize] = &[4, 4];
const BYTES: &[usize] = &[];

/// Returns the body of a kind; `None` if it is unknown.
pub(super) fn of(kind: RecordType, misc: Misc) -> Option<&'static Body> {
    macro_rules! body {
        ($tail:ident: $($word:expr),*) => {
            &const { Body { numbers: &[$($word),*], tail: Tail::$tail } }
        };
    }
    Some(match kind {
        RecordType::MMAP => body!(Text: PAIR, WORD, WORD, WORD),
        RecordType::LOST => body!(Numbers: WORD, WORD),
        RecordType::COMM => body!(Text: PAIR),
        RecordType::EXIT | RecordType::FORK => body!(Numbers: PAIR, PAIR, WORD),
        RecordType::THROTTLE | RecordType::UNTHROTTLE | RecordType::AUX => body!(Numbers: WORD, WORD, WORD),
        RecordType::READ
        | RecordType::NAMESPACES
        | RecordType::ITRACE_START
        | RecordType::SWITCH_CPU_WIDE => {
            body!(Numbers: PAIR)
        }
        RecordType::MMAP2 if misc.contains(Misc::MMAP_BUILD_ID) => {
            body!(Text: PAIR, WORD, WORD, WORD, BYTES, BYTES, BYTES, PAIR)
        }
        RecordType::MMAP2 => body!(Text: PAIR, WORD, WORD, WORD, PAIR, WORD, WORD, PAIR),
        RecordType::KSYMBOL => body!(Text: WORD, &[4, 2, 2]),
        RecordType::BPF_EVENT => body!(Numbers: &[2, 2, 4], BYTES),
        RecordType::CGROUP => body!(Text: WORD),
        RecordType::TEXT_POKE => body!(Code: WORD, &[2, 2]),
        RecordType::SAMPLE
        | RecordType::SWITCH
        | RecordType::LOST_SAMPLES
        | RecordType::AUX_OUTPUT_HW_ID
        | RecordType::CALLCHAIN_DEFERRED => body!(Numbers:),
        _ => return None,
    })
}

/// Swaps the body at the start of `words`, the words after the header. Returns its number of words.
pub(super) fn swap(body: &Body, words: &mut [u64]) -> usize {
    for (word, numbers) in words.iter_mut().zip(body.numbers) {
        *word = swap_parts(*word, numbers);
    }
    let fixed = body.numbers.len();
    match body.tail {
        Tail::Numbers => fixed,
        Tail::Text => fixed + text_words(words.get(fixed..).unwrap_or_default()),
        Tail::Code => fixed + code_words(words),
    }
}

/// Returns the end of the body of a kind whose trailer can have words after it, as a word index. The
/// body is swapped.
pub(super) fn end_before_stale_words(kind: RecordType, words: &[u64]) -> Option<usize> {
    match kind {
        RecordType::KSYMBOL => Some(3 + text_words(words.get(3..)?)),
        RecordType::BPF_EVENT => Some(3),
        RecordType::TEXT_POKE => Some(3 + code_words(words.get(1..)?)),
        _ => None,
    }
}

/// Swaps the inode of an `MMAP2` record that was taken for a build id.
pub(super) fn swap_inode(words: &mut [u64]) {
    for (word, numbers) in words.iter_mut().skip(5).zip([PAIR, WORD, WORD]) {
        *word = swap_parts(*word, numbers);
    }
}

/// Swaps the numbers of a word, each of which has the given number of bytes.
pub(super) fn swap_parts(word: u64, numbers: &[usize]) -> u64 {
    let mut bytes = word.to_ne_bytes();
    let mut rest = &mut bytes[..];
    for len in numbers {
        let Some((number, after)) = rest.split_at_mut_checked(*len) else { break };
        number.reverse();
        rest = after;
    }
    u64::from_ne_bytes(bytes)
}

/// Returns the number of words of a string with its NUL.
fn text_words(words: &[u64]) -> usize {
    let has_nul = |word: &u64| word.to_ne_bytes().contains(&0);
    words.iter().position(has_nul).map_or(words.len(), |index| index + 1)
}

/// Returns the number of words after the two of a `TEXT_POKE` record's fixed fields. The first 4
/// bytes of the code are in the second of them.
fn code_words(words: &[u64]) -> usize {
    let lengths = words.get(1).copied().unwrap_or(0);
    let [old, new]: [u16; 2] = match lengths.as_bytes().first_chunk() {
        Some(&[a, b, c, d]) => [u16::from_ne_bytes([a, b]), u16::from_ne_bytes([c, d])],
        None => [0; 2],
    };
    (usize::from(old) + usize::from(new)).saturating_sub(4).div_ceil(8)
}
