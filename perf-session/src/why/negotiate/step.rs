use perf_sys::{Attr, AttrFlags, BranchSampleType, Clock, EventType, ReadFormat, SampleType, Skid};

use super::Negotiation;
use super::field::{
    clear_aux, clear_branches, clear_clock, clear_regs_intr, clear_regs_user, clear_stack_user,
};
use super::since::{BRANCHES, CLOCKID, EXCLUDES, FLAGS, INHERITED_READ, MAX_STACK, READS, SAMPLES, Since};

/// A change of the attr that requests less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Another clock, which every PMU allows; `None` is the clock of perf.
    Clock(Option<Clock>),
    PreciseIp(Skid),
    Flags(AttrFlags),
    Samples(SampleType),
    /// `WEIGHT` in place of `WEIGHT_STRUCT`.
    Weight,
    Reads(ReadFormat),
    Branches(BranchSampleType),
    MaxStack,
}

impl Step {
    /// Returns the attr after the step.
    pub(crate) fn apply(self, mut attr: Attr) -> Attr {
        match self {
            Self::Clock(Some(clock)) => attr = attr.with_clock(clock),
            Self::Clock(None) => clear_clock(&mut attr),
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
    for field in fields.iter() {
        match field {
            SampleType::BRANCH_STACK => clear_branches(attr),
            SampleType::REGS_USER => clear_regs_user(attr),
            SampleType::STACK_USER => clear_stack_user(attr),
            SampleType::REGS_INTR => clear_regs_intr(attr),
            SampleType::AUX => clear_aux(attr),
            _ => {}
        }
    }
}

/// Returns the steps for an attr: those that depend on the PMU, then the newest bits first, then the exclude
/// flags. Each changes the attr, unless another step of the same field has.
pub(crate) fn steps(negotiation: &Negotiation) -> Vec<Step> {
    let attr = &negotiation.attr;
    let mut steps = Vec::new();
    let has_clock = attr.flags.contains(AttrFlags::USE_CLOCKID) && !negotiation.keeps_clock;
    if has_clock && ![Clock::MONOTONIC, Clock::MONOTONIC_RAW].contains(&attr.clockid) {
        steps.push(Step::Clock(Some(Clock::MONOTONIC)));
    }
    if attr.kind != EventType::SOFTWARE && !negotiation.keeps_precise_ip {
        let level = attr.flags.precise_ip();
        steps.extend(Skid::ALL.iter().rev().filter(|skid| **skid < level).map(|skid| Step::PreciseIp(*skid)));
    }
    steps.extend(unknown_bits(negotiation));
    steps.extend(newest_first(negotiation, has_clock));
    let excludes = EXCLUDES.into_iter().filter(|flag| attr.flags.contains(*flag));
    steps.extend(excludes.filter(|flag| !negotiation.keep.flags.contains(*flag)).map(Step::Flags));
    steps
}

/// Returns the steps for bits that this crate does not know: they are newer than all it knows.
fn unknown_bits(negotiation: &Negotiation) -> Vec<Step> {
    let (attr, keep) = (&negotiation.attr, &negotiation.keep);
    let steps = [
        Step::Flags((attr.flags - AttrFlags::KNOWN) - keep.flags),
        Step::Samples((attr.sample_type - SampleType::KNOWN) - keep.sample_type),
        Step::Reads((attr.read_format - ReadFormat::KNOWN) - keep.read_format),
        Step::Branches((attr.branch_sample_type - BranchSampleType::KNOWN) - keep.branch_sample_type),
    ];
    steps.into_iter().filter(|step| step.apply(*attr) != *attr).collect()
}

fn newest_first(negotiation: &Negotiation, has_clock: bool) -> impl Iterator<Item = Step> {
    let (attr, keep) = (&negotiation.attr, &negotiation.keep);
    let mut dated: Vec<(Since, Step)> = Vec::new();
    let wanted_flags = attr.flags - keep.flags;
    dated.extend(present(FLAGS, |flag| wanted_flags.contains(flag), Step::Flags));
    let wanted = attr.sample_type - keep.sample_type;
    if wanted.contains(SampleType::WEIGHT_STRUCT) {
        dated.push((Since(5, 12), Step::Weight));
    }
    let is_inherited_read = attr.flags.contains(AttrFlags::INHERIT) && wanted.contains(SampleType::READ);
    dated.extend(is_inherited_read.then_some((INHERITED_READ, Step::Samples(SampleType::READ))));
    dated.extend(present(SAMPLES, |field| wanted.contains(field), sample_step));
    let wanted = attr.read_format - keep.read_format;
    dated.extend(present(READS, |word| wanted.contains(word), Step::Reads));
    let wanted = attr.branch_sample_type - keep.branch_sample_type;
    dated.extend(present(BRANCHES, |bit| wanted.contains(bit), Step::Branches));
    dated.extend((attr.sample_max_stack != 0).then_some((MAX_STACK, Step::MaxStack)));
    dated.extend(has_clock.then_some((CLOCKID, Step::Clock(None))));
    dated.sort_by_key(|(since, _)| std::cmp::Reverse(*since));
    dated.into_iter().map(|(_, step)| step)
}

/// Returns the step that clears a sample field. `WEIGHT` is cleared together with the field that it stands
/// for.
fn sample_step(field: SampleType) -> Step {
    if field == SampleType::WEIGHT_STRUCT {
        return Step::Samples(SampleType::WEIGHT_STRUCT | SampleType::WEIGHT);
    }
    Step::Samples(field)
}

fn present<T: Copy>(
    table: &'static [(T, Since)],
    is_present: impl Fn(T) -> bool,
    step: impl Fn(T) -> Step,
) -> impl Iterator<Item = (Since, Step)> {
    table.iter().filter(move |(bit, _)| is_present(*bit)).map(move |(bit, since)| (*since, step(*bit)))
}
