//! The values of fields as text.

use perf_sys::Attr;

/// Returns the value of a field by its name in the attr.
pub(super) fn value(attr: &Attr, field: &str) -> String {
    match field {
        "type" => attr.kind.to_string(),
        "config" => format!("{:#x}", attr.config),
        "sample_period" => attr.sample_period.to_string(),
        "sample_type" => attr.sample_type.to_string(),
        "read_format" => attr.read_format.to_string(),
        "flags" => attr.flags.to_string(),
        "bp_type" => attr.bp_type.to_string(),
        "bp_addr" => format!("{:#x}", attr.config1),
        "bp_len" => attr.config2.to_string(),
        "branch_sample_type" => attr.branch_sample_type.to_string(),
        "sample_regs_user" => format!("{:#x}", attr.sample_regs_user),
        "sample_stack_user" => attr.sample_stack_user.to_string(),
        "clockid" => attr.clockid.to_string(),
        "sample_regs_intr" => format!("{:#x}", attr.sample_regs_intr),
        "sample_max_stack" => attr.sample_max_stack.to_string(),
        "reserved_2" => attr.reserved_2.to_string(),
        "aux_sample_size" => attr.aux_sample_size.to_string(),
        "aux_action" => attr.aux_action.to_string(),
        _ => "an unnamed value".to_owned(),
    }
}
