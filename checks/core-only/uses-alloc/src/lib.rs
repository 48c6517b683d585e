//! Negative control of `core-only.sh`: a library without std that names alloc and does not even use it.
#![no_std]

extern crate alloc;
