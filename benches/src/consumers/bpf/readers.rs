//! The readers of perf-bpf, aya and libbpf-rs, each with a separate map.

use std::cell::Cell;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::rc::Rc;

use aya::maps::perf::PerfEvent;
use aya::maps::{Map, MapData, PerfEventArray, RingBuf};
use libbpf_rs::{MapHandle, PerfBufferBuilder, RingBufferBuilder};
use perf_bpf::{BpfMapType, EventArray, MapFd, MapSpec, PerfBufferOptions, PerfBufferRecord};

use super::{Opened, PAGE, Sum, ayas_interface};
use crate::Result;

fn array() -> Result<EventArray> {
    Ok(EventArray::create("bench".parse()?)?)
}

fn dup(fd: impl AsFd) -> std::io::Result<OwnedFd> {
    fd.as_fd().try_clone_to_owned()
}

pub fn ours_array(pages: usize) -> Opened {
    let array = array()?;
    let map = dup(&array)?;
    let mut buffer = PerfBufferOptions::new().pages(pages).open(array)?;
    let read = move |sum: &mut Sum| {
        for batch in buffer.ready() {
            for output in batch.unwrap().outputs() {
                if let Ok(PerfBufferRecord::Sample(sample)) = output {
                    sum.add(sample.bytes());
                }
            }
        }
    };
    Ok((map, Box::new(read)))
}

pub fn ours_by_ayas_interface(pages: usize) -> Opened {
    let mut array = array()?;
    let map = dup(&array)?;
    let mut buffer = ayas_interface::PerfBuffer::open(&mut array, 0, pages)?;
    let read = move |sum: &mut Sum| {
        let _kept = &array;
        buffer.for_each(|event| {
            if let ayas_interface::PerfEvent::Sample(bytes) = event {
                sum.add(bytes);
            }
        });
    };
    Ok((map, Box::new(read)))
}

pub fn aya_array(pages: usize) -> Opened {
    let map = array()?.map().try_clone()?.into_fd();
    let mut array = PerfEventArray::try_from(Map::from_map_data(MapData::from_fd(dup(&map)?)?)?)?;
    let mut buffer = array.open(0, Some(pages))?;
    let read = move |sum: &mut Sum| {
        let _kept = &array;
        buffer.for_each(|event| match event {
            PerfEvent::Sample { head, tail } if head.len() < 4 => sum.add(&[head, tail].concat()),
            PerfEvent::Sample { head, .. } => sum.add(head),
            PerfEvent::Lost { .. } => {}
        });
    };
    Ok((map, Box::new(read)))
}

/// Returns the checksum of libbpf's callbacks, which must not borrow from the reader, and a
/// function that adds to it.
fn shared() -> (Rc<Cell<Sum>>, impl Fn(&[u8])) {
    let cell = Rc::new(Cell::new(Sum::default()));
    let sum = Rc::clone(&cell);
    let add = move |bytes: &[u8]| {
        let mut sum = cell.get();
        sum.add(bytes);
        cell.set(sum);
    };
    (sum, add)
}

fn handle(fd: &OwnedFd) -> Result<&'static MapHandle> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd()))?;
    let id = text.lines().find_map(|line| line.strip_prefix("map_id:")).ok_or("not a map")?;
    Ok(Box::leak(Box::new(MapHandle::from_map_id(id.trim().parse()?)?)))
}

pub fn libbpf_array(pages: usize) -> Opened {
    let map = array()?.map().try_clone()?.into_fd();
    let (cell, add) = shared();
    let builder = PerfBufferBuilder::new(handle(&map)?);
    let buffer = builder.sample_cb(move |_, bytes: &[u8]| add(bytes)).pages(pages).build()?;
    let read = move |sum: &mut Sum| {
        buffer.consume().unwrap();
        *sum = cell.get();
    };
    Ok((map, Box::new(read)))
}

pub fn libbpf_ring(pages: usize) -> Opened {
    let map = ring_map(pages)?;
    let (cell, add) = shared();
    let mut builder = RingBufferBuilder::new();
    builder.add(handle(&map)?, move |bytes: &[u8]| {
        add(bytes);
        0
    })?;
    let ring = builder.build()?;
    let read = move |sum: &mut Sum| {
        ring.consume().unwrap();
        *sum = cell.get();
    };
    Ok((map, Box::new(read)))
}

fn ring(pages: usize) -> Result<perf_bpf::RingBuf> {
    Ok(perf_bpf::RingBuf::create("bench".parse()?, (pages * PAGE) as u32)?)
}

pub fn ours_ring(pages: usize) -> Opened {
    let mut ring = ring(pages)?;
    let map = dup(&ring)?;
    let read =
        move |sum: &mut Sum| ring.batch().unwrap().records().for_each(|record| sum.add(record.unwrap()));
    Ok((map, Box::new(read)))
}

pub fn ours_ring_borrowed(pages: usize) -> Opened {
    let mut ring = ring(pages)?;
    let map = dup(&ring)?;
    let read = move |sum: &mut Sum| {
        let mut batch = ring.batch().unwrap();
        // SAFETY: the map is not pinned, and this is its only reader.
        unsafe { batch.borrow_records() }.for_each(|record| sum.add(record.unwrap()));
    };
    Ok((map, Box::new(read)))
}

fn ring_map(pages: usize) -> Result<OwnedFd> {
    Ok(MapFd::create(&MapSpec::new(BpfMapType::RINGBUF, (pages * PAGE) as u32))?.into_fd())
}

pub fn aya_ring(pages: usize) -> Opened {
    let map = ring_map(pages)?;
    let mut ring = RingBuf::try_from(Map::from_map_data(MapData::from_fd(dup(&map)?)?)?)?;
    let read = move |sum: &mut Sum| {
        while let Some(item) = ring.next() {
            sum.add(&item);
        }
    };
    Ok((map, Box::new(read)))
}
