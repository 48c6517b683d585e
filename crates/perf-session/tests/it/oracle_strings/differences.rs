//! The differences to the perf tool that are made on purpose.

const SECOND: &str = "a second operation or outcome is an error; the perf tool drops it";
const BPF: &str = "the perf tool counts by its own BPF programs";
const TOOL: &str = "not a part of the event, but of the perf tool's own output";
const LATER: &str = "the perf tool looks for an AUX event among the others";
const EINVAL: &str = "the kernel fails with EINVAL for 2^63 and more";
const NEWER: &str = "the perf tool accepts it in later versions";
const WILDCARDS: &str =
    "wildcards are accepted in every name; the perf tool fails if one PMU or category does not match";
const LOST: &str = "the perf tool loses the P of an event when its group has modifiers";
const IGNORED: &str = "the perf tool ignores characters that it does not know, and a missing brace";
const INTEL_PT: &str = "the perf tool adds its defaults for Intel PT";
const HYBRID_NUMBERS: &str =
    "the perf tool turns numbers into hardware events of both core PMUs, whatever the type is";

/// The strings whose attrs differ from perf 6.1: machine, string, reason.
pub(crate) const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("amd", "L1-dcache-loads-stores", SECOND),
    ("amd", "L1-dcache-misses-refs", SECOND),
    ("amd", "cycles:b", BPF),
    ("amd", "cycles/percore/", TOOL),
    ("amd", "cycles/nr=5/", TOOL),
    ("amd", "cpu/event=0xc0,percore/", TOOL),
    ("amd", "cycles/aux-sample-size=4096/", LATER),
    ("amd", "cycles/period=18446744073709551615/", EINVAL),
    ("amd", "cpu/cycles/", NEWER),
    ("amd", "cpu/stalled-cycles-backend/", NEWER),
    ("amd", "cp?/event=0xc0/", WILDCARDS),
    ("amd", "cp*/event=0xc0/", WILDCARDS),
    ("amd", "mem:0x1000/period=5/", NEWER),
    ("amd", "mem:0x1000/4:w/period=5/", NEWER),
    ("amd", "mem:0x1000/4/name=x/", NEWER),
    ("amd", "*:sched_switch", WILDCARDS),
    ("amd", "s*:sys_enter*", WILDCARDS),
    ("amd", "sched:sched_switch/period=5/", NEWER),
    ("amd", "sched:sched_switch/name=x/", NEWER),
    ("amd", "sched:sched_switch/name=x/u", NEWER),
    ("amd", "{cycles:P,instructions}:u", LOST),
    ("amd", "{cycles", IGNORED),
    ("amd", "cycles :u", IGNORED),
    ("amd", "cycles: u", IGNORED),
    ("amd", "cycles@", IGNORED),
    ("amd", "@cycles", IGNORED),
    ("amd", "cycles$", IGNORED),
    ("amd", "duration_time", TOOL),
    ("amd", "user_time", TOOL),
    ("amd", "system_time", TOOL),
    ("hybrid", "cpu_*/event=0xc0/", WILDCARDS),
    ("hybrid", "uncore_imc*/clockticks/", WILDCARDS),
    ("hybrid", "uncore_imc_?/clockticks/", WILDCARDS),
    ("hybrid", "intel_pt//", INTEL_PT),
    ("hybrid", "intel_pt//u", INTEL_PT),
    ("hybrid", "intel_pt/tsc=1,noretcomp=0/u", INTEL_PT),
    ("hybrid", "intel_pt/tsc,branch=0,psb_period=15/", INTEL_PT),
    ("hybrid", "3:0x10000", HYBRID_NUMBERS),
    ("hybrid", "0:0xa00000000", HYBRID_NUMBERS),
    ("hybrid", "10:0x3c", HYBRID_NUMBERS),
];

/// Returns the reason why the attrs of a string differ.
pub(crate) fn reason(machine: &str, text: &str) -> Option<&'static str> {
    DIFFERENCES.iter().find(|(on, string, _)| (*on, *string) == (machine, text)).map(|(_, _, reason)| *reason)
}
