//! The lists of `checks/accessors.rs`, by which the fuzz targets and the proof that nothing panics reach
//! every view.

#[macro_use]
#[path = "../../../checks/accessors.rs"]
mod lists;

use perf_abi::{RecordType, SampleType};

#[test]
fn every_kind_of_record_is_in_the_list_of_accessors() {
    macro_rules! names {
        ($($Kind:ident: $($accessor:ident)+,)*) => { [$(stringify!($Kind)),*] };
    }
    let listed = side_band_accessors!(names).map(str::to_uppercase);
    // `Record` has a variant of the same name for each kind.
    for &kind in RecordType::ALL.iter().filter(|&&kind| kind != RecordType::SAMPLE) {
        let name = kind.to_string().replace('_', "");
        assert!(listed.contains(&name), "{kind} is not in checks/accessors.rs");
    }
}

#[test]
fn every_field_of_samples_is_in_the_list_of_accessors() {
    macro_rules! bits {
        ($($part:ident: $($field:ident $($bit:ident)+),*;)*) => { [$($($(SampleType::$bit),+),*),*] };
    }
    let listed = SampleType::from_iter(sample_accessors!(bits));
    assert_eq!(SampleType::KNOWN - listed, SampleType::empty(), "not in checks/accessors.rs");
}
