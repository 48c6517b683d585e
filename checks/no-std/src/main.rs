//! Reads a ring of two records with neither std nor an allocator nor libc, and exits with 0 if what
//! came out is what was put in.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

use perf_abi::{Attr, RecordType, SampleType, Software};
use perf_decode::{RawRecord, Record, SampleLayout, Scratch, Window};

#[cfg(feature = "alloc")]
extern crate alloc;

const ATTR: Attr =
    Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP.union(SampleType::TIME));

static LAYOUT: SampleLayout = SampleLayout::new(&ATTR);

/// A data area whose records start at byte 32. The sample lies across its end.
static DATA: [u64; 8] =
    [0x40_1000, 12_345, 0, 0, header(RecordType::LOST), 7, 99, header(RecordType::SAMPLE)];

/// The header of a record of 24 bytes.
const fn header(kind: RecordType) -> u64 {
    let [a, b, c, d] = kind.0.to_ne_bytes();
    let [size, size_high] = 24_u16.to_ne_bytes();
    u64::from_ne_bytes([a, b, c, d, 0, 0, size, size_high])
}

/// The program: how many of the two records were not read as they were written.
#[unsafe(no_mangle)]
extern "C" fn check() -> i32 {
    let mut scratch = Scratch::new();
    // Opaque, so that the decoder is really in the program.
    let Ok(window) = Window::new(black_box(&DATA), black_box(32), black_box(80)) else {
        return 3;
    };
    let mut records = window.records(&mut scratch).filter_map(Result::ok).filter_map(decode);

    let lost = matches!(records.next(), Some(Record::Lost(lost)) if (lost.id(), lost.lost()) == (7, 99));
    let sample = matches!(
        records.next(),
        Some(Record::Sample(sample)) if (sample.ip(), sample.time()) == (Some(0x40_1000), Some(12_345))
    );
    i32::from(!lost) + i32::from(!sample)
}

fn decode(record: RawRecord<'_>) -> Option<Record<'_>> {
    record.decode(black_box(&LAYOUT)).ok()
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    start::exit(101)
}
