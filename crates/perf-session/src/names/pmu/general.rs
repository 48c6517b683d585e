//! The terms that events of every PMU have.

use perf_ring::abi::regs::Architecture;
use perf_ring::{Attr, AttrFlags, BranchSampleType, SampleType, StackSize};

use crate::names::branch_filter;

/// The names of the general terms, sorted.
pub(in crate::names) const NAMES: [&str; 19] = [
    "aux-output",
    "aux-sample-size",
    "branch_type",
    "call-graph",
    "config",
    "config1",
    "config2",
    "config3",
    "config4",
    "freq",
    "inherit",
    "max-stack",
    "name",
    "no-inherit",
    "no-overwrite",
    "overwrite",
    "period",
    "stack-size",
    "time",
];

/// An attr with the terms that say how the event is counted and sampled, and the name that they
/// give it.
#[derive(Clone, Debug)]
pub(in crate::names) struct General {
    pub(in crate::names) attr: Attr,
    pub(in crate::names) name: Option<String>,
}

impl General {
    /// Applies a term. Returns `false` if it is not a general one, or the expected value if it has
    /// another.
    pub(in crate::names) fn apply(&mut self, name: &str, value: Option<&str>) -> Result<bool, &'static str> {
        let number = || value.map_or(Some(1), number).ok_or(NUMBER);
        let at_most = |max: u64, expected| {
            number().and_then(|number| if number > max { Err(expected) } else { Ok(number) })
        };
        let yes = || at_most(1, "0 or 1").map(|number| number == 1);
        let attr = self.attr;
        self.attr = match name {
            "config" => {
                let config = number()?;
                attr.with(|attr| attr.config = config)
            }
            "config1" => attr.with_config1(number()?),
            "config2" => attr.with_config2(number()?),
            "config3" => attr.with_config3(number()?),
            "config4" => attr.with_config4(number()?),
            "period" => attr.with_period(at_most(u64::MAX >> 1, "a period below 2^63")?),
            "freq" => attr.with_frequency(number()?),
            "time" if yes()? => with_field(attr, SampleType::TIME, true),
            "time" => with_field(attr, SampleType::TIME, false),
            "inherit" => with_flag(attr, AttrFlags::INHERIT, yes()?),
            "no-inherit" => with_flag(attr, AttrFlags::INHERIT, !yes()?),
            "overwrite" => with_flag(attr, AttrFlags::WRITE_BACKWARD, yes()?),
            "no-overwrite" => with_flag(attr, AttrFlags::WRITE_BACKWARD, !yes()?),
            "call-graph" => {
                let kind = value.and_then(|kind| with_callchain(attr, kind));
                kind.ok_or("`fp`, `dwarf`, `lbr` or `no`")?
            }
            "stack-size" => {
                with_stack_size(attr, number()?).ok_or("a multiple of 8 from 8 to 65528, in bytes")?
            }
            "branch_type" => {
                let branches = value.and_then(|names| branch_filter(names).ok());
                attr.replace_branch_sample_type(
                    branches.ok_or("kinds of branches such as `any` or `'any_call,u'`")?,
                )
            }
            "aux-output" => with_flag(attr, AttrFlags::AUX_OUTPUT, yes()?),
            "max-stack" => {
                let addresses = at_most(u16::MAX.into(), "at most 65535 addresses")? as u16;
                // A limit of callchains is of no use without them.
                with_field(attr.with_max_stack(addresses), SampleType::CALLCHAIN, true)
            }
            "aux-sample-size" => {
                attr.with_aux_sample_size(at_most(u32::MAX.into(), "less than 4 GiB, in bytes")? as u32)
            }
            "name" => {
                self.name = Some(value.ok_or("a name")?.to_owned());
                attr
            }
            _ => return Ok(false),
        };
        Ok(true)
    }
}

/// The text that a number must have.
pub(super) const NUMBER: &str = "a number of at most 64 bits, decimal or hexadecimal after 0x";

/// Parses a decimal number, or a hexadecimal one after `0x`.
pub(in crate::names) fn number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    // `from_str_radix` takes a sign.
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    is_number.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

fn with_flag(attr: Attr, flag: AttrFlags, is_set: bool) -> Attr {
    if is_set { attr.with_flags(flag) } else { attr.without_flags(flag) }
}

fn with_field(attr: Attr, field: SampleType, is_set: bool) -> Attr {
    if is_set { attr.with_sample_type(field) } else { attr.without_sample_type(field) }
}

/// Returns the attr with callchains of this kind: of frame pointers (`fp`), with registers and the
/// user stack (`dwarf`), of the last branch records (`lbr`), or none (`no`). `None` for another
/// kind.
pub(super) fn with_callchain(attr: Attr, kind: &str) -> Option<Attr> {
    let sampled = attr.with_sample_type(SampleType::CALLCHAIN);
    let attr = match kind {
        "fp" => sampled,
        "dwarf" => {
            // The unwinder gets the user's part from registers and stack. The kernel's own, by
            // frame pointers, would double it.
            let stack = StackSize::new(attr.sample_stack_user).unwrap_or(StackSize::DEFAULT);
            sampled
                .replace_regs_user(Architecture::NATIVE.registers())
                .with_stack_user(stack)
                .with_flags(AttrFlags::EXCLUDE_CALLCHAIN_USER)
        }
        "lbr" => {
            // Only the addresses make a callchain, so the kernel need not store what else it knows
            // of branches.
            let details =
                BranchSampleType::NO_FLAGS | BranchSampleType::NO_CYCLES | BranchSampleType::HW_INDEX;
            sampled
                .replace_branch_sample_type(BranchSampleType::USER | BranchSampleType::CALL_STACK | details)
        }
        "no" => attr.without_sample_type(SampleType::CALLCHAIN),
        _ => return None,
    };
    Some(attr)
}

/// Returns the attr with this size of the sampled user stack, which `call-graph=dwarf` selects.
pub(super) fn with_stack_size(attr: Attr, bytes: u64) -> Option<Attr> {
    let stack = StackSize::new(u32::try_from(bytes).ok()?)?;
    // Without the sample field, which `call-graph=dwarf` sets: the two terms may have any order.
    Some(attr.with(|attr| attr.sample_stack_user = stack.bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callchains_have_the_fields_of_their_kind() {
        let fields = |kind| with_callchain(Attr::default(), kind).map(|attr| attr.sample_type.to_string());
        assert_eq!(fields("fp").as_deref(), Some("CALLCHAIN"));
        assert_eq!(fields("no").as_deref(), Some("0x0"));
        assert_eq!(fields("lbr").as_deref(), Some("CALLCHAIN|BRANCH_STACK"));
        assert_eq!(fields("x"), None);
        let dwarf = with_callchain(Attr::default(), "dwarf").unwrap();
        assert!(dwarf.sample_type.contains(SampleType::CALLCHAIN | SampleType::STACK_USER));
        assert_eq!(dwarf.sample_stack_user, 8192);
        assert!(dwarf.flags.contains(AttrFlags::EXCLUDE_CALLCHAIN_USER));
    }

    #[test]
    fn stack_size_is_that_of_a_later_callchain() {
        let attr = with_stack_size(Attr::default(), 1024).unwrap();
        assert!(attr.sample_type.is_empty());
        assert_eq!(with_callchain(attr, "dwarf").unwrap().sample_stack_user, 1024);
        assert!(
            [0, 7, 65536, 1 << 32].iter().all(|bytes| with_stack_size(Attr::default(), *bytes).is_none())
        );
    }
}
