//! The lists of `checks/accessors.rs`, by which the fuzz targets and the proof that nothing panics
//! reach every view.

#[macro_use]
#[path = "../../../checks/accessors.rs"]
mod lists;

use perf_abi::SampleType;
use perf_decode::schema::{ADDR, HEAD, MEM};

#[test]
fn every_field_of_samples_is_in_the_list_of_accessors() {
    macro_rules! entries {
        ($($part:ident: $($field:ident $($bit:ident)+),*;)*) => {
            [$($((stringify!($field), SampleType::empty()$(.union(SampleType::$bit))+)),*),*]
        };
    }
    let listed = sample_accessors!(entries);
    for row in HEAD.iter().chain(MEM).chain(ADDR) {
        for (name, _) in row.shown() {
            assert!(listed.contains(&(name, row.bit)), "checks/accessors.rs needs `{name}` with {}", row.bit);
        }
    }
    let parts = listed.iter().fold(SampleType::empty(), |all, (_, bits)| all | *bits);
    assert_eq!(SampleType::KNOWN - parts, SampleType::empty(), "not in checks/accessors.rs");
}
