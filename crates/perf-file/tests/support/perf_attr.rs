//! Attrs in the notation of the perf tool.

use perf_abi::Attr;

/// Returns the fields of an attr that are not 0, each after its name and `separator`.
pub(crate) fn fields(attr: &Attr, separator: &str) -> String {
    let mut text = Vec::new();
    let mut put = |name: &str, value: u64, shown: String| {
        if value != 0 {
            text.push(format!("{name}{separator}{shown}"));
        }
    };
    let mut decimal = |name, value: u64| put(name, value, value.to_string());
    decimal("type", attr.kind.0.into());
    decimal("size", attr.size.into());
    put("config", attr.config, format!("{:#x}", attr.config));
    let mut decimal = |name, value: u64| put(name, value, value.to_string());
    decimal("{ sample_period, sample_freq }", attr.sample_period);
    // This version of perf has no name for TRANSACTION.
    let sample_type = attr.sample_type.bits() & !(1 << 17);
    put("sample_type", sample_type, bits(sample_type, &SAMPLE_TYPE));
    put("read_format", attr.read_format.bits(), bits(attr.read_format.bits(), &READ_FORMAT));
    let mut decimal = |name, value: u64| put(name, value, value.to_string());
    let flag = |bit: usize| {
        let reversed =
            if cfg!(target_endian = "big") { attr.flags.bits().reverse_bits() } else { attr.flags.bits() };
        reversed >> bit & 1
    };
    for (bit, name) in FLAGS.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        decimal(name, flag(bit));
    }
    decimal("bp_type", attr.bp_type.0.into());
    // A breakpoint's address and length; other events use the words for more of their config.
    put("{ bp_addr, config1 }", attr.config1, format!("{:#x}", attr.config1));
    put("{ bp_len, config2 }", attr.config2, format!("{:#x}", attr.config2));
    put("sample_regs_user", attr.sample_regs_user, format!("{:#x}", attr.sample_regs_user));
    let mut decimal = |name, value: u64| put(name, value, value.to_string());
    decimal("sample_stack_user", attr.sample_stack_user.into());
    decimal("clockid", u64::from(attr.clockid.0.unsigned_abs()));
    put("sample_regs_intr", attr.sample_regs_intr, format!("{:#x}", attr.sample_regs_intr));
    let mut decimal = |name, value: u64| put(name, value, value.to_string());
    decimal("aux_watermark", attr.aux_watermark.into());
    decimal("sample_max_stack", attr.sample_max_stack.into());
    text.join(", ")
}

fn bits(value: u64, names: &[(u32, &str)]) -> String {
    let names: Vec<_> =
        names.iter().filter(|(bit, _)| value >> bit & 1 == 1).map(|(_, name)| *name).collect();
    names.join("|")
}

/// In the order of the perf tool.
const SAMPLE_TYPE: [(u32, &str); 24] = [
    (0, "IP"),
    (1, "TID"),
    (2, "TIME"),
    (3, "ADDR"),
    (4, "READ"),
    (5, "CALLCHAIN"),
    (6, "ID"),
    (7, "CPU"),
    (8, "PERIOD"),
    (9, "STREAM_ID"),
    (10, "RAW"),
    (11, "BRANCH_STACK"),
    (12, "REGS_USER"),
    (13, "STACK_USER"),
    (16, "IDENTIFIER"),
    (18, "REGS_INTR"),
    (15, "DATA_SRC"),
    (14, "WEIGHT"),
    (19, "PHYS_ADDR"),
    (20, "AUX"),
    (21, "CGROUP"),
    (22, "DATA_PAGE_SIZE"),
    (23, "CODE_PAGE_SIZE"),
    (24, "WEIGHT_STRUCT"),
];

const READ_FORMAT: [(u32, &str); 5] =
    [(0, "TOTAL_TIME_ENABLED"), (1, "TOTAL_TIME_RUNNING"), (2, "ID"), (3, "GROUP"), (4, "LOST")];

/// The flags by their bit.
const FLAGS: [&str; 38] = [
    "disabled",
    "inherit",
    "pinned",
    "exclusive",
    "exclude_user",
    "exclude_kernel",
    "exclude_hv",
    "exclude_idle",
    "mmap",
    "comm",
    "freq",
    "inherit_stat",
    "enable_on_exec",
    "task",
    "watermark",
    "",
    "",
    "mmap_data",
    "sample_id_all",
    "exclude_host",
    "exclude_guest",
    "exclude_callchain_kernel",
    "exclude_callchain_user",
    "mmap2",
    "comm_exec",
    "use_clockid",
    "context_switch",
    "write_backward",
    "namespaces",
    "ksymbol",
    "bpf_event",
    "aux_output",
    "cgroup",
    "text_poke",
    "build_id",
    "inherit_thread",
    "remove_on_exec",
    "sigtrap",
];
