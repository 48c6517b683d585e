//! The tests of several modules, as one program, which is linked once.

mod accessor_lists;
mod constant_layouts;
mod documentation;
mod framing;
mod order;
mod reference;
mod ring_json;
mod shared_ring;
#[path = "../support/mod.rs"]
mod support;
mod traps;
