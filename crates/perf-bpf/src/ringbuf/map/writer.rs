//! A simulated kernel that writes a ring buffer, for tests, from any thread.
//!
//! # Safety
//!
//! This file may use `unsafe` because it writes the memory that readers borrow, by the rules of
//! `kernel/bpf/ringbuf.c`: only outside the records between the reader's position and its own,
//! except the header of a record that is not committed.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::os::fd::{AsFd, OwnedFd};

use perf_ring::sys::page_size;

use super::Consumer;
use super::pages::Pages;
use super::unread::{BUSY, DISCARDED, HEADER};

/// The writer of a ring in a file, with the layout of a map: the reader's page, the writer's page
/// and the data twice.
pub(in crate::ringbuf) struct Writer {
    file: OwnedFd,
    mapping: Pages,
    size: usize,
    head: u64,
}

impl Writer {
    pub(in crate::ringbuf) fn new(size: usize) -> Self {
        let file = rustix::fs::memfd_create(c"ring", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let len = 2 * page_size() + 2 * size;
        rustix::fs::ftruncate(&file, len as u64).unwrap();
        let mapping = Pages::map(file.as_fd(), len, Pages::WRITABLE, 0).unwrap();
        Self { file, mapping, size, head: 0 }
    }

    /// Sets both positions, as if a ring was used before.
    pub(in crate::ringbuf) fn at(mut self, position: u64) -> Self {
        self.store_position(position);
        self.publish(position);
        self
    }

    /// Stores the reader's position, as another process may.
    pub(in crate::ringbuf) fn store_position(&self, position: u64) {
        self.mapping.here().unwrap().position().store(position, Ordering::Relaxed);
    }

    pub(in crate::ringbuf) fn reader(&self) -> Consumer {
        Consumer::map(self.file.as_fd(), self.size).unwrap()
    }

    /// Returns the reader's position.
    pub(in crate::ringbuf) fn released(&self) -> u64 {
        self.mapping.here().unwrap().position().load(Ordering::Acquire)
    }

    /// Reserves a record and writes its data, or returns `None` if the ring has no space for it.
    pub(in crate::ringbuf) fn reserve(&mut self, data: &[u8]) -> Option<u64> {
        let (at, len) = (self.head, (HEADER + data.len() as u64).next_multiple_of(8));
        if at + len - self.released() > self.size as u64 - 1 {
            return None;
        }
        self.store_header(at, BUSY | data.len() as u32);
        for (index, &byte) in (0..).zip(data) {
            self.store_byte(at + HEADER + index, byte);
        }
        self.publish(at + len);
        Some(at)
    }

    /// Commits the record at `at`, or discards it.
    pub(in crate::ringbuf) fn commit(&self, at: u64, len: usize, is_discarded: bool) {
        self.store_header(at, len as u32 | if is_discarded { DISCARDED } else { 0 });
    }

    /// Reserves and commits.
    pub(in crate::ringbuf) fn write(&mut self, data: &[u8]) -> bool {
        let at = self.reserve(data);
        at.inspect(|&at| self.commit(at, data.len(), false)).is_some()
    }

    /// Stores the writer's position, which may be invalid.
    pub(in crate::ringbuf) fn publish(&mut self, head: u64) {
        self.head = head;
        let word = self.mapping.here().unwrap().at(page_size());
        // SAFETY: the first word of the writer's page, accessed only atomically.
        unsafe { AtomicU64::from_ptr(word) }.store(head, Ordering::Release);
    }

    /// Stores a header, which may be invalid, in both copies of the data.
    pub(in crate::ringbuf) fn store_header(&self, at: u64, header: u32) {
        for copy in [0, self.size] {
            let word = self.mapping.here().unwrap().at(self.offset(at) + copy);
            // SAFETY: an aligned word of the data, read only atomically; both sides name this size.
            unsafe { AtomicU32::from_ptr(word) }.swap(header, Ordering::AcqRel);
        }
    }

    fn store_byte(&self, at: u64, byte: u8) {
        for copy in [0, self.size] {
            let first: *mut u8 = self.mapping.here().unwrap().at(self.offset(at) + copy);
            // SAFETY: a byte of the data in a record that is not committed, so no reader borrows
            // it.
            unsafe { first.write(byte) };
        }
    }

    fn offset(&self, at: u64) -> usize {
        2 * page_size() + (at as usize & (self.size - 1))
    }
}
