//! `--kind`: the kinds of records by name.

use perf_abi::RecordType;
use perf_file::format::record_type;

use super::tool_record;
use crate::out::message::nearest;

/// Parses the name of a kind as printed in a line, in any letter case, or its number.
///
/// # Errors
///
/// No kind has the name.
pub(super) fn parse(name: &str) -> Result<RecordType, String> {
    if let Ok(number) = name.parse() {
        return Ok(RecordType(number));
    }
    let wanted = name.strip_prefix("PERF_RECORD_").unwrap_or(name);
    let known: Vec<_> = RecordType::ALL
        .iter()
        .chain(record_type::ALL)
        .map(|kind| (tool_record::name(*kind), *kind))
        .collect();
    let found = known.iter().find(|(name, kind)| {
        let full = record_type::name(*kind).unwrap_or_default();
        name.eq_ignore_ascii_case(wanted) || full.eq_ignore_ascii_case(wanted)
    });
    found.map(|(_, kind)| *kind).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| &**name).collect();
        format!("unknown kind{}; all kinds: {}", nearest(wanted, names.iter().copied()), names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_is_found_by_each_of_its_names_and_by_its_number() {
        for name in ["SAMPLE", "sample", "PERF_RECORD_SAMPLE", "9"] {
            assert_eq!(parse(name), Ok(RecordType::SAMPLE), "{name}");
        }
        for name in ["FEATURE", "HEADER_FEATURE", "80"] {
            assert_eq!(parse(name), Ok(record_type::HEADER_FEATURE), "{name}");
        }
        assert_eq!(parse("200"), Ok(RecordType(200)));
    }

    #[test]
    fn error_has_the_nearest_kind() {
        let error = parse("sampel").unwrap_err();
        assert!(error.starts_with("unknown kind; the nearest is SAMPLE; all kinds: MMAP, LOST, "), "{error}");
        let error = parse("xyz").unwrap_err();
        assert!(error.starts_with("unknown kind; all kinds: "), "{error}");
    }
}
