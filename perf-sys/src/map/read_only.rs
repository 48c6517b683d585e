//! Loads of words from pages that may be mapped for reading only.
//!
//! std allows relaxed loads of a word there on 64-bit targets.
//!
//! # Safety
//!
//! This file may use `unsafe` because it reads shared memory that the kernel may be writing. Each
//! block is one relaxed atomic load of a size that std allows.
#![allow(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering};

use super::{Here, PageWord};

impl Here<'_> {
    /// Loads a word of the control page, relaxed. The kernel may be writing it.
    pub(super) fn load(self, PageWord(offset): PageWord) -> u64 {
        self.load_data(offset)
    }

    /// Loads the word at `offset`, relaxed: a multiple of 8 inside the mapping.
    pub(super) fn load_data(self, offset: usize) -> u64 {
        let word = self.at(offset);
        // SAFETY: inside the mapping, which this process has; aligned because pages and the offset are;
        // this process writes it only atomically.
        unsafe { AtomicU64::from_ptr(word) }.load(Ordering::Relaxed)
    }
}
