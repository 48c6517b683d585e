//! Any bytes after the header of a pipe, read in parts of any length.
#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use perf_file::Reader;
use perfkit_fuzz::file::read_all;

/// Reads a few bytes at a time.
struct Parts<'a> {
    rest: &'a [u8],
    len: usize,
}

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.len.min(buffer.len());
        self.len = self.len * 5 % 61 + 1;
        self.rest.read(&mut buffer[..len])
    }
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte selects the byte order and the length of the parts.
    let Some((first, records)) = bytes.split_first() else { return };
    let header = match first & 1 {
        0 => b"PERFILE2\x10\0\0\0\0\0\0\0",
        _ => b"2ELIFREP\0\0\0\0\0\0\0\x10",
    };
    let whole = [&header[..], records].concat();
    let parts = Parts { rest: &whole, len: usize::from(first / 2) + 1 };
    let of_pipe = read_all(&mut Reader::from_pipe(parts).unwrap());
    let in_memory = read_all(&mut Reader::from_bytes(&whole).unwrap());
    assert_eq!(of_pipe, in_memory);
    // The same records follow, also after an event that is malformed.
    let mut ahead = Reader::from_pipe(&whole[..]).unwrap();
    let _ = ahead.read_metadata();
    assert_eq!(read_all(&mut ahead), in_memory);
});
