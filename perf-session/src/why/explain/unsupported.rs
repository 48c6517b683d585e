//! `EOPNOTSUPP`: features that a PMU lacks.

use perf_sys::{AttrFlags, EventType, SampleType};

use super::Failure;
use super::invalid::guilty;
use crate::why::check::{max_precise, pmu_of, type_of};
use crate::why::explain::{Cause, Evidence, Explanation};

pub(super) fn explain(failure: &mut Failure<'_>) -> Option<Explanation> {
    if let Some(explanation) = guilty(failure, Cause::PmuFeature) {
        return Some(explanation);
    }
    let attr = failure.open.attr;
    let pmu = pmu_of(failure.system, attr).ok().flatten();
    let name = pmu.as_ref().map_or(format!("the PMU of type {}", attr.kind), |pmu| format!("PMU {pmu}"));
    let max = pmu.as_ref().and_then(|pmu| max_precise(pmu).ok().flatten());
    let level = u32::from(attr.flags.precise_ip().level());
    let has_pmu = attr.kind != EventType::SOFTWARE && attr.kind != EventType::TRACEPOINT;
    let explanation = if attr.sample_type.contains(SampleType::BRANCH_STACK) {
        let text = format!("{name} does not record branches");
        Explanation::new(Cause::PmuFeature, text, "sample no branches")
    } else if has_pmu && level > max.unwrap_or(0) {
        let text = format!("{name} does not sample with precise_ip {level}");
        let remedy = format!("use a precise_ip of at most {}", max.unwrap_or(0));
        Explanation::new(Cause::PmuFeature, text, remedy)
    } else if attr.flags.contains(AttrFlags::AUX_OUTPUT) || !attr.aux_action.is_empty() {
        let text = format!("{name}, or that of the leader, lacks AUX_OUTPUT, or pause and resume");
        Explanation::new(Cause::PmuFeature, text, "do without AUX output, pause and resume")
    } else if attr.sample_period != 0 {
        let text = format!("{name} cannot sample, only count");
        Explanation::new(Cause::PmuFeature, text, "count the event: set the period to 0")
    } else {
        return None;
    };
    let explanation = match max {
        Some(max) => explanation.with(Evidence::new("caps/max_precise of the PMU", max)),
        None => explanation,
    };
    Some(match pmu {
        Some(pmu) => explanation.with(type_of(&pmu)),
        None => explanation.with(Evidence::new("attr.type", attr.kind)),
    })
}
