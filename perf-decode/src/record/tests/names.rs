//! Names: proven by a NUL in the last word, searched for otherwise.

use super::*;

/// The kinds whose body ends in a name with the trailer at the record's end, with the words before
/// it.
const NAMED: [(RecordType, usize); 4] =
    [(RecordType::MMAP, 4), (RecordType::COMM, 1), (RecordType::MMAP2, 8), (RecordType::CGROUP, 1)];

/// Returns a record of this kind with these bytes as its name.
fn named(kind: RecordType, words: usize, name: &[u8]) -> Vec<u64> {
    finish(body(kind).words(&std::vec![0; words]).bytes(name))
}

fn name<'a>(record: &Record<'a>) -> &'a [u8] {
    match record {
        Record::Mmap(mmap) => mmap.filename(),
        Record::Comm(comm) => comm.comm(),
        Record::Mmap2(mmap) => mmap.filename(),
        Record::Cgroup(cgroup) => cgroup.path(),
        Record::Ksymbol(symbol) => symbol.name(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn name_ends_before_the_nul_in_its_last_word() {
    for (kind, words) in NAMED {
        for len in 0..24 {
            let text = std::vec![b'a'; len];
            let padded = [&text[..], &std::vec![0; 8 - len % 8]].concat();
            let words = named(kind, words, &padded);
            let record = decoded(&words).unwrap();
            assert_eq!((name(&record), record.trailing_len()), (&text[..], 0), "{kind:?}");
        }
    }
}

#[test]
fn name_ends_at_its_first_nul() {
    for (kind, words) in NAMED {
        // The rest of the NUL's word is padding, whatever it holds; the words after it are
        // trailing.
        for rest in [&b"zzzz"[..], b"zzzzxxxxxxxx", b"zzzzxxxxxxx\0", b"zzzzxxxxxxxxyyyyyyyy"] {
            let words = named(kind, words, &[b"abc\0", rest].concat());
            let record = decoded(&words).unwrap();
            assert_eq!((name(&record), record.trailing_len()), (&b"abc"[..], rest.len() - 4), "{kind:?}");
        }
    }
}

#[test]
fn name_without_nul_does_not_extend_into_the_trailer() {
    let zero = SampleIdValues::default();
    for (kind, words) in NAMED {
        for text in [&b"12345678"[..], b"\x01\x80\xff\x01\x80\xff\x01\x80", &[1; 24]] {
            let words =
                body(kind).words(&std::vec![0; words]).bytes(text).with_trailer(&ATTR, &zero).finish();
            let error = raw(&words).decode(&LAYOUT).unwrap_err();
            assert!(matches!(error, Error::Unterminated { kind: named, .. } if named == kind), "{error:?}");
        }
    }
    let words = finish(body(RecordType::COMM).pair(1, 2).bytes(b"12345678"));
    assert_eq!(decoded(&words).unwrap_err(), Error::Unterminated { kind: RecordType::COMM, field: "comm" });
}

#[test]
fn ksymbol_has_its_trailer_after_the_word_of_the_nul() {
    for text in [&b"1234567\0"[..], b"\0zzzzzzz", b"12345678\0zzzzzzz"] {
        let symbol = body(RecordType::KSYMBOL).words(&[1, 2]).bytes(text);
        let end = text.iter().position(|byte| *byte == 0).unwrap();
        let words = finish(symbol.clone());
        let record = decoded(&words).unwrap();
        assert_eq!((name(&record), record.trailing_len()), (&text[..end], 0));
        let words = symbol.with_trailer(&ATTR, &TRAILER).words(&[7; 3]).finish();
        let record = decoded(&words).unwrap();
        assert_eq!((name(&record), record.trailing_len()), (&text[..end], 24));
    }
    let words = finish(body(RecordType::KSYMBOL).words(&[1, 2]).bytes(&[1; 16]));
    assert!(matches!(decoded(&words), Err(Error::Unterminated { field: "name", .. })));
}
