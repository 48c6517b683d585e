//! Layouts that are constants.

use perf_abi::{Attr, AttrFlags, BranchSampleType, ReadFormat, SampleType, Software};
use perf_decode::{ConstantLayout, Layout, RawRecord, SampleLayout};

use crate::accessors;

macro_rules! layouts {
    ($($(#[$doc:meta])* $Name:ident = $attr:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $Name;

            impl ConstantLayout for $Name {
                const LAYOUT: SampleLayout = SampleLayout::new(&$attr);
            }
        )*

        /// Decodes the record by each constant layout and by the same layout at run time.
        pub fn all_agree(raw: RawRecord<'_>) {
            $(agree(raw, $Name);)*
        }
    };
}

layouts! {
    /// A few fields of the head, and a trailer.
    CpuClock = Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::IP.union(SampleType::TID).union(SampleType::TIME))
        .with_flags(AttrFlags::SAMPLE_ID_ALL);
    /// The common parts, without a trailer.
    Callchains = Attr::software(Software::PAGE_FAULTS)
        .with_sample_type(
            SampleType::IDENTIFIER
                .union(SampleType::READ)
                .union(SampleType::CALLCHAIN)
                .union(SampleType::RAW),
        )
        .with_read_format(ReadFormat::GROUP.union(ReadFormat::ID));
    /// Every field of a sample.
    Everything = Attr::software(Software::DUMMY)
        .with_sample_type(SampleType::KNOWN.difference(SampleType::WEIGHT_STRUCT))
        .with_branch_sample_type(BranchSampleType::HW_INDEX)
        .with_flags(AttrFlags::SAMPLE_ID_ALL.union(AttrFlags::BUILD_ID))
        .with_regs_user(0b11)
        .with_regs_intr(0b1);
}

fn agree<L: Layout>(raw: RawRecord<'_>, constant: L) {
    let run_time = *constant.sample_layout();
    assert_eq!((raw.time(constant), raw.id(constant)), (raw.time(&run_time), raw.id(&run_time)));
    match (raw.decode(constant), raw.decode(&run_time)) {
        (Ok(constant), Ok(run_time)) => {
            accessors::read(&constant);
            assert_eq!(constant.trailing_len(), run_time.trailing_len());
            assert_eq!(constant.truncated_field(), run_time.truncated_field());
            assert_eq!(format!("{constant} {constant:?}"), format!("{run_time} {run_time:?}"));
        }
        (constant, run_time) => {
            assert_eq!(constant.map(|_| ()), run_time.map(|_| ()));
        }
    }
}
