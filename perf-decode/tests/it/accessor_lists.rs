//! The lists of `checks/accessors.rs`, by which the fuzz targets and the proof that nothing panics reach
//! every view.

#[macro_use]
#[path = "../../../checks/accessors.rs"]
mod lists;

use perf_abi::SampleType;

#[test]
fn every_field_of_samples_is_in_the_list_of_accessors() {
    macro_rules! bits {
        ($($part:ident: $($field:ident $($bit:ident)+),*;)*) => { [$($($(SampleType::$bit),+),*),*] };
    }
    let listed = SampleType::from_iter(sample_accessors!(bits));
    assert_eq!(SampleType::KNOWN - listed, SampleType::empty(), "not in checks/accessors.rs");
}
