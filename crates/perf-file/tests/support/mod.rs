//! Shared by the tests: captured files, and records in the notation of the oracle.

#![allow(dead_code, reason = "each test crate uses a part")]

pub(crate) mod byteswap;
pub(crate) mod byteswap_feature;
pub(crate) mod byteswap_record;
pub(crate) mod data;
pub(crate) mod describe;
pub(crate) mod made_up;
#[path = "../../../../perf-decode/tests/support/oracle.rs"]
pub(crate) mod oracle;
pub(crate) mod perf_attr;
pub(crate) mod perf_header;
pub(crate) mod read;
