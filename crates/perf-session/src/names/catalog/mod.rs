//! The events that every machine names alike, and the name of any attr.
//!
//! [`HARDWARE`] and [`SOFTWARE`] list the generic events with the names of the perf tool.
//! [`CacheEvent::all`](perf_ring::CacheEvent::all) lists the cache events; [`cache_name`] and
//! [`cache_of`] are their names. [`attr_of`] finds an event of the three by its name, and
//! [`name_of`] prints the name of any attr.
//!
//! Raw events are made by [`Attr::raw`](perf_ring::Attr::raw), their further words are set by
//! [`with_config1`](perf_ring::Attr::with_config1) to
//! [`with_config4`](perf_ring::Attr::with_config4). Breakpoints are made by
//! [`Attr::breakpoint`](perf_ring::Attr::breakpoint). The events of PMUs and the tracepoints differ
//! between machines: [`parse`](crate::parse) finds them.

mod cache;
mod generic;
mod name;

pub use cache::{cache_name, cache_of};
pub use generic::{HARDWARE, Named, SOFTWARE, attr_of};
pub use name::name_of;

pub(in crate::names) use cache::{cache_names, is_possible};
pub(in crate::names) use generic::names;
