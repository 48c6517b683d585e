//! The features of an attr by the release that has them.

use std::cmp::Reverse;

use perf_ring::abi::Release;
use perf_ring::{Attr, AttrFlags, BranchSampleType, Clock, EventType, ReadFormat, SampleType, Skid};

use super::AttrFallback;
use crate::why::{EXCLUDES, Field};

/// Flags without which the program would do something else. `USE_CLOCKID` has separate steps.
const KEPT: AttrFlags = AttrFlags::WATERMARK
    .union(AttrFlags::USE_CLOCKID)
    .union(AttrFlags::WRITE_BACKWARD)
    .union(AttrFlags::AUX_OUTPUT)
    .union(AttrFlags::INHERIT_THREAD)
    .union(AttrFlags::REMOVE_ON_EXEC)
    .union(AttrFlags::SIGTRAP);

/// The first release that samples counts of inherited events, after those that refuse them (4.13 to
/// 6.11).
const INHERITED_READ: Release = Release(6, 12, 0);
/// The first release with `sample_max_stack`, which no flag announces.
const MAX_STACK: Release = Release(4, 8, 0);

/// A change of the attr that requests less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::why) enum Step {
    /// Another clock, which every PMU allows; `None` is the clock of perf.
    Clock(Option<Clock>),
    PreciseIp(Skid),
    Flags(AttrFlags),
    Samples(SampleType),
    /// Use `WEIGHT` instead of `WEIGHT_STRUCT`.
    Weight,
    Reads(ReadFormat),
    Branches(BranchSampleType),
    MaxStack,
}

impl Step {
    /// Returns the attr after the step.
    pub(in crate::why) fn apply(self, mut attr: Attr) -> Attr {
        match self {
            Self::Clock(Some(clock)) => attr = attr.with_clock(clock),
            Self::Clock(None) => _ = Field::CLOCKID.clear(&mut attr),
            Self::PreciseIp(skid) => attr = attr.with_precise_ip(skid),
            Self::Flags(flags) => attr.flags -= flags,
            Self::Samples(fields) => clear_samples(&mut attr, fields),
            Self::Weight => {
                attr.sample_type -= SampleType::WEIGHT_STRUCT;
                attr.sample_type |= SampleType::WEIGHT;
            }
            Self::Reads(words) => attr.read_format -= words,
            Self::Branches(bits) => attr.branch_sample_type -= bits,
            Self::MaxStack => attr.sample_max_stack = 0,
        }
        attr
    }
}

/// Clears sample fields, and their parameters.
fn clear_samples(attr: &mut Attr, fields: SampleType) {
    attr.sample_type -= fields;
    let parameters = [
        (SampleType::BRANCH_STACK, Field::BRANCH_SAMPLE_TYPE),
        (SampleType::REGS_USER, Field::SAMPLE_REGS_USER),
        (SampleType::STACK_USER, Field::SAMPLE_STACK_USER),
        (SampleType::REGS_INTR, Field::SAMPLE_REGS_INTR),
        (SampleType::AUX, Field::AUX_SAMPLE_SIZE),
    ];
    for (_, parameter) in parameters.into_iter().filter(|(field, _)| fields.contains(*field)) {
        parameter.clear(attr);
    }
}

/// Returns the steps for an attr: those that depend on the PMU, then the newest bits first, then
/// the exclude flags. Each changes the attr, unless another step of the same field has.
pub(in crate::why) fn steps(fallback: &AttrFallback) -> Vec<Step> {
    let attr = &fallback.attr;
    let mut steps = Vec::new();
    let has_clock = attr.flags.contains(AttrFlags::USE_CLOCKID) && !fallback.keeps_clock;
    if has_clock && ![Clock::MONOTONIC, Clock::MONOTONIC_RAW].contains(&attr.clockid) {
        steps.push(Step::Clock(Some(Clock::MONOTONIC)));
    }
    if attr.kind != EventType::SOFTWARE && !fallback.keeps_precise_ip {
        let level = attr.flags.precise_ip();
        steps.extend(Skid::ALL.iter().rev().filter(|skid| **skid < level).map(|skid| Step::PreciseIp(*skid)));
    }
    steps.extend(unknown_bits(fallback));
    steps.extend(newest_first(fallback, has_clock));
    let excludes = EXCLUDES.into_iter().filter(|flag| attr.flags.contains(*flag));
    steps.extend(excludes.filter(|flag| !fallback.keep.flags.contains(*flag)).map(Step::Flags));
    steps
}

/// Returns the steps for bits that this crate does not know, which must be newer than all known
/// ones.
fn unknown_bits(fallback: &AttrFallback) -> Vec<Step> {
    let (attr, keep) = (&fallback.attr, &fallback.keep);
    let steps = [
        Step::Flags((attr.flags - AttrFlags::KNOWN) - keep.flags),
        Step::Samples((attr.sample_type - SampleType::KNOWN) - keep.sample_type),
        Step::Reads((attr.read_format - ReadFormat::KNOWN) - keep.read_format),
        Step::Branches((attr.branch_sample_type - BranchSampleType::KNOWN) - keep.branch_sample_type),
    ];
    steps.into_iter().filter(|step| step.apply(*attr) != *attr).collect()
}

fn newest_first(fallback: &AttrFallback, has_clock: bool) -> impl Iterator<Item = Step> {
    let (attr, keep) = (&fallback.attr, &fallback.keep);
    let mut dated: Vec<(Release, Step)> = Vec::new();
    let flags = attr.flags - keep.flags - KEPT;
    dated.extend(newer(AttrFlags::SINCE, |flag| flags.contains(flag), Step::Flags));
    let fields = attr.sample_type - keep.sample_type;
    // Before the step that clears the field of the same release: one weight is better than none.
    if let Some(since) = (fields & SampleType::WEIGHT_STRUCT).since() {
        dated.push((since, Step::Weight));
    }
    let is_inherited_read = attr.flags.contains(AttrFlags::INHERIT) && fields.contains(SampleType::READ);
    dated.extend(is_inherited_read.then_some((INHERITED_READ, Step::Samples(SampleType::READ))));
    dated.extend(newer(SampleType::SINCE, |field| fields.contains(field), sample_step));
    let words = attr.read_format - keep.read_format;
    dated.extend(newer(ReadFormat::SINCE, |word| words.contains(word), Step::Reads));
    let bits = attr.branch_sample_type - keep.branch_sample_type;
    dated.extend(newer(BranchSampleType::SINCE, |bit| bits.contains(bit), Step::Branches));
    dated.extend((attr.sample_max_stack != 0).then_some((MAX_STACK, Step::MaxStack)));
    let clock = AttrFlags::USE_CLOCKID.since().filter(|_| has_clock);
    dated.extend(clock.map(|since| (since, Step::Clock(None))));
    dated.sort_by_key(|(since, _)| Reverse(*since));
    dated.into_iter().map(|(_, step)| step)
}

/// Returns the step that clears a sample field. `WEIGHT` is cleared together with the field that it
/// stands for.
fn sample_step(field: SampleType) -> Step {
    if field == SampleType::WEIGHT_STRUCT {
        return Step::Samples(SampleType::WEIGHT_STRUCT | SampleType::WEIGHT);
    }
    Step::Samples(field)
}

/// Returns the steps that clear the wanted bits, except bits of the first release, which every
/// kernel with the field has.
fn newer<T: Copy>(
    table: &'static [(T, Release)],
    is_wanted: impl Fn(T) -> bool,
    step: impl Fn(T) -> Step,
) -> impl Iterator<Item = (Release, Step)> {
    let first = table.iter().map(|row| row.1).min();
    // Within a release the higher bit goes first, because it may need the lower one.
    let rows = table.iter().rev().filter(move |(bit, since)| Some(*since) > first && is_wanted(*bit));
    rows.map(move |(bit, since)| (*since, step(*bit)))
}
