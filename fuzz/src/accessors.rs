//! Every accessor of every view, and what must hold between them.

#[macro_use]
#[path = "../../checks/accessors.rs"]
mod lists;

use std::collections::BTreeSet;
use std::hint::black_box;

use perf_abi::SampleType;
use perf_decode::{Field, Layout, Record, Regs, Sample, SampleId, Value};

/// Reads all that a decoded record can be asked.
pub fn read<L: Layout>(record: &Record<'_, L>) {
    black_box((record.header(), record.kind(), record.misc(), record.time(), format!("{record} {record:?}")));
    assert!(record.trailing_len() <= record.size() - 8, "more bytes than the record has");
    let names: Vec<_> = record.fields().map(read_field).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "one name twice: {names:?}");
    if let Some(trailer) = record.sample_id() {
        read_trailer(&trailer);
    }
    match record {
        Record::Sample(sample) => read_sample(sample),
        Record::Unknown(raw) => assert_eq!((names, record.trailing_len()), (vec!["raw"], 0), "{raw:?}"),
        // `Debug` called its accessors.
        _ => {}
    }
}

fn read_trailer<L: Layout>(trailer: &SampleId<'_, L>) {
    black_box((trailer.pid(), trailer.time(), trailer.stream_id(), format!("{trailer}")));
    let ids =
        [trailer.id(), trailer.identifier(), trailer.cpu().map(u64::from), trailer.tid().map(u64::from)];
    assert!(!trailer.is_empty() || ids == [None; 4], "{ids:?}");
    assert_eq!(trailer.fields().count() == 0, trailer.is_empty());
    trailer.fields().for_each(|field| _ = read_field(field));
}

/// Reads every field. One that the event samples must be there, because the record was validated, unless
/// it is the one that the kernel has truncated.
fn read_sample<L: Layout>(sample: &Sample<'_, L>) {
    let wanted = sample.sample_type();
    let truncated = match sample.truncated_field() {
        Some("weight_struct") => "weight",
        Some("intr_regs") => "regs_intr",
        other => other.unwrap_or_default(),
    };
    macro_rules! present {
        ($($part:ident: $($field:ident $($with:ident)+),*;)*) => {$($(
            let asked = wanted.intersects(SampleType::empty()$(.union(SampleType::$with))+);
            let name = stringify!($field);
            // A task may be without registers.
            let may_be_absent = name.starts_with("regs_") || name == truncated;
            assert!(sample.$field().is_some() == asked || asked && may_be_absent, "{name}");
            assert!(sample.$field().is_none() || name != truncated, "{name}");
        )*)*};
    }
    sample_accessors!(present);
    black_box((sample.exact_ip(), sample.misc(), sample.has_ambiguous_branches()));
    assert!(sample.words().ends_with(words(sample.trailing())));
    assert!(sample.trailing().is_empty() || truncated.is_empty(), "{truncated}");
    let has = |name| sample.fields().any(|field| field.name == name);
    let registers = (sample.regs_user().is_some(), sample.regs_intr().is_some());
    assert_eq!(registers, (has("user_regs"), has("intr_regs")));
    sample.regs_user().into_iter().chain(sample.regs_intr()).for_each(|regs| read_regs(&regs));
    black_box(sample.stack_user().map(|stack| (stack.size(), stack.bytes().len())));
    black_box(format!("{sample} {sample:?}"));
}

fn words(bytes: &[u8]) -> &[u64] {
    perf_decode::words_from_bytes(bytes).expect("trailing bytes are whole words")
}

fn read_regs(regs: &Regs<'_>) {
    for (register, value) in regs.iter() {
        assert_eq!(regs.get(register), Some(value));
    }
}

/// Reads the value to its end and returns the name.
fn read_field(field: Field<'_>) -> &'static str {
    /// Words of the longest record.
    const LONGEST: usize = u16::MAX as usize / 8;
    black_box(format!("{field} {field:?}"));
    let is_number = field.value.as_u64().is_some();
    let items = match field.value {
        Value::Read(values) => values.iter().count(),
        Value::Callchain(chain) => {
            black_box(chain.deferred_cookie());
            chain.frames().count()
        }
        Value::Branches(stack) => {
            black_box((stack.hw_index(), stack.counters().len()));
            stack.entries().len() * 3
        }
        Value::Regs(regs) => regs.iter().count(),
        Value::Words(words) => words.len(),
        Value::Namespaces(links) => links.len() * 2,
        Value::Text(bytes) | Value::Bytes(bytes) => bytes.len() / 8,
        _ => {
            assert!(is_number, "{field:?}");
            return field.name;
        }
    };
    assert!(!is_number && items <= LONGEST, "{}: {items}", field.name);
    field.name
}
