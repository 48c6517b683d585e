//! The readers: each opens its own map, waits as its library does by default, and reads.

use std::cell::Cell;
use std::error::Error;
use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::Duration;

use aya::maps::perf::{PerfEvent, PerfEventArrayBuffer};
use aya::maps::{Map, MapData, PerfEventArray, RingBuf};
use libbpf_rs::libbpf_sys::{self, perf_buffer, perf_buffer_opts};
use libbpf_rs::{MapHandle, PerfBufferBuilder, RingBufferBuilder};
use perf_bpf::{BpfMapType, EventArray, MapFd, MapSpec, PerfBuffer, PerfBufferOptions, PerfBufferRecord};

/// What a reader has read so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    pub(crate) records: u64,
    /// The sum of the first 4 bytes of all records, which are their numbers in a system call.
    pub(crate) numbers: u64,
    /// Lost records that the library reported to the reader.
    pub(crate) lost: u64,
}

impl Delivered {
    #[inline]
    fn add(&mut self, bytes: &[u8]) {
        self.records += 1;
        if let Some(first) = bytes.first_chunk::<4>() {
            self.numbers += u64::from(u32::from_ne_bytes(*first));
        }
    }
}

pub(crate) trait Reader {
    /// Waits for records and reads all of them.
    fn step(&mut self, timeout: Duration, sum: &mut Delivered);

    /// Returns the number of lost records at the end.
    fn lost(&self, sum: &Delivered) -> u64 {
        sum.lost
    }
}

/// The map of a reader, and the reader.
pub(crate) type Opened = Result<(OwnedFd, Box<dyn Reader>), Box<dyn Error>>;

const PAGE: usize = 4096;

fn dup(fd: impl AsFd) -> std::io::Result<OwnedFd> {
    fd.as_fd().try_clone_to_owned()
}

impl Reader for PerfBuffer {
    fn step(&mut self, timeout: Duration, sum: &mut Delivered) {
        self.wait(Some(timeout)).unwrap();
        for batch in self.ready() {
            for output in batch.unwrap().outputs() {
                match output.unwrap() {
                    PerfBufferRecord::Sample(sample) => sum.add(sample.bytes()),
                    PerfBufferRecord::Lost(lost) => sum.lost += lost,
                    PerfBufferRecord::Other(other) => panic!("{other:?}"),
                }
            }
        }
    }

    fn lost(&self, _: &Delivered) -> u64 {
        self.total().unwrap().lost
    }
}

pub(crate) fn ours_array(pages: usize) -> Opened {
    let array = EventArray::create("bench".parse()?)?;
    Ok((dup(&array)?, Box::new(PerfBufferOptions::new().pages(pages).open(array)?)))
}

/// Returns the records of 80 bytes that fill a quarter of a ring.
fn quarter(pages: usize) -> u32 {
    (pages * PAGE / 4 / 80) as u32
}

/// As [`ours_array`], with a wakeup for each [`quarter`].
pub(crate) fn ours_array_quarter(pages: usize) -> Opened {
    let array = EventArray::create("bench".parse()?)?;
    let options = PerfBufferOptions::new().pages(pages).wakeup_events(quarter(pages));
    Ok((dup(&array)?, Box::new(options.open(array)?)))
}

impl Reader for perf_bpf::RingBuf {
    fn step(&mut self, timeout: Duration, sum: &mut Delivered) {
        self.wait(Some(timeout)).unwrap();
        for record in self.batch().unwrap().records() {
            sum.add(record.unwrap());
        }
    }
}

pub(crate) fn ours_ring(pages: usize) -> Opened {
    let ring = perf_bpf::RingBuf::create("bench".parse()?, (pages * PAGE) as u32)?;
    Ok((dup(&ring)?, Box::new(ring)))
}

fn poll(fd: impl AsRawFd, timeout: Duration) {
    let mut fds = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor, live and mutable.
    let _ = unsafe { libc::poll(&raw mut fds, 1, timeout.as_millis() as i32) };
}

/// The buffer of the producer's CPU, and the array that keeps it open.
struct AyaArray(PerfEventArrayBuffer<MapData>, #[expect(dead_code)] PerfEventArray<MapData>);

impl Reader for AyaArray {
    fn step(&mut self, timeout: Duration, sum: &mut Delivered) {
        poll(self.0.as_fd(), timeout);
        self.0.for_each(|event| match event {
            PerfEvent::Sample { head, tail } if head.len() < 4 => {
                sum.add(&[head, tail].concat());
            }
            PerfEvent::Sample { head, .. } => sum.add(head),
            PerfEvent::Lost { count } => sum.lost += count,
        });
    }
}

pub(crate) fn aya_array(pages: usize) -> Opened {
    let map = EventArray::create("bench".parse()?)?.map().try_clone()?.into_fd();
    let mut array = PerfEventArray::try_from(Map::from_map_data(MapData::from_fd(dup(&map)?)?)?)?;
    let buffer = array.open(0, Some(pages))?;
    Ok((map, Box::new(AyaArray(buffer, array))))
}

struct AyaRing(RingBuf<MapData>);

impl Reader for AyaRing {
    fn step(&mut self, timeout: Duration, sum: &mut Delivered) {
        poll(self.0.as_fd(), timeout);
        while let Some(item) = self.0.next() {
            sum.add(&item);
        }
    }
}

fn ring_map(pages: usize) -> Result<OwnedFd, perf_bpf::Error> {
    Ok(MapFd::create(&MapSpec::new(BpfMapType::RINGBUF, (pages * PAGE) as u32))?.into_fd())
}

pub(crate) fn aya_ring(pages: usize) -> Opened {
    let map = ring_map(pages)?;
    let ring = RingBuf::try_from(Map::from_map_data(MapData::from_fd(dup(&map)?)?)?)?;
    Ok((map, Box::new(AyaRing(ring))))
}

fn handle(fd: &OwnedFd) -> Result<&'static MapHandle, Box<dyn Error>> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd()))?;
    let id = text.lines().find_map(|line| line.strip_prefix("map_id:")).ok_or("not a map")?;
    Ok(Box::leak(Box::new(MapHandle::from_map_id(id.trim().parse()?)?)))
}

/// The callbacks of libbpf add to a cell, which costs what adding to the caller's sum does.
struct Libbpf<R, P: Fn(&R, Duration)>(R, P, Rc<Cell<Delivered>>);

impl<R, P: Fn(&R, Duration)> Reader for Libbpf<R, P> {
    fn step(&mut self, timeout: Duration, sum: &mut Delivered) {
        (self.1)(&self.0, timeout);
        *sum = self.2.get();
    }
}

fn update(cell: &Cell<Delivered>, with: impl FnOnce(&mut Delivered)) {
    let mut sum = cell.get();
    with(&mut sum);
    cell.set(sum);
}

pub(crate) fn libbpf_array(pages: usize) -> Opened {
    let map = EventArray::create("bench".parse()?)?.map().try_clone()?.into_fd();
    let cell = Rc::new(Cell::new(Delivered::default()));
    let (samples, losses) = (Rc::clone(&cell), Rc::clone(&cell));
    let buffer = PerfBufferBuilder::new(handle(&map)?)
        .sample_cb(move |_, bytes: &[u8]| update(&samples, |sum| sum.add(bytes)))
        .lost_cb(move |_, lost| update(&losses, |sum| sum.lost += lost))
        .pages(pages)
        .build()?;
    let poll = |buffer: &libbpf_rs::PerfBuffer<'_>, timeout| buffer.poll(timeout).unwrap();
    Ok((map, Box::new(Libbpf(buffer, poll, cell))))
}

/// The perf buffer of libbpf with a wakeup for each [`quarter`], an option that libbpf-rs does not have.
struct RawLibbpf(NonNull<perf_buffer>, Rc<Cell<Delivered>>);

impl Reader for RawLibbpf {
    fn step(&mut self, timeout: Duration, sum: &mut Delivered) {
        // SAFETY: the buffer is open.
        unsafe { libbpf_sys::perf_buffer__poll(self.0.as_ptr(), timeout.as_millis() as i32) };
        // Records below the wakeup, as `PerfBuffer::ready` returns them.
        // SAFETY: the buffer is open.
        unsafe { libbpf_sys::perf_buffer__consume(self.0.as_ptr()) };
        *sum = self.1.get();
    }
}

impl Drop for RawLibbpf {
    fn drop(&mut self) {
        // SAFETY: it is open, and not used after this.
        unsafe { libbpf_sys::perf_buffer__free(self.0.as_ptr()) };
    }
}

unsafe extern "C" fn on_sample(context: *mut c_void, _cpu: i32, data: *mut c_void, size: u32) {
    // SAFETY: the cell of the reader, which outlives the buffer.
    let cell = unsafe { &*context.cast::<Cell<Delivered>>() };
    // SAFETY: libbpf passes the bytes of a record.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size as usize) };
    update(cell, |sum| sum.add(bytes));
}

unsafe extern "C" fn on_lost(context: *mut c_void, _cpu: i32, lost: u64) {
    // SAFETY: the cell of the reader, which outlives the buffer.
    update(unsafe { &*context.cast::<Cell<Delivered>>() }, |sum| sum.lost += lost);
}

pub(crate) fn libbpf_array_quarter(pages: usize) -> Opened {
    let map = EventArray::create("bench".parse()?)?.map().try_clone()?.into_fd();
    let cell = Rc::new(Cell::new(Delivered::default()));
    let sz = size_of::<perf_buffer_opts>() as u64;
    // libbpf makes it the number of records of a wakeup too.
    let options = perf_buffer_opts { sz, sample_period: quarter(pages), ..Default::default() };
    let context = Rc::as_ptr(&cell).cast_mut().cast::<c_void>();
    // SAFETY: the callbacks get the cell, which is dropped after the buffer.
    let buffer = unsafe {
        let (fd, pages) = (map.as_raw_fd(), pages as u64);
        libbpf_sys::perf_buffer__new(fd, pages, Some(on_sample), Some(on_lost), context, &raw const options)
    };
    let buffer = NonNull::new(buffer).ok_or_else(std::io::Error::last_os_error)?;
    Ok((map, Box::new(RawLibbpf(buffer, cell))))
}

pub(crate) fn libbpf_ring(pages: usize) -> Opened {
    let map = ring_map(pages)?;
    let cell = Rc::new(Cell::new(Delivered::default()));
    let samples = Rc::clone(&cell);
    let mut builder = RingBufferBuilder::new();
    builder.add(handle(&map)?, move |bytes: &[u8]| {
        update(&samples, |sum| sum.add(bytes));
        0
    })?;
    let ring = builder.build()?;
    let poll = |ring: &libbpf_rs::RingBuffer<'_>, timeout| ring.poll(timeout).unwrap();
    Ok((map, Box::new(Libbpf(ring, poll, cell))))
}
