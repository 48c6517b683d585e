//! Any bytes as a file: in memory, as an open file, and by time.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use perf_file::{PerfData, Reader};
use perfkit_fuzz::file::{read_all, read_sorted, view};

fuzz_target!(|bytes: &[u8]| {
    view(bytes);
    let in_memory = Reader::from_bytes(bytes).map(|mut reader| read_all(&mut reader));
    let of_file = Reader::from_file(Cursor::new(bytes));
    let of_file = of_file.map(|mut reader| {
        let in_memory = PerfData::new(bytes).unwrap().verify_features();
        assert_eq!(reader.verify_features().is_ok(), in_memory.is_ok(), "{in_memory:?}");
        read_all(&mut reader)
    });
    assert_eq!(in_memory.as_ref().ok(), of_file.as_ref().ok(), "{in_memory:?} {of_file:?}");
    if let (Ok((count, _)), Ok(reader)) = (in_memory, Reader::from_bytes(bytes)) {
        let capacity = usize::from(bytes.last().copied().unwrap_or(0)) * 8;
        assert_eq!(read_sorted(reader, capacity), count);
    }
});
