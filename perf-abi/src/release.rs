use core::fmt;

/// A release of Linux: version, patch level and, of the releases 2.6, sub-level.
///
/// ```
/// use perf_abi::{AttrFlags, Release};
///
/// let since = AttrFlags::BUILD_ID.since();
/// assert_eq!(since, Some(Release(5, 12, 0)));
/// assert!(since < AttrFlags::DEFER_OUTPUT.since());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release(pub u8, pub u8, pub u8);

/// `Linux 5.12` or `Linux 2.6.31`.
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(version, patch_level, sub_level) = self;
        write!(f, "Linux {version}.{patch_level}")?;
        if *sub_level == 0 { Ok(()) } else { write!(f, ".{sub_level}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AttrFlags, BranchSampleType, ReadFormat, SampleType};
    use std::string::ToString;

    #[test]
    fn releases_print_as_the_kernel_names_them() {
        assert_eq!(
            AttrFlags::DISABLED.since().map(|since| since.to_string()).as_deref(),
            Some("Linux 2.6.31")
        );
        assert_eq!(Release(6, 0, 0).to_string(), "Linux 6.0");
    }

    #[test]
    fn every_bit_of_the_attr_has_its_release() {
        assert!(
            AttrFlags::KNOWN
                .iter()
                .all(|flag| flag.0 & AttrFlags::PRECISE_IP_MASK != 0 || flag.since().is_some())
        );
        assert!(SampleType::KNOWN.iter().all(|field| field.since().is_some()));
        assert!(ReadFormat::KNOWN.iter().all(|word| word.since().is_some()));
        assert!(BranchSampleType::KNOWN.iter().all(|bit| bit.since().is_some()));
        assert_eq!((SampleType::IP | SampleType::TID).since(), None);
    }

    /// The kernel assigns bits in the order in which they are added: a release that is older than the
    /// release of a lower bit is a mistake.
    #[test]
    fn higher_bits_are_not_older() {
        assert!(AttrFlags::SINCE.is_sorted_by_key(|row| row.1));
        assert!(SampleType::SINCE.is_sorted_by_key(|row| row.1));
        assert!(ReadFormat::SINCE.is_sorted_by_key(|row| row.1));
        assert!(BranchSampleType::SINCE.is_sorted_by_key(|row| row.1));
    }
}
