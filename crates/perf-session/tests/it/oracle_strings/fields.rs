//! The fields of an attr that an event string sets.

use std::collections::BTreeMap;
use std::fmt;

use perf_session::expression::Expression;
use perf_session::ring::{Attr, AttrFlags, BranchSampleType, BreakpointLen, EventType, SampleType};

/// The fields of an attr that an event string sets and that are not 0.
///
/// The perf tool samples 4000 times a second and lets children inherit unless the string says
/// otherwise. Ours only counts. So these fields are compared if the string has such a term.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fields(BTreeMap<&'static str, u64>);

const NAMES: [&str; 26] = [
    "type",
    "config",
    "config1",
    "config2",
    "bp_type",
    "period",
    "freq",
    "exclude_user",
    "exclude_kernel",
    "exclude_hv",
    "exclude_host",
    "exclude_guest",
    "exclude_idle",
    "precise_ip",
    "pinned",
    "exclusive",
    "inherit",
    "sample_max_stack",
    "write_backward",
    "aux_output",
    "aux_sample_size",
    "callchain",
    "branch_sample_type",
    "sample_regs_user",
    "sample_stack_user",
    "exclude_callchain_user",
];

impl Fields {
    pub(crate) fn from_attr(attr: &Attr, text: &str) -> Self {
        let flag = |flag| u64::from(attr.flags.contains(flag));
        let values = [
            attr.kind.0.into(),
            attr.config,
            attr.config1,
            attr.config2,
            attr.bp_type.0.into(),
            attr.sample_period,
            flag(AttrFlags::FREQ),
            flag(AttrFlags::EXCLUDE_USER),
            flag(AttrFlags::EXCLUDE_KERNEL),
            flag(AttrFlags::EXCLUDE_HV),
            flag(AttrFlags::EXCLUDE_HOST),
            flag(AttrFlags::EXCLUDE_GUEST),
            flag(AttrFlags::EXCLUDE_IDLE),
            attr.flags.precise_ip().level().into(),
            flag(AttrFlags::PINNED),
            flag(AttrFlags::EXCLUSIVE),
            flag(AttrFlags::INHERIT),
            attr.sample_max_stack.into(),
            flag(AttrFlags::WRITE_BACKWARD),
            flag(AttrFlags::AUX_OUTPUT),
            attr.aux_sample_size.into(),
            attr.sample_type.contains(SampleType::CALLCHAIN).into(),
            attr.branch_sample_type.bits(),
            // Registers differ between architectures.
            (attr.sample_regs_user != 0).into(),
            if attr.sample_type.contains(SampleType::STACK_USER) { attr.sample_stack_user.into() } else { 0 },
            flag(AttrFlags::EXCLUDE_CALLCHAIN_USER),
        ];
        Self(NAMES.into_iter().zip(values).collect()).compared(text)
    }

    pub(crate) fn from_perf(line: &str, text: &str) -> Self {
        let mut fields: BTreeMap<_, _> = NAMES.into_iter().map(|name| (name, 0)).collect();
        for field in line.split(' ') {
            let (name, value) = field.split_once('=').unwrap();
            let Some(field) = fields.get_mut(name) else { continue };
            *field = match name {
                "branch_sample_type" => value.split('|').map(branch).sum(),
                "sample_regs_user" => 1,
                _ => number(value),
            };
        }
        // The perf tool's default.
        if (fields["period"], fields["freq"]) == (4000, 1) {
            fields.extend([("period", 0), ("freq", 0)]);
        }
        // The length of an instruction breakpoint is the size of `long`.
        if fields["bp_type"] == 4 && !text.contains('/') {
            fields.insert("config2", BreakpointLen::EXECUTE.0);
        }
        Self(fields).compared(text)
    }

    /// Returns the fields that a name has: not the settings of sampling, nor whether guests are
    /// excluded.
    pub(crate) fn named(mut self) -> Self {
        for name in [
            "exclude_guest",
            "period",
            "freq",
            "inherit",
            "sample_max_stack",
            "write_backward",
            "aux_output",
            "aux_sample_size",
            "callchain",
            "branch_sample_type",
            "sample_regs_user",
            "sample_stack_user",
            "exclude_callchain_user",
        ] {
            self.0.remove(name);
        }
        self
    }

    /// Returns the fields that can be compared for this string.
    fn compared(mut self, text: &str) -> Self {
        let mut remove = |name| self.0.remove(name);
        if !text.contains("period") && !text.contains("freq") {
            remove("period");
            remove("freq");
        }
        if !text.contains("inherit") {
            remove("inherit");
        }
        // The perf tool excludes guests from the events of every PMU, and opens them once more
        // without the flag where that fails: a PMU that has no modes rejects it. Ours does not set
        // it for these.
        let is_generic = self.0["type"] <= EventType::BREAKPOINT.0.into();
        if !is_generic && !is_about_guests(text) {
            self.0.remove("exclude_guest");
        }
        self.0.retain(|_, value| *value != 0);
        self
    }
}

/// Returns `true` if a modifier selects guests or the host.
fn is_about_guests(text: &str) -> bool {
    let expression: Expression = text.parse().unwrap_or_default();
    let mut modifiers = expression.groups.iter().flat_map(|group| {
        group.events.iter().map(|event| event.modifiers.node).chain([group.modifiers.node])
    });
    modifiers.any(|modifiers| modifiers.has('G') || modifiers.has('H'))
}

fn number(text: &str) -> u64 {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16)).unwrap()
}

/// Returns the bit of `branch_sample_type` with this name.
fn branch(name: &str) -> u64 {
    let mut bits = (0..64).map(|bit| 1 << bit);
    bits.find(|bit| BranchSampleType::from_bits_retain(*bit).to_string() == name).unwrap()
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.0.get("type").map_or(0, |kind| *kind as u32);
        write!(f, "{}", EventType(kind))?;
        self.0.iter().try_for_each(|(name, value)| write!(f, " {name}={value:#x}"))
    }
}
