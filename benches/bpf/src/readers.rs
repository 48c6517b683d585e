//! The readers: each opens its own map and reads all unread records into a [`Sum`].

use std::error::Error;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use aya::maps::perf::PerfEvent;
use aya::maps::{Map, MapData, PerfEventArray, RingBuf};
use libbpf_rs::{MapHandle, PerfBufferBuilder, RingBufferBuilder};
use perf_bpf::{BpfMapType, EventArray, MapFd, MapSpec, PerfBufferOptions, PerfBufferRecord};

use crate::ayas_interface;

/// What a reader has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) records: u64,
    /// The sum of the first 4 bytes of all records.
    pub(crate) numbers: u64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk::<4>() {
            self.records += 1;
            self.numbers += u64::from(u32::from_ne_bytes(*first));
        }
    }
}

/// Reads all unread records.
pub(crate) type Read = Box<dyn FnMut() -> Sum>;

/// A map of bytes per ring, and its reader.
pub(crate) type Opened = Result<(OwnedFd, Read), Box<dyn Error>>;

fn array() -> Result<EventArray, perf_bpf::Error> {
    EventArray::create("bench".parse()?)
}

fn dup(fd: impl AsFd) -> std::io::Result<OwnedFd> {
    fd.as_fd().try_clone_to_owned()
}

fn map_id(fd: &OwnedFd) -> Result<u32, Box<dyn Error>> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd()))?;
    let id = text.lines().find_map(|line| line.strip_prefix("map_id:")).ok_or("not a map")?;
    Ok(id.trim().parse()?)
}

pub(crate) fn ours_array(pages: usize) -> Opened {
    let array = array()?;
    let map = dup(&array)?;
    let mut buffer = PerfBufferOptions::new().pages(pages).open(array)?;
    let read = move || {
        let mut sum = Sum::default();
        for batch in buffer.ready() {
            for output in batch.unwrap().outputs() {
                if let Ok(PerfBufferRecord::Sample(sample)) = output {
                    sum.add(sample.bytes());
                }
            }
        }
        sum
    };
    Ok((map, Box::new(read)))
}

pub(crate) fn ours_by_ayas_interface(pages: usize) -> Opened {
    let mut array = array()?;
    let map = dup(&array)?;
    let mut buffer = ayas_interface::PerfBuffer::open(&mut array, 0, pages)?;
    let read = move || {
        let _ = &array;
        let mut sum = Sum::default();
        buffer.for_each(|event| {
            if let ayas_interface::PerfEvent::Sample(bytes) = event {
                sum.add(bytes);
            }
        });
        sum
    };
    Ok((map, Box::new(read)))
}

pub(crate) fn aya_array(pages: usize) -> Opened {
    let map = array()?.map().try_clone()?.into_fd();
    let mut array = PerfEventArray::try_from(Map::from_map_data(MapData::from_fd(dup(&map)?)?)?)?;
    let mut buffer = array.open(0, Some(pages))?;
    let read = move || {
        let mut sum = Sum::default();
        buffer.for_each(|event| {
            if let PerfEvent::Sample { head, tail } = event {
                // A first part shorter than the number is rare, and its record is not summed.
                let _ = tail;
                sum.add(if head.len() < 4 { &[0; 4] } else { head });
            }
        });
        sum
    };
    Ok((map, Box::new(read)))
}

/// The sum of the callbacks of libbpf, which borrow nothing of the reader.
static RECORDS: AtomicU64 = AtomicU64::new(0);
static NUMBERS: AtomicU64 = AtomicU64::new(0);

fn add_static(bytes: &[u8]) {
    let mut sum = Sum::default();
    sum.add(bytes);
    RECORDS.store(RECORDS.load(Ordering::Relaxed) + sum.records, Ordering::Relaxed);
    NUMBERS.store(NUMBERS.load(Ordering::Relaxed) + sum.numbers, Ordering::Relaxed);
}

fn take_static() -> Sum {
    Sum { records: RECORDS.swap(0, Ordering::Relaxed), numbers: NUMBERS.swap(0, Ordering::Relaxed) }
}

pub(crate) fn libbpf_array(pages: usize) -> Opened {
    let map = array()?.map().try_clone()?.into_fd();
    let handle: &'static MapHandle = Box::leak(Box::new(MapHandle::from_map_id(map_id(&map)?)?));
    let buffer =
        PerfBufferBuilder::new(handle).sample_cb(|_, bytes: &[u8]| add_static(bytes)).pages(pages).build()?;
    let read = move || {
        buffer.consume().unwrap();
        take_static()
    };
    Ok((map, Box::new(read)))
}

fn bytes_of(pages: usize) -> u32 {
    pages as u32 * 4096
}

pub(crate) fn ours_ring(pages: usize) -> Opened {
    let mut ring: perf_bpf::RingBuf = perf_bpf::RingBuf::create("bench".parse()?, bytes_of(pages))?;
    let map = dup(&ring)?;
    let read = move || {
        let mut sum = Sum::default();
        for record in ring.batch().unwrap().records() {
            sum.add(record.unwrap());
        }
        sum
    };
    Ok((map, Box::new(read)))
}

pub(crate) fn ours_ring_borrowed(pages: usize) -> Opened {
    let mut ring: perf_bpf::RingBuf = perf_bpf::RingBuf::create("bench".parse()?, bytes_of(pages))?;
    let map = dup(&ring)?;
    let read = move || {
        let mut sum = Sum::default();
        let mut batch = ring.batch().unwrap();
        // SAFETY: the map is not pinned, and this is the only reader of it.
        for record in unsafe { batch.borrow_records() } {
            sum.add(record.unwrap());
        }
        sum
    };
    Ok((map, Box::new(read)))
}

pub(crate) fn aya_ring(pages: usize) -> Opened {
    let map = MapFd::create(&MapSpec::new(BpfMapType::RINGBUF, bytes_of(pages)))?.into_fd();
    let mut ring = RingBuf::try_from(Map::from_map_data(MapData::from_fd(dup(&map)?)?)?)?;
    let read = move || {
        let mut sum = Sum::default();
        while let Some(item) = ring.next() {
            sum.add(&item);
        }
        sum
    };
    Ok((map, Box::new(read)))
}

pub(crate) fn libbpf_ring(pages: usize) -> Opened {
    let map = MapFd::create(&MapSpec::new(BpfMapType::RINGBUF, bytes_of(pages)))?.into_fd();
    let handle: &'static MapHandle = Box::leak(Box::new(MapHandle::from_map_id(map_id(&map)?)?));
    let mut builder = RingBufferBuilder::new();
    builder.add(handle, |bytes: &[u8]| {
        add_static(bytes);
        0
    })?;
    let ring = builder.build()?;
    let read = move || {
        ring.consume().unwrap();
        take_static()
    };
    Ok((map, Box::new(read)))
}

/// Returns whether a second reader of a ring buffer map is refused, for the record.
pub(crate) fn second_reader_is_refused() -> Result<bool, Box<dyn Error>> {
    let ring = perf_bpf::RingBuf::create("bench".parse()?, 1)?;
    Ok(perf_bpf::RingBuf::open(&ring).is_err())
}
