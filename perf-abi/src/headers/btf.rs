//! Structs and constants against the type information of a running kernel.

use super::constants::constants;
use super::kernel::{Kernel, fields};
use crate::branch::BranchEntry;
use crate::mem::DataSource;
use crate::{Attr, Header, MmapPage, NamespaceLink, PerfEventQueryBpf, Weight};
use std::{println, vec::Vec};

#[test]
#[rustfmt::skip] // one list of names a struct
fn structs_have_the_kernels_layout() {
    let kernel = Kernel::load();
    kernel.has_fields("perf_event_attr", "", 0, &fields!(Attr {
        kind = "type", size, config, sample_period, sample_type, read_format, flags = "disabled",
        wakeup = "wakeup_events", bp_type, config1, config2, branch_sample_type, sample_regs_user,
        sample_stack_user, clockid, sample_regs_intr, aux_watermark, sample_max_stack,
        reserved_2 = "__reserved_2", aux_sample_size, aux_action, sig_data, config3,
    } not in kernel: config4));
    kernel.has_fields("perf_event_header", "", 0, &fields!(Header { kind = "type", misc, size }));
    kernel.has_fields("perf_branch_entry", "", 0, &fields!(BranchEntry { from, to, info = "mispred" }));
    kernel.has_fields("perf_ns_link_info", "", 0, &fields!(NamespaceLink { dev, inode = "ino" }));
    kernel.has_fields("perf_event_query_bpf", "", 0, &fields!(PerfEventQueryBpf { ids_len, prog_cnt }));
    kernel.has_fields("perf_event_mmap_page", "", 0, &fields!(MmapPage {
        version, compat_version, lock, index, offset, time_enabled, time_running, capabilities, pmc_width,
        time_shift, time_mult, time_offset, time_zero, size, reserved_1 = "__reserved_1", time_cycles, time_mask,
        reserved = "__reserved", data_head, data_tail, data_offset, data_size, aux_head, aux_tail, aux_offset,
        aux_size,
    }));
}

#[test]
fn structs_have_the_kernels_length() {
    let kernel = Kernel::load();
    assert_eq!(kernel.size("perf_event_attr"), Attr::SIZE_VER8 as usize);
    assert_eq!(kernel.size("perf_event_header"), size_of::<Header>());
    assert_eq!(kernel.size("perf_branch_entry"), size_of::<BranchEntry>());
    assert_eq!(kernel.size("perf_event_mmap_page"), size_of::<MmapPage>());
    assert_eq!(kernel.size("perf_ns_link_info"), size_of::<NamespaceLink>());
    assert_eq!(kernel.size("perf_event_query_bpf"), size_of::<PerfEventQueryBpf>());
    assert_eq!(kernel.size("perf_mem_data_src"), size_of::<DataSource>());
    assert_eq!(kernel.size("perf_sample_weight"), size_of::<Weight>());
}

#[test]
fn parts_of_a_weight_have_the_kernels_offsets() {
    let kernel = Kernel::load();
    for (part, mask) in [("var1_dw", 0xffff_ffff), ("var2_w", 0xffff << 32), ("var3_w", 0xffff << 48)] {
        let weight = Weight(mask);
        let parts = [u64::from(weight.var1()), weight.var2().into(), weight.var3().into()];
        assert_eq!(parts.iter().filter(|&&part| part != 0).count(), 1, "{part}");
        let (offset, size) = (mask.trailing_zeros() / 8, mask.count_ones() / 8);
        kernel.has_fields("perf_sample_weight", "", 0, &[(part, offset as usize, size as usize)]);
    }
}

#[test]
fn constants_have_the_kernels_values() {
    let (kernel, ours) = (Kernel::load(), constants());
    let mut count = 0;
    let mut unknown = Vec::new();
    for (c_enum, values) in kernel.0["enums"].as_object().unwrap() {
        for (name, value) in values.as_object().unwrap() {
            match ours.get(name.as_str()) {
                Some(&known) => assert_eq!(value.as_u64().map(i128::from), Some(known), "{name}"),
                None if is_left_out(c_enum, name) => continue,
                None => unknown.push(name),
            }
            count += 1;
        }
    }
    assert!(unknown.is_empty(), "not declared: {unknown:?}");
    println!("{count} constants compared");
}

/// Returns whether a name is a count or a shift, or belongs to BPF beside tracing.
fn is_left_out(c_enum: &str, name: &str) -> bool {
    let bookkeeping = name.ends_with("_MAX") || name.starts_with("__MAX_") || name.ends_with("_ABORT_SHIFT");
    let other_bpf = c_enum.starts_with("bpf_") || c_enum.contains("BPF_");
    bookkeeping || (other_bpf && c_enum != "bpf_perf_event_type")
}
